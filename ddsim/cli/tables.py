"""Tables on stdout: framed in a terminal that is wide enough, plain and whole anywhere else."""

import sys
from collections.abc import Iterator, Sequence
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
    if sys.stdout.isatty():
        from rich.console import Console

        console = Console(markup=False, emoji=False, highlight=False)
        framed = _framed(header, rows, left)
        whole = console.measure(framed, options=console.options.update(width=_WIDE))
        if whole.maximum <= console.width:
            console.print(framed)
            return
    click.echo("\n".join(_plain(header, rows, left)))


def _plain(header: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    """The lines, columns two spaces apart."""
    from rich.cells import cell_len  # letters of some scripts take two places

    lines = [header, *rows]
    widths = [max(cell_len(line[place]) for line in lines) for place in range(len(header))]
    for line in lines:
        padded = []
        for place, (text, width) in enumerate(zip(line, widths, strict=True)):
            space = " " * (width - cell_len(text))
            padded.append(text + space if place < left else space + text)
        yield "  ".join(padded).rstrip()


def _framed(header: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for index, heading in enumerate(header):
        table.add_column(heading, justify="left" if index < left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table
