"""Tables on stdout, no wider than it: headings and prose folded, columns below one another.

No number and no name is cut. In a terminal a rule stands below the headings; where stdout has no
width (COLUMNS, or a terminal's), every row is one line.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import click

from ddsim.cli.folding import fold, fold_to, pieces, width_of

_GAP = 2
_WHOLE = 10_000
"""Columns of a stream that nobody looks at: no line of a table is longer."""
_PROSE = 24
"""To how few characters cells of text are folded before columns go below others."""
_BREAKS = re.compile(r"(?<=[_./])(?=\w{3})")
_JOINT = "\u200b"  # a place at which a heading may be folded without a blank


@dataclass(frozen=True)
class _Column:
    """A column: its heading and its cells, each as lines."""

    heading: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    is_text: bool

    @property
    def widest_cell(self) -> int:
        return max((_places(line) for lines in self.cells for line in lines), default=0)

    @property
    def width(self) -> int:
        return max(self.widest_cell, *map(_places, self.heading))

    def folded(self, width: int) -> "_Column":
        """The column with its cells folded to a width, where their words let them."""
        cells = tuple(tuple(pieces(" ".join(cell), width)) for cell in self.cells)
        return replace(self, cells=cells)


def tell(text: str, *, bold: bool = False) -> None:
    """Print a sentence to stdout, folded to its width."""
    click.secho(fold(text, sys.stdout), bold=bold or None)


def show(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """Print a table: the first `left` columns to the left, the others to the right.

    Where it is wider than stdout, headings are folded, then long text; then columns go into tables
    of their own below, each behind the first `left`. Where not even one fits behind these, every
    row is a paragraph.
    """
    width = width_of(sys.stdout) or _WHOLE
    columns = [
        _Column((heading,), tuple((row[at],) for row in rows), at < left)
        for at, heading in enumerate(header)
    ]
    parts = _fitted(columns, left, width)
    if parts is None:
        click.echo("\n\n".join(_paragraphs(header, rows, width)))
        return
    for number, part in enumerate(parts):
        if number:
            click.echo()
        _print(part)


def _places(text: str) -> int:
    """How many columns a text takes: letters of some scripts take two."""
    from rich.cells import cell_len

    return cell_len(text)


def _total(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + _GAP * (len(columns) - 1)


def _fitted(columns: list[_Column], left: int, width: int) -> list[list[_Column]] | None:
    """The columns as one table that fits, or as several; None where neither does."""
    if _total(columns) <= width:
        return [columns]
    folded = [_with_folded_heading(column) for column in columns]
    whole = _shrunk(folded, width, _PROSE)
    if whole is not None:
        return [_unfolded(whole, columns, width)]
    widest = max((column.width + _GAP for column in folded[left:]), default=0)
    keys = _shrunk(folded[:left], width - widest, 1)
    if keys is None:
        return None
    if not widest:
        return [keys]
    found = []
    for numbers in _side_by_side(folded[left:], _total(keys), width):
        shown = [left + at for at in numbers]
        wholes = [*columns[:left], *(columns[at] for at in shown)]
        found.append(_unfolded([*keys, *(folded[at] for at in shown)], wholes, width))
    return found


def _side_by_side(columns: Sequence[_Column], taken: int, width: int) -> list[list[int]]:
    """Which columns go into one table: as few tables as can be, and these alike in width."""
    found: list[list[int]] = []
    for limit in range(width, taken, -1):
        tables: list[list[int]] = []
        total = width
        for at, column in enumerate(columns):
            total += _GAP + column.width
            if total > limit:
                tables.append([])
                total = taken + _GAP + column.width
            tables[-1].append(at)
            if total > limit:
                return found
        if found and len(tables) > len(found):
            return found
        found = tables
    return found


def _with_folded_heading(column: _Column) -> _Column:
    """The column with a heading no wider than its cells, where the heading's words let it."""
    words = [part for word in column.heading[0].split() for part in _BREAKS.split(word)]
    return _with_heading(column, max(column.widest_cell, *map(_places, words), 1))


def _with_heading(column: _Column, width: int) -> _Column:
    """The column with its heading folded to a width."""
    marked = _BREAKS.sub(f"{_JOINT} ", column.heading[0])
    lines = pieces(marked, width)
    return replace(column, heading=tuple(re.sub(f"{_JOINT} ?", "", line) for line in lines))


def _unfolded(folded: Sequence[_Column], columns: Sequence[_Column], width: int) -> list[_Column]:
    """The columns, their headings in two lines and then in one, where there is room for that."""
    found = list(folded)
    for lines in (2, 1):
        for at, column in enumerate(columns):
            wider = _in_lines(column, lines, folded[at].width)
            other = [*found[:at], replace(found[at], heading=wider), *found[at + 1 :]]
            if len(wider) < len(found[at].heading) and _total(other) <= width:
                found = other
    return found


def _in_lines(column: _Column, lines: int, width: int) -> tuple[str, ...]:
    """The heading in so many lines at most, as narrow as they let it be."""
    while len(heading := _with_heading(column, width).heading) > lines:
        width += 1
    return heading


def _shrunk(columns: Sequence[_Column], width: int, least: int) -> list[_Column] | None:
    """The columns with text folded, no narrower than `least`, so far that they fit; else None."""
    for cap in range(max((column.width for column in columns), default=0), least - 1, -1):
        found = [
            column.folded(cap) if column.is_text and column.widest_cell > cap else column
            for column in columns
        ]
        if _total(found) <= width:
            return found
    return None


def _print(columns: Sequence[_Column]) -> None:
    """Draw a table: with a rule below the headings in a terminal, plain anywhere else."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    framed = sys.stdout.isatty()
    table = Table(
        box=SIMPLE_HEAD if framed else None,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1 if framed else _GAP, 0, 0),
        header_style="bold",
    )
    tallest = max(len(column.heading) for column in columns)
    for column in columns:
        lines = [""] * (tallest - len(column.heading)) + list(column.heading)
        table.add_column(
            "\n".join(lines), justify="left" if column.is_text else "right", no_wrap=True
        )
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*("\n".join(lines) for lines in cells))
    console = Console(markup=False, emoji=False, highlight=False, width=_total(columns) + _GAP)
    if framed:
        console.print(table)
        return
    with console.capture() as drawn:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in drawn.get().splitlines()))


def _paragraphs(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Every row as lines of a heading and a cell each."""
    for row in rows:
        lines = [
            f"{name}: {cell}" if name else cell for name, cell in zip(header, row, strict=True)
        ]
        yield "\n".join(fold_to(line, width) for line in lines)
