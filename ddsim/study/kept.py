"""What was made of a finished study's rows, kept beside them so that it is not made again.

`tables.json` says of which rows it was made; where those are others, or where it cannot be read, it
counts as not there.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddsim import sources
from ddsim.study.measures import Measured
from ddsim.study.store import CELLS, read_cells
from ddsim.study.tables import Table

if TYPE_CHECKING:
    from ddsim.study.work import Row

FILE = "tables.json"


@dataclass(frozen=True)
class Kept:
    """The tables but the replications', and the study's metric of each cell.

    `asked` is the hash of what was asked; `count` is how many cells are done.
    """

    asked: str
    count: int
    tables: Mapping[str, Table]
    measured: Mapping[int, Measured]

    def text(self, folder: Path) -> str:
        """The content of the file, for the rows that are in a folder now."""
        content = {
            "rows": _hash_of_rows(folder),
            "source": sources.digest(),
            "asked": self.asked,
            "count": self.count,
            "tables": {name: [table.columns, table.rows] for name, table in self.tables.items()},
            "measured": {index: asdict(it) for index, it in self.measured.items()},
        }
        return json.dumps(content, ensure_ascii=False) + "\n"


def read(folder: Path) -> Kept | None:
    """What is kept of the rows that are in a folder; None without, or of other rows."""
    try:
        content = json.loads((folder / FILE).read_bytes())
        if content["rows"] != _hash_of_rows(folder) or content["source"] != sources.digest():
            return None
        return Kept(
            content["asked"],
            content["count"],
            {name: Table(*parts) for name, parts in content["tables"].items()},
            {int(index): Measured(**it) for index, it in content["measured"].items()},
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


class LazyRows(Mapping[int, "Sequence[Row]"]):
    """The rows of the cells of a folder, read when the first is asked for."""

    def __init__(self, folder: Path, indices: Sequence[int]) -> None:
        self._folder, self._indices = folder, dict.fromkeys(indices)

    @cached_property
    def _rows(self) -> dict[int, list[Row]]:
        return read_cells(self._folder)

    def __getitem__(self, index: int) -> Sequence[Row]:
        """The rows of a cell."""
        if index not in self._indices:
            raise KeyError(index)
        return self._rows[index]

    def __contains__(self, index: object) -> bool:
        """Whether a cell is done, which its file's name says."""
        return index in self._indices

    def __iter__(self) -> Iterator[int]:
        """The cells that are done."""
        return iter(self._indices)

    def __len__(self) -> int:
        """How many are done."""
        return len(self._indices)


def asked_of(question: Mapping[str, Any], resolved: str) -> str:
    """The hash of what a study asks."""
    text = json.dumps([question, resolved], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _hash_of_rows(folder: Path) -> str:
    found = hashlib.sha256()
    names = sorted(name for name in os.listdir(folder / CELLS) if name.endswith(".csv"))
    for name in names:
        found.update(name.encode() + b"\n" + (folder / CELLS / name).read_bytes())
    return found.hexdigest()
