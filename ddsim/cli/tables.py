"""Tables on stdout: framed in a terminal that is wide enough, plain and whole anywhere else."""

import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.table import Table

_WIDE = 10_000  # no line of a table is longer


def show(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """Print a table: the first `left` columns to the left, the others to the right.

    Outside a terminal, or in one that is too narrow for a whole line, there is no frame, no colour
    and no line break.
    """
    from rich.console import Console

    if sys.stdout.isatty():
        console = Console(markup=False, emoji=False, highlight=False)
        framed = _table(header, rows, left, framed=True)
        whole = console.measure(framed, options=console.options.update(width=_WIDE))
        if whole.maximum <= console.width:
            console.print(framed)
            return
    text = io.StringIO()
    console = Console(file=text, width=_WIDE, markup=False, emoji=False, highlight=False)
    console.print(_table(header, rows, left, framed=False))
    click.echo("\n".join(line.rstrip() for line in text.getvalue().splitlines()))


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], left: int, *, framed: bool
) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD if framed else None,
        pad_edge=False,
        padding=(0, 1 if framed else 2, 0, 0),
        header_style="bold",
    )
    for index, heading in enumerate(header):
        table.add_column(heading, justify="left" if index < left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table
