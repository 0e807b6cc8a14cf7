"""Documents on stdout."""

import json
from typing import Any

import click


def print_json(document: Any) -> None:
    """Print one JSON document; raises ValueError for what JSON cannot say."""
    click.echo(json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False))
