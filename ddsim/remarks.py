"""What is worth saying of a scenario before it runs: strikes without end, spares without use."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from ddsim import methods
from ddsim.engine.saves import saves_on
from ddsim.methods.lockstep_job import LockstepJob
from ddsim.naming import listed, shown
from ddsim.scenario.methods import DEFAULT_METHODS, Methods
from ddsim.scenario.stalls import Stall
from ddsim.scenario.tree import plain
from ddsim.scenario.units import TIME, write_quantity
from ddsim.world import cluster as clusters
from ddsim.world.causes import Away, goes_on_at_its_age, lifetime_of, repair_of
from ddsim.world.corruptions import found_too_late
from ddsim.world.distributions.base import duration_text
from ddsim.world.domains import DOMAINS, Parts
from ddsim.world.renewal import expected_unrenewed
from ddsim.world.stalls import detection_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ddsim.scenario import Scenario
    from ddsim.scenario.failures import Cause

MANY = 2.0
"""How many times the strikes of replaced parts those of parts that go on have to be, to be told."""
LONG_SAVE = 0.1
"""Of a step: how long a save after each has to be, to be told."""
_LOCKSTEP = ("data_parallel", "elastic_data_parallel")
_STREAMING = ("streaming_diloco", "decoupled_diloco")
_LEARNERS = ("diloco", *_STREAMING, "async_local_sgd")
_BUILT_IN = (*_LOCKSTEP, *_LEARNERS)
_DECOUPLED = ("decoupled_diloco",)
_READERS = {
    "training.inner_steps": _LEARNERS,
    "training.payload_bits": _LEARNERS,
    "training.overlap_steps": _STREAMING,
    "training.quorum": _DECOUPLED,
    "training.grace": _DECOUPLED,
    "training.apply": _DECOUPLED,
    "training.below_quorum": _DECOUPLED,
    "training.syncer": _DECOUPLED,
    "training.syncer_time": _DECOUPLED,
    "training.policy": _DECOUPLED,
    "training.mixing": ("streaming_diloco",),
    "training.on_failure": ("diloco", "streaming_diloco"),
    "training.gradient_bits": _LOCKSTEP,
    "elastic.downscale": ("elastic_data_parallel", *_LEARNERS),
    "elastic.upscale": ("elastic_data_parallel", *_LEARNERS),
}
"""Settings that not every method reads, and which do; but those that others give."""
_INTERVAL = "checkpoint.interval"
_OF_SAVES = (_INTERVAL, "checkpoint.save", "checkpoint.stall")
_OF_SPARES = ("restart.spare_start", "restart.standbys", "restart.standby_start")


def remarks(scenario: Scenario) -> list[str]:
    """Return what a reader should know of a scenario before it runs, a sentence each."""
    settled = {spec.name: scenario.for_method(spec.name) for spec in scenario.methods}
    return [
        *_strikes(scenario),
        *_spares(settled),
        *_saves_too_long(settled),
        *_unread(scenario, settled),
        *_beyond_tables(settled),
    ]


def found_late(settled: Iterable[tuple[str, Scenario]]) -> list[str]:
    """Say which corruption is found too late for any save, and takes which methods to their start.

    `settled` are methods, each with the scenario as it runs it.
    """
    found: dict[tuple[str, str, float], dict[str, None]] = {}
    for name, scenario in settled:
        # a job's units share one state, which screening is not for
        for cause in found_too_late(scenario, screened=_one_job(name)):
            said = scenario.checkpoint.policy, cause.name, cause.latent
            found.setdefault(said, {})[name] = None
    return [
        f"{shown(what)} corrupts for {write_quantity(latent, TIME)} before it is found, and with "
        f"checkpoint.policy {policy} "
        f"{'nothing is saved' if policy == 'none' else 'the last step alone is saved'}: each time "
        f"it takes {listed(list(those), 'and')} back to step 0"
        for (policy, what, latent), those in found.items()
    ]


def saves_in_use(scenario: Scenario) -> list[str]:
    """Return when each method saves, by a policy that it has, a sentence each."""
    cluster = clusters.build(scenario)
    found = []
    for name in (spec.name for spec in scenario.methods):
        settled = scenario.for_method(name)
        policy = settled.checkpoint.policy
        if policy != "none":
            words = saves_on(settled, cluster).words
            found.append(f"{name} saves {words} (checkpoint.policy {policy})")
    return found


def _saves_too_long(by_method: Mapping[str, Scenario]) -> Iterator[str]:
    """Say where a save in memory, which follows every step, takes as long as many steps."""
    said: dict[str, list[str]] = {}
    for name, settled in by_method.items():
        checkpoint = settled.checkpoint
        held = checkpoint.stall if checkpoint.asynchronous else checkpoint.save
        step = min(unit.step_time for unit in settled.units())
        if checkpoint.policy == "in_memory" and held > LONG_SAVE * step:
            words = (
                f"a save follows every step, and each of {duration_text(held)} holds up steps of "
                f"{duration_text(step)}: at most {step / (step + held):.2g} of the time is left"
            )
            said.setdefault(words, []).append(name)
    for words, names in said.items():
        yield f"checkpoint.policy in_memory, {', '.join(names)}: {words}"


def _unread(scenario: Scenario, settled: Mapping[str, Scenario]) -> Iterator[str]:
    """Say what was given and no method that is to run reads."""
    given = [
        path
        for path in (*_READERS, *_OF_SAVES, *_OF_SPARES)
        if any(_given(one, path) for one in settled.values())
    ]
    idle = [path for path in given if not any(reads(n, one, path) for n, one in settled.items())]
    others = _listed(scenario) - set(settled)
    if others:  # the scenario may say it for them; what was said with the choice is said to it
        now = {item.path for item in scenario.document.overrides}
        idle = [path for path in idle if path in now or not others & {*_READERS.get(path, others)}]
    if idle:
        policies = {one.checkpoint.policy for one in settled.values()}
        why = f"; checkpoint.policy is {' or '.join(sorted(policies))}" if _INTERVAL in idle else ""
        those = ", ".join(settled)
        yield f"given, and read by none of the methods ({those}): {', '.join(idle)}{why}"


def _listed(scenario: Scenario) -> set[str]:
    """The methods that the scenario's file names, of which fewer may have been chosen."""
    entry = scenario.document.root.value.get("methods")
    named = None if entry is None else plain(entry)
    return {*DEFAULT_METHODS} if named is None else {x.name for x in Methods().read(named)}


def _given(scenario: Scenario, path: str) -> bool:
    """Whether a setting stands in the document, and is not what it would be anyway."""
    section, name = path.split(".")
    there = scenario.document.tree()[0].value.get(section)
    stands = there is not None and isinstance(there.value, dict) and name in there.value
    found = getattr(scenario, section)
    usual: object = type(found).model_fields[name].default
    return stands and getattr(found, name) != usual


def reads(method: str, scenario: Scenario, path: str) -> bool:
    """Whether a method reads a setting of the scenario as it runs it; one's own may read any."""
    if method not in _BUILT_IN:
        return True
    if path == _INTERVAL:
        return scenario.checkpoint.policy == "fixed"
    if path in _OF_SAVES:
        return scenario.checkpoint.policy != "none"
    if path in _OF_SPARES:
        return scenario.restart.spares > 0
    return method in _READERS.get(path, _BUILT_IN)


def _beyond_tables(by_method: Mapping[str, Scenario]) -> Iterator[str]:
    """Say where a table by chips is held at its nearest row."""
    said: dict[str, None] = {}
    for name, settled in by_method.items():
        sizes = [unit.chips for unit in settled.cluster.units]
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
    aging = [
        cause
        for cause in scenario.failures.causes
        if cause.domain in DOMAINS and cause.lifetime is not None and goes_on_at_its_age(cause)
    ]
    cluster = clusters.build(scenario) if aging else None
    for cause in aging:
        assert cluster is not None
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
