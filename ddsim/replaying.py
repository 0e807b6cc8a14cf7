"""Training on a schedule that was recorded: the engine stays out of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import ddsim
from ddsim import loading
from ddsim.learning import LearningError
from ddsim.learning.errors import TapeError
from ddsim.progress import Progress, of_training
from ddsim.results import MethodResult, Results
from ddsim.results.files import TAPE
from ddsim.results.learning import learned, mean_learning
from ddsim.training import train

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

Changes = Mapping[str, object] | Sequence[str]
"""Scenario paths and their values, or options as `--set` takes them."""

MAY_CHANGE = ("learning", "python")


def replay(
    results: Results | str | os.PathLike[str],
    changes: Changes = (),
    methods: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Results:
    """Train on the tapes that a run kept, and return its results with what came of that.

    `results` are those of `run(..., tape=True)`, or the folder in which they were saved. `changes`
    are scenario paths as `load` takes them, under `learning` (and `python`, for a problem in a file
    of its own): what the schedule depends on stands. Without changes the curves are those of
    the run, to the last bit. `methods` are those that have a tape unless named. `progress` is as
    for `run`. Raises ReplayError where there is no tape, or a change is not for learning alone.
    """
    return planned(results, changes, methods).carry_out(progress)


@dataclass(frozen=True)
class Replaying:
    """Trainings that are yet to come: of `scenario`, along the tapes of the `chosen` results."""

    results: Results | str | os.PathLike[str]
    recorded: Results
    scenario: Scenario
    chosen: Sequence[MethodResult]

    def carry_out(self, progress: Progress | None = None) -> Results:
        """Train, and return the recorded results with what came of it."""
        scenario = self.scenario
        done: list[MethodResult] = []
        total = len(self.chosen)
        for item in self.chosen:
            settled = scenario.for_method(item.method)
            parts = []
            for recording in item.tapes:
                tell = of_training(progress, len(done), total, item.method)
                with _laid_to(self.results):
                    parts.append(learned(train(settled, item.method, recording, tell)))
            learning = parts[0] if len(parts) == 1 else mean_learning(parts)
            done.append(replace(item, learning=learning))
            if progress is not None:
                progress(len(done), total, item.method)
        return replace(
            self.recorded, results=done, version=ddsim.__version__, resolved=scenario.resolved()
        )


def planned(
    results: Results | str | os.PathLike[str],
    changes: Changes = (),
    methods: Sequence[str] | None = None,
) -> Replaying:
    """Return what `replay` is to train, before it does; the same errors."""
    scenario, recorded = _recorded(results, changes)
    chosen = _chosen(recorded, methods)
    return Replaying(results, recorded, scenario.choose([item.method for item in chosen]), chosen)


@contextmanager
def _laid_to(results: Results | str | os.PathLike[str]) -> Iterator[None]:
    """Say of a saved tape that it is at fault where it tells what cannot have been."""
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        mistaken = isinstance(error, LearningError) and not isinstance(error, TapeError)
        if mistaken or isinstance(results, Results):
            raise
        what = f"{Path(results) / TAPE}: no schedule to train on"
        raise ReplayError(f"{what} ({type(error).__name__}: {error})") from error


class ReplayError(LearningError):
    """Nothing can be replayed: no tape, no learning section, or a change of the schedule itself."""


def learning_of(path_or_name: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the changes that give a replay the learning section of another scenario."""
    from ruamel.yaml import YAML

    other = loading.load(path_or_name)
    tree = YAML(typ="safe").load(other.resolved())
    files = [str(file.resolve()) for file in other.document.python_files()]
    if "learning" not in tree:
        raise ReplayError(f"{path_or_name}: no learning section")
    found = {"learning": tree["learning"]} | ({"python": files} if files else {})
    return tuple(f"{path}={json.dumps(value)}" for path, value in found.items())


def _recorded(
    results: Results | str | os.PathLike[str], changes: Changes
) -> tuple[Scenario, Results]:
    """Return the scenario of a run with changes of what is learnt, and the run's results."""
    for path in _paths(changes):
        if path.split(".")[0] not in MAY_CHANGE:
            raise ReplayError(
                f"{path}: not for a replay to change: the schedule is the recorded one; "
                "only what stands under learning (and python)"
            )
    if isinstance(results, Results):
        if not results.resolved:
            raise ReplayError("these results do not say of which scenario they are")
        recorded, where = results, "these results"
        read: Callable[[Changes], Scenario] = partial(loading.load_text, results.resolved)
    else:
        folder = Path(results)
        try:
            recorded, where = Results.load(folder), str(folder)
        except (FileNotFoundError, ValueError) as error:
            raise ReplayError(str(error)) from error
        read = partial(loading.load, folder / "scenario.yaml")
    try:
        kept = [item.method for item in recorded.results if item.tapes]
    except ValueError as error:  # a file that is not a tape, or a part of one
        raise ReplayError(str(error)) from error
    if not kept:
        raise ReplayError(
            f"{where}: no tape ({TAPE}): merges were summed up or counted as they came, and cannot "
            "be told apart; run it again with `ddsim run ... --out DIR --tape`, or tape=True"
        )
    scenario = _of_these(kept, read, changes)
    if scenario.learning.problem is None:
        raise ReplayError(
            f"{where}: nothing to train: the run had no learning section; "
            "give one, e.g. learning.problem=language_model"
        )
    return scenario, recorded


def _of_these(
    names: Sequence[str], read: Callable[[Changes], Scenario], changes: Changes
) -> Scenario:
    """Return the changed scenario of these methods alone: no other may stand beside learning."""
    specs = read(()).choose(names).methods
    methods = [{spec.name: spec.settings} if spec.settings else spec.name for spec in specs]
    if isinstance(changes, Mapping):
        return read({**changes, "methods": methods})
    changes = [changes] if isinstance(changes, str) else changes
    return read([*changes, f"methods={json.dumps(methods)}"])


def _paths(changes: Changes) -> list[str]:
    if isinstance(changes, str):
        changes = [changes]
    return [str(change).partition("=")[0].strip() for change in changes]


def _chosen(recorded: Results, names: Sequence[str] | None) -> list[MethodResult]:
    """Return the results to be trained on; those named are there and have a tape."""
    with_tape = {item.method: item for item in recorded.results if item.tapes}
    for name in names or ():
        if name not in with_tape:
            found = "kept no tape" if name in recorded.methods else "was not run"
            raise ReplayError(f"method {name} {found}; there are tapes of {', '.join(with_tape)}")
    return [item for name, item in with_tape.items() if names is None or name in names]
