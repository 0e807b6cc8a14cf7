"""docs/performance.md: its tables are what the benchmarks find, the words between them stay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


class Row(NamedTuple):
    """One figure: to which table it belongs, what was measured, what was found and wanted."""

    part: str
    case: str
    found: str
    target: str


def page(rows: Sequence[Row], before: str) -> str:
    """Return the page with each table that was measured in place of the one before."""
    after = before
    for part in dict.fromkeys(row.part for row in rows):
        begin, end = f"<!-- {part} -->", f"<!-- end of {part} -->"
        head, found, rest = after.partition(begin)
        _, ended, tail = rest.partition(end)
        if not (found and ended):
            raise ValueError(f"docs/performance.md has no place for {part}")
        lines = [begin, "| case | found | wanted |", "| --- | --- | --- |"]
        lines += [
            f"| {row.case} | {row.found} | {row.target} |" for row in rows if row.part == part
        ]
        after = head + "\n".join([*lines, end]) + tail
    return after
