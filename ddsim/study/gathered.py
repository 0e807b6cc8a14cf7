"""What a study has gathered: its cells, and the rows of those that are done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddsim.study.measures import Measured, measured

if TYPE_CHECKING:
    from ddsim.study.grid import CellName
    from ddsim.study.work import Row


@dataclass(frozen=True)
class Gathered:
    """The rows of a study, and what was asked.

    `cells` in their order, `rows` the replications of those that are done; `columns` are the names
    of what varied; `left_out` are combinations that no scenario can be, and why. `rule` says how
    many replications a cell got; `resolved` is the scenario with everything filled in, as YAML, and
    `given` as it was written.
    """

    scenario: str
    seed: int
    version: str
    metric: str
    columns: tuple[str, ...]
    cells: tuple[CellName, ...]
    rows: Mapping[int, Sequence[Row]]
    left_out: tuple[tuple[str, str], ...] = ()
    rule: Mapping[str, Any] = field(default_factory=dict)
    resolved: str = ""
    given: str = ""
    folder: Path | None = None

    @property
    def done(self) -> tuple[CellName, ...]:
        """The cells that are done, in order."""
        return tuple(cell for cell in self.cells if cell.index in self.rows)

    @cached_property
    def measured(self) -> dict[int, Measured]:
        """The study's metric of each cell that is done and has it, by the cell's index."""
        return self.measured_as(self.metric)

    def measured_as(self, metric: str) -> dict[int, Measured]:
        """Any metric of each cell that is done and has it, by the cell's index."""
        found = (
            (cell.index, measured(self.rows[cell.index], metric, cell.chance)) for cell in self.done
        )
        return {index: it for index, it in found if it is not None}
