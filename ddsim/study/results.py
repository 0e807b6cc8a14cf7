"""A study's results: the rows of every cell, and the tables that are made from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddsim.study import first, kept, reruns, store, tables
from ddsim.study.errors import StudyError
from ddsim.study.gathered import Gathered
from ddsim.study.grid import CellName
from ddsim.study.kept import Kept, LazyRows
from ddsim.study.measures import Measured
from ddsim.study.rules import Rule
from ddsim.world.chance import Chance

if TYPE_CHECKING:
    from pandas import DataFrame

    from ddsim.study.tables import Table
    from ddsim.study.work import Row


class Tables(Mapping[str, "Table"]):
    """The tables of a study that have rows, by name, each made when it is first asked for."""

    def __init__(self, study: Gathered, kept: Mapping[str, Table]) -> None:
        self._study = study
        self._made: dict[str, Table] = dict(kept)

    def __getitem__(self, name: str) -> Table:
        """The table of that name; KeyError where the study has none."""
        if name not in self._made:
            self._made[name] = _MAKERS[name](self._study).resampled()
        if not self._made[name].rows:
            raise KeyError(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """The names of those that there are."""
        return (name for name in _MAKERS if name in self)

    def __len__(self) -> int:
        """How many there are."""
        return sum(1 for _ in self)


_MAKERS: Mapping[str, Callable[[Gathered], Table]] = {
    "cells": tables.cells,
    "differences": tables.differences,
    "first": first.first,
    "losses": tables.losses,
    "why": reruns.why,
    "tornado": reruns.tornado,
    "replications": tables.replications,
}
KEPT = tuple(name for name in _MAKERS if name != "replications")
"""Tables that are small, and worth keeping."""


@dataclass(frozen=True)
class Study(Gathered):
    """What `sweep` returns. The tables are pandas DataFrames, a row a line of what they say.

    `kept` is what was made of these rows before.
    """

    kept: Kept | None = field(default=None, compare=False, repr=False)

    @classmethod
    def load(cls, folder: str | Path, found: Kept | None = None) -> Study:
        """Read a study, finished or not, from its folder.

        `found` is what is kept there, where that was read already. Raises StudyError when it is
        none, or of another format.
        """
        where = Path(folder)
        manifest = store.read_manifest(where)
        resolved, given = store.read_scenario(where), store.read_scenario(where, store.GIVEN)
        found = kept.read(where) if found is None else found
        try:
            rows: Mapping[int, Sequence[Row]]
            if found is not None and found.count == len(manifest["cells"]):
                rows = LazyRows(where, range(found.count))
                return replace(cls.of(manifest, rows, resolved, where, given), kept=found)
            return cls.of(manifest, store.read_cells(where), resolved, where, given)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            path = where / store.MANIFEST
            raise StudyError(f"{path}: not the manifest of a study ({error})") from error

    @classmethod
    def of(
        cls,
        manifest: Mapping[str, Any],
        rows: Mapping[int, Sequence[Row]],
        resolved: str,
        folder: Path | None,
        given: str = "",
    ) -> Study:
        """The study that a manifest and the rows of its cells make."""
        cells = tuple(
            CellName(index, cell["method"], cell["settings"], chance=Chance.read(cell["expected"]))
            for index, cell in enumerate(manifest["cells"])
        )
        return cls(
            scenario=manifest["scenario"],
            seed=manifest["seed"],
            version=manifest["version"],
            metric=manifest["rule"]["metric"],
            columns=tuple(dict.fromkeys(axis["name"] for axis in manifest["axes"])),
            cells=cells,
            rows=rows if len(rows) == len(cells) else _of_cells(rows, cells),
            left_out=tuple((item[0], item[1]) for item in manifest["left_out"]),
            rule=manifest["rule"],
            resolved=resolved,
            folder=folder,
            given=given,
        )

    @property
    def too_wide(self) -> int:
        """How many cells are done and wider than the half-width that was asked for."""
        rule = Rule(**self.rule) if self.rule else Rule()
        if rule.half_width is None:
            return 0
        known = [found for found in self.measured.values() if found.enough]
        return sum(found.half_width > rule.target(found.value) for found in known)

    @property
    def without_interval(self) -> int:
        """How many cells have the metric in several histories that give no interval."""
        return sum(found.n > 1 and not found.enough for found in self.measured.values())

    @cached_property
    def measured(self) -> dict[int, Measured]:
        """The study's metric of each cell that is done and has it, by the cell's index."""
        return self.measured_as(self.metric) if self.kept is None else dict(self.kept.measured)

    @cached_property
    def _tables(self) -> Tables:
        return Tables(self, {} if self.kept is None else self.kept.tables)

    def tables(self) -> Mapping[str, Table]:
        """Every table that the study has, by name, as columns and rows; each made when asked for.

        `replications` stands last.
        """
        return self._tables

    def replications(self) -> DataFrame:
        """A row a replication: what varied, the method, all metrics, accounts as shares."""
        return self._frame("replications")

    def summary(self) -> DataFrame:
        """A row a cell: means, and the intervals of goodput and of the study's metric."""
        return self._frame("cells")

    def differences(self) -> DataFrame:
        """A row a pair of methods at the same settings: paired differences of the metric."""
        return self._frame("differences")

    def first(self) -> DataFrame:
        """A row a setting: which method comes to the target first; empty for other metrics."""
        return self._frame("first")

    def why(self) -> DataFrame:
        """A row a cause: goodput with it, without it, and the gain; empty unless asked for."""
        return self._frame("why")

    def losses(self) -> DataFrame:
        """A row an account: where the chip-time of each cell went, ranked."""
        return self._frame("losses")

    def tornado(self) -> DataFrame:
        """A row an uncertain input: the metric at its 5% and 95% quantiles, widest swing first."""
        return self._frame("tornado")

    def _frame(self, name: str) -> DataFrame:
        import pandas as pd

        table = self.tables().get(name)
        if table is None:
            return pd.DataFrame()
        return pd.DataFrame(table.rows, columns=table.columns)

    def _repr_html_(self) -> str:
        frame = self.summary()
        chosen = [*self.columns, "method", "replications", *tables.interval_columns(self.metric)]
        chosen = [name for name in chosen if name in frame]
        return str(frame[chosen].to_html(index=False, na_rep="", float_format="{:.4g}".format))


def _of_cells(
    rows: Mapping[int, Sequence[Row]], cells: Sequence[CellName]
) -> dict[int, Sequence[Row]]:
    """The rows of these cells: a folder may hold others."""
    return {cell.index: rows[cell.index] for cell in cells if cell.index in rows}
