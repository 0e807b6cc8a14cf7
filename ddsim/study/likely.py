"""What usually matters for each method, around the values that a scenario gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.scenario.recovery import Interval, Saves
from ddsim.study.errors import StudyError
from ddsim.study.grid import Axis, Level

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

_BY_METHOD = {
    "data_parallel": ("restart.spares", "checkpoint.interval"),
    "elastic_data_parallel": ("checkpoint.interval",),
    "diloco": ("training.inner_steps",),
    "streaming_diloco": ("training.inner_steps", "training.overlap_steps"),
    "decoupled_diloco": (
        "training.inner_steps",
        "training.overlap_steps",
        "training.quorum",
    ),
}


def likely_axes(scenario: Scenario) -> tuple[Axis, ...]:
    """Axes for each of the scenario's methods; StudyError where nothing is known to matter."""
    axes = []
    for spec in scenario.methods:
        settled = scenario.for_method(spec.name)
        for path in _BY_METHOD.get(spec.name, ()):
            values = _values(settled, path)
            if len(values) > 1:
                levels = tuple(Level(value, {path: value}) for value in values)
                axes.append(Axis(path, levels, spec.name))
    if not axes:
        raise StudyError(
            "nothing may vary; say what with --vary PATH=V1,V2, or in the scenario's study"
        )
    return tuple(axes)


def _values(scenario: Scenario, path: str) -> list[str | int]:
    """Values below and above the scenario's own, and that itself."""
    training = scenario.training
    found: list[str | int] = []
    if path == "restart.spares":
        own = scenario.restart.spares
        found = [0, own // 2, own, 2 * own] if own else [0, 1, 2, 4]
    elif path == "training.inner_steps":
        found = [max(1, training.inner_steps // 2), training.inner_steps, 2 * training.inner_steps]
    elif path == "training.overlap_steps":
        found = [1, training.overlap_steps, 2 * training.overlap_steps]
    elif path == "training.quorum":
        learners = len(scenario.units())
        found = sorted({1, training.quorum, -(-learners // 2), learners})
    elif path == "checkpoint.interval" and scenario.checkpoint.policy == "fixed":
        found = _intervals(scenario.checkpoint.interval)
    return sorted(set(found), key=found.index)


def _intervals(own: Interval | None) -> list[str | int]:
    if own is None:
        return []
    if own.steps is not None:
        around = [Interval(steps=max(1, own.steps // 2)), own, Interval(steps=2 * own.steps)]
    else:
        seconds = own.seconds or 0.0
        around = [Interval(seconds=seconds * factor) for factor in (0.5, 1.0, 2.0)]
    return [Saves().write(item) for item in around]
