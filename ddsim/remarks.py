"""What is worth saying of a scenario before it runs: strikes without end, spares without use."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from ddsim import methods
from ddsim.methods.lockstep_job import LockstepJob
from ddsim.scenario.stalls import Stall
from ddsim.world import cluster as clusters
from ddsim.world.causes import Away, goes_on_at_its_age, lifetime_of, repair_of
from ddsim.world.distributions.base import duration_text
from ddsim.world.domains import DOMAINS, Parts
from ddsim.world.renewal import expected_unrenewed
from ddsim.world.stalls import detection_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ddsim.scenario import Scenario
    from ddsim.scenario.failures import Cause

MANY = 2.0
"""How many times the strikes of replaced parts those of parts that go on have to be, to be told."""


def remarks(scenario: Scenario) -> list[str]:
    """Return what a reader should know of a scenario before it runs, a sentence each."""
    settled = {spec.name: scenario.for_method(spec.name) for spec in scenario.methods}
    return [*_strikes(scenario), *_spares(settled), *_beyond_tables(settled)]


def _beyond_tables(by_method: Mapping[str, Scenario]) -> Iterator[str]:
    """Say where a table by chips is held at its nearest row."""
    said: dict[str, None] = {}
    for name, settled in by_method.items():
        sizes = [unit.chips for unit in settled.units()]
        job = [sum(sizes)]
        failures = settled.failures
        lengths = [("failures.detection", failures.detection, job)]
        lengths += [
            (f"detection of cause {cause.name}", cause.detection, job)
            for cause in failures.causes
            if cause.detection is not None
        ]
        lengths.append(("restart.time", settled.restart.time, job if _one_job(name) else sizes))
        for what, length, counts in lengths:
            for table in length.tables() if isinstance(length, Stall) else ():
                for chips in dict.fromkeys(size for size in counts if not table.holds(size)):
                    said[
                        f"{what}: {chips:,} chips are outside the table by chips, "
                        f"{table.chips[0]:,} to {table.chips[-1]:,}: held at "
                        f"{duration_text(table.at(chips))}"
                    ] = None
    yield from said


def _one_job(name: str) -> bool:
    """Whether all units of a method restart together."""
    return name in methods.names() and issubclass(methods.get(name), LockstepJob)


def _strikes(scenario: Scenario) -> Iterator[str]:
    """Say how often parts that go on at their age will be struck, where that is far more often
    than if they were replaced.
    """
    if scenario.chaos_only or not isfinite(scenario.duration):
        return
    cluster = clusters.build(scenario)
    for cause in scenario.failures.causes:
        if cause.domain not in DOMAINS or cause.lifetime is None or not goes_on_at_its_age(cause):
            continue
        life, parts = lifetime_of(cause), Parts(cause.domain, cluster).count
        away = Away(detection_time(scenario, cause.detection), repair_of(cause, scenario)).mean()
        strikes = cause.burst.size * expected_unrenewed(life, parts, scenario.duration, away)
        replaced = cause.burst.size * parts * scenario.duration / (life.mean() + away)
        if strikes >= MANY * replaced:
            yield (
                f"cause {cause.name}: what is not replaced goes on at its age, so that about "
                f"{_about(strikes)} strikes are to be expected in "
                f"{duration_text(scenario.duration)}, against {_about(replaced)} with "
                "`replace: true`"
            )


def _about(number: float) -> str:
    """A number of three digits."""
    return f"{float(f'{number:.3g}'):,.0f}" if number >= 10.0 else f"{number:.2g}"


def _spares(by_method: Mapping[str, Scenario]) -> Iterator[str]:
    """Say of spares that stand ready and that no method can put in."""
    most, useless = 0, True
    reasons: list[str] = []
    for name, settled in by_method.items():
        spares = settled.restart.spares
        if not spares:
            continue
        most = max(most, spares)
        if not _puts_spares_in(name):
            reasons.append(f"{name} puts none in")
        elif not _loses_hardware(settled):
            reasons.append("nothing fails that has to be replaced")
        else:
            useless = False
    if most and useless:
        why = " and ".join(dict.fromkeys(reasons))
        yield f"restart.spares: {most} stand{'s' if most == 1 else ''} idle throughout: {why}"


def _puts_spares_in(name: str) -> bool:
    """Whether a method uses spares; one whose Python was only read may."""
    return name not in methods.names() or methods.get(name).uses_spares


def _loses_hardware(scenario: Scenario) -> bool:
    """Whether anything takes slices down until they are repaired or replaced."""
    if any(fault.fault == "kill" for fault in scenario.chaos):
        return True
    if scenario.chaos_only:
        return False
    failures = scenario.failures
    return isfinite(failures.chip_mtbi) or any(_takes_down(cause) for cause in failures.causes)


def _takes_down(cause: Cause) -> bool:
    hardware = cause.domain in DOMAINS and cause.domain != "job"
    happens = cause.lifetime is not None or bool(cause.count)
    happens = happens or (cause.mtbi is not None and isfinite(cause.mtbi))
    fails = cause.replace and not cause.unallocated and cause.slow_to is None
    return hardware and happens and fails
