"""A simulated run as the run log that a real one would have left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ddsim.engine.fragments import fragment_sizes, layers_of
from ddsim.engine.ledger import Account
from ddsim.engine.tape import JobSteps, Save, Steps
from ddsim.logs.run_log import Event
from ddsim.world.instants import seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ddsim.engine.hardware import Hardware
    from ddsim.engine.run import Run
    from ddsim.methods.local.arrays import Settings
    from ddsim.methods.registry import Method
    from ddsim.results.record import MethodResult

GIVEN = (
    "model.parameters",
    "model.layers",
    "model.tensors",
    "training.tokens_per_step",
    "training.inner_steps",
    "training.fragments",
    "training.overlap_steps",
    "training.quorum",
    "training.payload_bits",
    "training.release",
    "training.on_failure",
    "checkpoint.policy",
)
"""Paths of the scenario that a run log begins with."""
JOB = "job"
"""Who steps where all units are one job."""
BYTE = 8.0
_KINDS = {
    Account.DETECTION.label: "detection",
    Account.RESTART.label: "restart",
    Account.CHECKPOINT_RESTORE.label: "load",
    Account.CHECKPOINT_SAVE.label: "save",
    Account.FAILED_HARDWARE.label: "down",
    Account.EXPOSED_COMMUNICATION.label: "wait",
    Account.WAITING_ON_PEERS.label: "wait",
    Account.WAITING_ON_DATA.label: "wait",
}
_WHOLE = ("save", "load", "restart", "detection")
_UNFINISHED = 1e-9


def begin(one: Run) -> None:
    """Let a run keep what its log is made of: every step, and waits however short."""
    one.tape = [] if one.tape is None else one.tape
    one.recorder.keep_all()


def events_of(
    one: Run, result: MethodResult, method: Method, hardware: Hardware
) -> tuple[Event, ...]:
    """The run log of a method's run, in the order of time."""
    units = {unit.name: unit.chips for unit in one.cluster.units}
    end = result.wall_clock_s
    syncs = _syncs(one, result, _settings(method))
    failures = list(_failures(one, hardware))
    states = _states(one, end, {event.time for event in failures})
    found = [*_steps(one), *states, *syncs, *failures]
    found.sort(key=lambda event: event.time)
    return (
        Event(0.0, "run", units=units, cause=result.method, given=_given(one)),
        *found,
        Event(end, "end"),
    )


def _given(one: Run) -> dict[str, Any]:
    """What of the scenario no log could tell, by path."""
    from ruamel.yaml import YAML

    tree = YAML(typ="safe").load(one.scenario.resolved())
    found: dict[str, Any] = {}
    for path in GIVEN:
        section, _, key = path.partition(".")
        value = tree.get(section, {}).get(key)
        if value not in (None, {}):
            found[path] = value
    return found


def _steps(one: Run) -> Iterator[Event]:
    """Steps by the time since the one before, or since the save after that."""
    names = [unit.name for unit in one.cluster.units]
    counts: dict[str, int] = {}
    ended: dict[str, float] = {}
    for event in one.tape or ():
        if isinstance(event, Steps):
            who = names[event.learner]
        elif isinstance(event, JobSteps | Save):
            who = JOB
        else:
            continue
        begun = ended.get(who, 0.0)
        if isinstance(event, Save):
            ended[JOB] = event.time
            if event.time > begun:
                yield Event(event.time, "save", JOB, event.time - begun)
            continue
        counts[who] = counts.get(who, 0) + event.steps
        ended[who] = event.time
        length = (event.time - begun) / event.steps
        yield Event(event.time, "step", who, length, counts[who], event.steps)


def _states(one: Run, end: float, failed: set[float]) -> Iterator[Event]:
    """What units did but step; stalls of a job once, and of what a failure broke off nothing."""
    job = any(isinstance(event, JobSteps) for event in one.tape or ())
    noted: set[tuple[str, float]] = set()
    for span in one.recorder.whole():
        kind = _KINDS.get(span.state, "stall")
        if span.state == "running" or span.end >= end - _UNFINISHED:
            continue
        if kind in _WHOLE and span.end in failed:
            continue
        unit = JOB if job and kind in ("stall", *_WHOLE) else span.unit
        cause = span.state if kind in ("wait", "stall") else ""
        if unit != JOB or (kind, span.end) not in noted:
            noted.add((kind, span.end))
            yield Event(span.end, kind, unit, span.end - span.start, cause=cause)


def _settings(method: Method) -> Settings | None:
    """What a method of the DiLoCo family is set to, None for others."""
    settings_of = getattr(method, "settings", None)
    return None if settings_of is None else settings_of()


def _shares(one: Run, settings: Settings | None) -> list[float]:
    """The share of the model that each fragment of a method is."""
    if settings is None:
        return [1.0]
    if settings.lockstep:
        sizes = [float(len(it)) for it in layers_of(settings.fragments, one.scenario.model.layers)]
    else:
        sizes = fragment_sizes(one.scenario)
    return [size / sum(sizes) for size in sizes]


def _syncs(one: Run, result: MethodResult, settings: Settings | None) -> Iterator[Event]:
    """Exchanges by what each site put on a hop, from their start to their arrival.

    In lock-step those who take part exchange; else the replicas of a syncer, all of them.
    """
    index = {unit.name: unit.index for unit in one.cluster.units}
    shares = _shares(one, settings)
    model = one.scenario.model.parameters * one.scenario.training.payload_bits
    hops: dict[tuple[str, ...], float] = {}  # mostly the same participants
    for merge in result.merges:
        who = merge.learners
        if who not in hops:
            among = who if settings is None or settings.lockstep else tuple(index)
            hops[who] = one.ring([index[name] for name in among]).bits(model) / BYTE
        yield Event(
            merge.arrival,
            "sync",
            duration=merge.arrival - merge.start,
            bytes=hops[who] * sum(shares[fragment] for fragment in merge.fragments),
            participants=who,
        )


def _failures(one: Run, hardware: Hardware) -> Iterator[Event]:
    names = [unit.name for unit in one.cluster.units]
    for time, unit, cause in hardware.noted or ():
        yield Event(seconds(time), "failure", names[unit], cause=cause)
