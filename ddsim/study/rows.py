"""Rows and tables as CSV, and back."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from math import isfinite
from typing import Any

from ddsim.study.work import METRICS, Row


def rows_text(rows: Sequence[Row]) -> str:
    """Rows as CSV with a last line that says that it is whole."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return table_text(columns, [[row.get(name) for name in columns] for row in rows]) + "# end\n"


def rows_of(text: str) -> list[Row]:
    """The rows of such a text; none where it is not whole, or not of this ddsim's numbers."""
    if not text.endswith("\n# end\n"):
        return []
    try:
        header, *lines = list(csv.reader(io.StringIO(text[: -len("# end\n")])))
        rows = [
            {name: float(cell) if cell else None for name, cell in zip(header, line, strict=True)}
            for line in lines
        ]
    except (ValueError, csv.Error):
        return []
    return rows if set(METRICS) <= set(header) and all(map(_is_sound, rows)) else []


def _is_sound(row: Row) -> bool:
    """Whether a replication can have these numbers; a loss that diverged is none."""
    return all(
        value is None or isfinite(value) or name == "final_loss" for name, value in row.items()
    )


def table_text(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table as CSV: floats as short as they read back the same, nothing for what there is not."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
