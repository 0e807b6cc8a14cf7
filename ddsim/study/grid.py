"""The cells of a study: every combination of what varies, for every method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from ddsim import methods
from ddsim.scenario import Problem, ScenarioError
from ddsim.world.chance import Chance
from ddsim.world.expected import chance_of

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

Label = str | int | float | bool
BASE = ""
"""Label of what is as the scenario says."""
WITHOUT, INPUT = "without", "input"
SPECIAL = (WITHOUT, INPUT)
"""Columns of the reruns that say why, and what matters most."""


@dataclass(frozen=True)
class Level:
    """One value of an axis: as tables show it, and the overrides that bring it about."""

    label: Label
    overrides: Mapping[str, object]


@dataclass(frozen=True)
class Axis:
    """What varies, by its name in tables; for one `method` alone where that is given."""

    name: str
    levels: tuple[Level, ...]
    method: str | None = None

    @property
    def paths(self) -> set[str]:
        """The paths that its values set."""
        return {path for level in self.levels for path in level.overrides}


@dataclass(frozen=True)
class CellName:
    """One method at one setting of everything that varies.

    `settings` give the label of each axis that concerns the cell; `chance` says what is expected
    to befall one of its histories.
    """

    index: int
    method: str
    settings: Mapping[str, Label]
    chance: Chance = field(default_factory=Chance, kw_only=True)

    @property
    def words(self) -> str:
        """The cell in words: `diloco, training.quorum=2`."""
        shown = [f"{name}={label}" for name, label in self.settings.items() if label != BASE]
        return ", ".join([self.method, *shown])

    @property
    def is_base(self) -> bool:
        """Whether it is no rerun that says why, or what matters."""
        return all(self.settings.get(name, BASE) == BASE for name in SPECIAL)

    def but(self, *names: str) -> dict[str, Label]:
        """The settings without these."""
        return {name: label for name, label in self.settings.items() if name not in names}


@dataclass(frozen=True)
class Cell(CellName):
    """A cell with its scenario, which is settled for its method."""

    scenario: Scenario = field(compare=False, repr=False)


def cell_of(index: int, method: str, settings: Mapping[str, Label], scenario: Scenario) -> Cell:
    """The cell of a scenario that is settled for its method."""
    return Cell(index, method, settings, scenario, chance=chance_of(scenario))


@dataclass(frozen=True)
class Grid:
    """All cells in their order; `left_out` are combinations that no scenario can be, and why."""

    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of what varies, each once."""
        return tuple(dict.fromkeys(axis.name for axis in self.axes))

    def document(self) -> dict[str, Any]:
        """The axes and the cells as plain data: what makes two grids the same question."""
        cells = [
            {
                "method": cell.method,
                "settings": dict(cell.settings),
                "expected": cell.chance.written(),
            }
            for cell in self.cells
        ]
        return {"axes": self._axes(), "cells": cells, "left_out": [list(i) for i in self.left_out]}

    def _axes(self) -> list[dict[str, Any]]:
        return [
            {
                "name": axis.name,
                "method": axis.method,
                "levels": [
                    {"label": level.label, "set": {k: str(v) for k, v in level.overrides.items()}}
                    for level in axis.levels
                ],
            }
            for axis in self.axes
        ]


def build(scenario: Scenario, axes: Sequence[Axis]) -> Grid:
    """Lay the grid out: axes in order, methods in the registry's within each combination.

    A value that no combination can have is an error, ScenarioError with what is wrong with it;
    a combination that cannot be, of values that others can have, is left out.
    """
    wanted = {spec.name for spec in scenario.methods}
    names = [name for name in methods.names() if name in wanted]
    shared = [axis for axis in axes if axis.method is None]
    cells: list[Cell] = []
    left_out: list[tuple[str, str]] = []
    faults: dict[tuple[str, Label], ScenarioError] = {}
    lived: set[tuple[str, Label]] = set()
    for levels in product(*(axis.levels for axis in shared)):
        for name in names:
            own = [axis for axis in axes if axis.method == name]
            for more in product(*(axis.levels for axis in own)):
                chosen = list(zip((*shared, *own), (*levels, *more), strict=True))
                settings = {axis.name: level.label for axis, level in chosen}
                try:
                    settled = _settled(scenario, name, [level for _, level in chosen])
                except ScenarioError as error:
                    for item in settings.items():
                        faults.setdefault(item, error)
                    left_out.append((CellName(0, name, settings).words, _first(error)))
                    continue
                lived.update(settings.items())
                cells.append(cell_of(len(cells), name, settings, settled))
    dead = [error for item, error in faults.items() if item not in lived]
    if dead:
        problems = dict.fromkeys(problem for error in dead for problem in error.problems)
        raise ScenarioError(_as_varied(problem) for problem in problems)
    return Grid(tuple(axes), tuple(cells), tuple(left_out))


def distinct(grid: Grid, reads: Callable[[str, Scenario, str], bool]) -> Grid:
    """The grid with one of the cells that differ in nothing that their method `reads`.

    That takes a method, its scenario and a path. Settings that are not read are left out.
    """
    paths: dict[str, set[str]] = {}
    for axis in grid.axes:
        paths.setdefault(axis.name, set()).update(axis.paths)
    found: dict[tuple[str, frozenset[tuple[str, Label]]], Cell] = {}
    for cell in grid.cells:
        settings = {
            name: label
            for name, label in cell.settings.items()
            if any(reads(cell.method, cell.scenario, path) for path in paths[name])
        }
        key = cell.method, frozenset(settings.items())
        found.setdefault(key, replace(cell, index=len(found), settings=settings))
    return Grid(grid.axes, tuple(found.values()), grid.left_out)


def variants(grid: Grid, column: str, levels_of: Callable[[Cell], Sequence[Level]]) -> Grid:
    """The grid with each base cell once more for every level, which a new column names.

    Levels that change nothing of a cell's scenario are left out there.
    """
    cells = [replace(cell, settings={**cell.settings, column: BASE}) for cell in grid.cells]
    found: dict[Label, Level] = {}
    for cell in [cell for cell in cells if cell.is_base]:
        for level in levels_of(cell):
            varied = cell.scenario.with_(level.overrides)
            if varied == cell.scenario and varied.uncertain == cell.scenario.uncertain:
                continue
            found.setdefault(level.label, level)
            settings = {**cell.settings, column: level.label}
            cells.append(cell_of(len(cells), cell.method, settings, varied))
    axis = Axis(column, (Level(BASE, {}), *found.values()))
    return Grid((*grid.axes, axis), tuple(cells), grid.left_out)


def _settled(scenario: Scenario, method: str, levels: Sequence[Level]) -> Scenario:
    overrides: dict[str, object] = {}
    for level in levels:
        overrides.update(level.overrides)
    return (scenario.with_(overrides) if overrides else scenario).for_method(method)


def _first(error: ScenarioError) -> str:
    problem = error.problems[0]
    return f"{problem.path}: {problem.found}; {problem.allowed}"


def _as_varied(problem: Problem) -> Problem:
    file = problem.file.replace("--set ", "--vary ", 1)
    return Problem(file, problem.line, problem.column, problem.path, problem.found, problem.allowed)
