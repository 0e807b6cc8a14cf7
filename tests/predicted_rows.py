"""What validation predicts, kept to be compared: `python tests/predicted_rows.py --write`.

`predicted_rows.json` has how many published numbers are of each kind, and the relative error of
each predicted one in a coarse pass, whose seeds are fixed. A change that moves them renews it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from sample_reproductions import made

from ddsim.reproduce import reproduce
from ddsim.reproduce.summary import by_kind, predictions

FILE = Path(__file__).with_suffix(".json")


def kept() -> dict[str, Any]:
    """What is in the file."""
    read: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return read


def kinds() -> dict[str, int]:
    """How many published numbers are of each kind."""
    return {of.kind: of.numbers for of in by_kind(made())}


def errors() -> dict[str, float]:
    """The relative error of each predicted number in a coarse pass."""
    names = dict.fromkeys(name for name, _ in predictions(made()).rows)
    return {
        f"{name}: {row.quantity}, {row.cell}": round(row.relative_error or 0.0, 4)
        for name, row in predictions(reproduce(names, quick=True)).rows
    }


if __name__ == "__main__":
    text = json.dumps({"kinds": kinds(), "errors": errors()}, indent=1) + "\n"
    if "--write" in sys.argv:
        FILE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
