"""Before something long begins: what it will take, and whether that is meant."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ddsim.cli.base import prints_aside, talk
from ddsim.cli.folding import fold
from ddsim.errors import InputError

if TYPE_CHECKING:
    from ddsim.forecast import Forecast
    from ddsim.scenario import Scenario

MINUTE, HOUR = 60.0, 3600.0
LONG_CELL = 300.0
NEAR = 6.0
"""How far below a minute, or above an hour, laws may say that something is, for its beginning to be
tried too: what is further off is answered at once."""
RATES = 5.0
"""Learning rates that a search for one tries, about."""
CURVE_STEP, CURVE_MEMORY = 2e-4, 2e8
"""Seconds for each step of a round that all curves of bandwidths take, and their bytes."""
GIGABYTE = 1e9
MANY_UNITS = 5_000
"""Learners from which on a scenario is looked at before its units are laid out one by one."""

yes = click.option(
    "--yes", is_flag=True, help="Begin, though it takes more than an hour or than the memory."
)


class TooMuchError(InputError):
    """Something would take longer than an hour, or more memory than there is."""


def agree(expected: "Forecast", *, of: str, less: str, given: bool) -> None:
    """Say what is expected where it is above a minute; above an hour or the memory, ask.

    `of` names the field that makes it so, `less` what would be less. `given` is consent by
    `--yes`. Raises TooMuchError where nobody can be asked, click.Abort where the answer is no.
    """
    memory = free_memory()
    endless = not isfinite(expected.seconds)
    long, large = endless or expected.seconds > HOUR, expected.memory > memory
    if not (long or large) and expected.seconds <= MINUTE:
        return
    said = f"{_words(expected)}; the reason: {of}"
    if not (long or large):
        talk().say(f"to be expected: {said}")
        return
    beyond = f"more memory than the {memory / GIGABYTE:.3g} GB that are free" if large else ""
    time = "longer than can be said" if endless else "more than an hour" if long else ""
    why = " and ".join(item for item in (time, beyond) if item)
    said = f"this takes {why}: {said}. {less}"
    if given:
        talk().say(said)
    elif sys.stdin.isatty() and sys.stderr.isatty():
        click.confirm(fold(f"{said}. Begin?", sys.stderr), abort=True, err=True)
    else:
        raise TooMuchError(f"{said}, or --yes to begin all the same")


def before_running(
    scenario: "Scenario", runs: float, jobs: int, *, given: bool, units: int | None = None
) -> None:
    """Ask for consent to so many replications of a scenario, should it be needed."""
    from ddsim.forecast import forecast

    with prints_aside():
        one = forecast(scenario, units)
        if _near(one.times(runs, jobs=jobs)):
            one = forecast(scenario, units, tries=True)
    whole = one.times(runs, jobs=jobs)
    less = _less(scenario, whole, one, runs)
    agree(whole, of=_reason(scenario, one, runs, units), less=less, given=given)


def before_a_study(
    scenario: "Scenario",
    vary: Sequence[str],
    replications: int,
    jobs: int,
    *,
    given: bool,
    race: bool = False,
    reruns: float = 1.0,
) -> None:
    """Ask for consent to a sweep, or with `race` to a plan, should it be needed."""
    from ddsim.study.amount import amount

    how = partial(amount, scenario, vary or None, replications, jobs=jobs, race=race, reruns=reruns)
    with prints_aside():
        found = how()
        if _near(found.whole):
            found = how(tries=True)
    one = found.whole.times(1.0 / max(found.runs, 1.0))
    less = _less(scenario, found.whole, one, replications)
    reason = f"{found.cells:,} cells of {replications:,} replications"
    if one.seconds > LONG_CELL:
        reason += f" with {_reason(scenario, one, 1.0, None)}"
    agree(found.whole, of=reason, less=less, given=given)


def before_a_search(
    scenario: "Scenario", share: float, seeds: int, searches: int, *, given: bool
) -> None:
    """Ask for consent to a search for learning rates, should it be needed."""
    from ddsim.forecast import forecast

    if scenario.learning.problem is None:
        return  # is said where the search begins
    with prints_aside():
        one = forecast(scenario.with_({"learning.seeds": 1}))
    whole = one.times(max(1.0, RATES * searches * share * seeds), kept=False)
    of = f"--seeds {seeds:,} on a share of {share:g} of a duration of {_time(scenario.duration)}"
    agree(whole, of=of, less="Less: --share, --seeds or --only", given=given)


def before_a_replay(scenario: "Scenario", replications: int, *, given: bool) -> None:
    """Ask for consent to trainings on a schedule that was recorded, should it be needed."""
    from ddsim.forecast import forecast

    with prints_aside():
        one = forecast(scenario)
    one = replace(one, strikes=0.0, seconds=one.trained, once=0.0, most="training")
    whole = one.times(replications)
    less = _less(scenario, whole, one, 1.0)
    agree(whole, of=_training(scenario, one), less=less, given=given)


def before_curves(scenario: "Scenario", *, given: bool) -> None:
    """Ask for consent to what needs bandwidths, should it be needed."""
    from ddsim.forecast import Forecast

    settled = [scenario.for_method(spec.name) for spec in scenario.methods]
    steps = max(one.training.inner_steps for one in settled)
    expected = Forecast(0.0, steps, 0.0, CURVE_STEP * steps, CURVE_MEMORY)
    less = f"Less: training.inner_steps of {steps * HOUR / 2 / expected.seconds:,.0f}"
    agree(expected, of=f"training.inner_steps: {steps:,}", less=less, given=given)


def heed_size(scenario: str, overrides: Sequence[str], runs: float, *, given: bool) -> None:
    """Ask for consent before a scenario of very many learners is laid out, from one of few."""
    from ddsim.scenario import ScenarioError, read, validate

    try:
        document = read(scenario).with_overrides(overrides)
        cluster = document.tree()[0].value["cluster"].value
        units = int(cluster["learners"].value)
        few = {"cluster.learners": 8} if units > MANY_UNITS else None
        alike = few and validate(document.with_overrides(few))
    except (ScenarioError, KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return  # what is wrong with it is said when it is loaded
    if alike:
        before_running(alike, runs, 1, given=given, units=units)


def _near(expected: "Forecast") -> bool:
    """Whether it is the seconds that decide, and laws may be wrong about which way.

    Tries leave trainings out.
    """
    enough = expected.trained > HOUR or expected.memory > free_memory()
    return MINUTE / NEAR < expected.seconds < HOUR * NEAR and not enough


def free_memory() -> float:
    """Bytes of memory that are free, or all that the machine has where that is not known."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (OSError, ValueError, AttributeError):
        return float("inf")


def _words(expected: "Forecast") -> str:
    counts = {
        "strikes": expected.strikes,
        "steps": expected.steps,
        "merges": expected.merges,
    }
    said = ", ".join(f"{number:.3g} {name}" for name, number in counts.items() if number >= 1.0)
    if not isfinite(expected.seconds):
        return f"about {said or 'no step'}, and nothing that would end it"
    memory = f"{expected.memory / GIGABYTE:.2g} GB"
    return f"about {said}, {_time(expected.seconds)} and {memory}"


def _time(seconds: float) -> str:
    from ddsim.world.distributions.base import duration_text

    return duration_text(seconds, digits=2)


def _reason(scenario: "Scenario", one: "Forecast", runs: float, units: int | None) -> str:
    """The field that makes it so much."""
    from ddsim.scenario.units import TIME, write_quantity

    if one.seconds <= HOUR / 4 < one.seconds * runs or runs > 1e6:
        return f"--replications {runs:,.0f}"
    count = units or len(scenario.cluster.units)
    if count >= 1000:
        return f"cluster.learners: {count:,}"
    if not isfinite(one.seconds) and not isfinite(scenario.duration):
        return _goal(scenario)
    if one.most == "strikes":
        failures = scenario.failures
        if scenario.cluster.chips / failures.chip_mtbi * scenario.duration > one.strikes / 2:
            life = write_quantity(failures.chip_mtbi, TIME)
            return f"failures.chip_mtbi: {life} on {scenario.cluster.chips:,} chips"
        return "failures.causes"
    if one.most == "changes":
        return _changes(scenario)
    if one.most == "training":
        return _training(scenario, one)
    if not isfinite(scenario.duration):
        return _goal(scenario)
    step = write_quantity(min(unit.step_time for unit in scenario.units()), TIME)
    return f"training.step_time: {step} over a duration of {_time(scenario.duration)}"


def _training(scenario: "Scenario", one: "Forecast") -> str:
    """What makes a training so long: how many there are, or its batches."""
    learning = scenario.learning
    if one.seconds / learning.seeds <= HOUR / 4:
        return f"learning.seeds: {learning.seeds:,}"
    return f"learning.batch_size: {learning.batch_size:,}"


def _goal(scenario: "Scenario") -> str:
    """What a run without a duration is to come to."""
    training = scenario.training
    if training.tokens is None:
        return f"training.loss: {training.loss:g} nats without a duration"
    return f"training.tokens: {training.tokens:.4g} without a duration"


def _changes(scenario: "Scenario") -> str:
    """Where most changes of links come from."""
    from ddsim.forecast.seconds import changes_of, planned_changes

    span = scenario.duration
    planned = planned_changes(scenario, span)
    if planned > changes_of(scenario, span)[0] / 2:
        return f"chaos: {planned:,.0f} changes of links"
    return "network: changes of bandwidth"


def _less(scenario: "Scenario", whole: "Forecast", one: "Forecast", runs: float) -> str:
    """What to set so that it takes half an hour, and half of the free memory."""
    if not isfinite(whole.seconds):
        return "Less: a shorter duration" if isfinite(scenario.duration) else "Less: a duration"
    share = min(HOUR / 2 / whole.seconds, free_memory() / 2 / whole.memory, 0.5)
    learning = scenario.learning
    if one.most == "training" and learning.seeds * share >= 1.0:
        return f"Less: learning.seeds of {learning.seeds * share:,.0f}"
    if one.seconds <= HOUR / 4 and runs * share >= 1.0:
        return f"Less: --replications {runs * share:,.0f}"
    if whole.seconds > 10.0 * runs * one.seconds and one.seconds <= HOUR / 4:
        return "Less: fewer values in --vary"
    if one.most == "training" and learning.batch_size * share >= 1.0:
        return f"Less: learning.batch_size of {learning.batch_size * share:,.0f}"
    if scenario.training.tokens:
        return f"Less: training.tokens of {scenario.training.tokens * share:.1g}"
    return f"Less: a duration of {_time(scenario.duration * share)}"
