"""Two real workers on one device, and their twin in the engine: constants and faults out of logs.

A log has one line an event: seconds, replica, what happened, its own step, and a value. A `commit`
is a synchronization with `value` participants; `step10` the tenth of steps; a `fault_` was done to
the replica, a kill with effect only where a `process_start` follows; evaluations and whatever else
happens are in the times alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, sqrt
from statistics import fmean, pstdev

import ddsim
from ddsim.reference import rows
from ddsim.scenario import Scenario

PARAMETERS = 51_200_000
INNER = 50
RELAUNCHED_WITHIN = 20.0
"""Seconds from a kill that took effect to the new process."""

_KILLS = ("fault_kill", "fault_kill_safe")


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a log; `step` is the replica's own, -1 where it is not said."""

    at: float
    replica: str
    what: str
    step: int
    value: str


@dataclass(frozen=True, slots=True)
class Kill:
    """A kill that took effect: whom, when, and when its next process started."""

    at: float
    victim: str
    relaunched: float


@dataclass(frozen=True, slots=True)
class Constants:
    """What a log says of the system, in seconds.

    A step is that of a mean round over its steps, with both computing and `alone`; `jitter` the
    spread of its steps that brings about the spread of rounds; `start` lasts from a process's start
    to its first step, `noticed` from a kill until the other goes on.
    """

    step: float
    alone: float
    jitter: float
    start: float
    noticed: float


def read(name: str) -> list[Event]:
    """The events of a log among the reference data, in the order of time."""
    return [
        Event(
            float(line["t_s"]),
            line["replica"],
            line["event"],
            int(line["step"] or -1),
            line["value"],
        )
        for line in rows(name)
    ]


def replicas(log: Sequence[Event]) -> list[str]:
    """Who is in a log."""
    return sorted({event.replica for event in log} - {""})


def commits(log: Sequence[Event], replica: str = "") -> list[Event]:
    """The synchronizations, or those of one replica."""
    return [e for e in log if e.what == "commit" and replica in ("", e.replica)]


def kills(log: Sequence[Event], within: float = RELAUNCHED_WITHIN) -> list[Kill]:
    """The kills that took effect, by the process that followed."""
    found: list[Kill] = []
    for event in log:
        if event.what not in _KILLS:
            continue
        starts = (
            later.at
            for later in log
            if later.what == "process_start"
            and later.replica == event.replica
            and event.at < later.at <= event.at + within
        )
        start = next(starts, None)
        if start is not None and not any(
            kill.victim == event.replica and kill.at < event.at < kill.relaunched for kill in found
        ):
            found.append(Kill(event.at, event.replica, start))
    return found


def cuts(log: Sequence[Event]) -> Iterator[tuple[str, float, float]]:
    """Whose link was cut, from and to."""
    for replica in replicas(log):
        mine = [event for event in log if event.replica == replica]
        begun = [event.at for event in mine if event.what == "fault_partition"]
        healed = [event.at for event in mine if event.what == "fault_heal"]
        for begin, end in zip(begun, healed, strict=True):
            yield replica, begin, end


def constants(log: Sequence[Event]) -> Constants:
    """What a log with a kill and a return says of the system."""
    both, alone = _rounds(log, "2"), _rounds(log, "1")
    starts = [
        next(e.at for e in log if e.replica == kill.victim and e.at > kill.relaunched)
        - kill.relaunched
        for kill in kills(log, inf)
    ]
    noticed = [
        next(e.at for e in commits(log) if e.replica != kill.victim and e.at > kill.at) - kill.at
        for kill in kills(log, inf)
    ]
    return Constants(
        step=fmean(both) / INNER,
        alone=fmean(alone) / INNER,
        jitter=pstdev(both) / fmean(both) * sqrt(INNER),
        start=fmean(starts),
        noticed=min(noticed),
    )


def _rounds(log: Sequence[Event], participants: str) -> list[float]:
    """Seconds from one synchronization of so many to the next, where nobody came or went."""
    disturbed = [e.at for e in log if e.what.startswith(("fault_", "process_"))]
    found = []
    for replica in replicas(log):
        mine = commits(log, replica)
        for before, after in pairwise(mine):
            quiet = not any(before.at <= at <= after.at for at in disturbed)
            if quiet and before.value == after.value == participants:
                found.append(after.at - before.at)
    return found


def twin(
    known: Constants, duration: float, chaos: Sequence[dict[str, object]], **more: object
) -> Scenario:
    """The two workers on their device, for so many seconds, under planned faults."""
    units = [
        {
            "name": f"worker {number}",
            "region": f"link {number}",
            "chips": 1,
            "host": "device",
            "step_time_alone": f"{known.alone} s",
        }
        for number in range(2)
    ]
    changes: dict[str, object] = {
        "duration": f"{duration} s",
        "model.parameters": PARAMETERS,
        "training.tokens": None,
        "training.step_time": f"{known.step} s",
        "training.inner_steps": INNER,
        "training.on_failure": "leave",
        "cluster": {"units": units},
        "network": {"bandwidth": "unlimited", "ring_timeout": f"{known.noticed} s"},
        "failures": {"detection": f"{known.noticed} s"},
        "restart": {"time": f"{known.start} s"},
        "elastic": {"downscale": "0 s", "upscale": "0 s"},
        "chaos": list(chaos),
    }
    return ddsim.load("measured_grid", {**changes, **more})


@dataclass(frozen=True, slots=True)
class Commit:
    """A synchronization of the twin: when, on the log's clock, and of whom."""

    at: float
    replicas: tuple[str, ...]


def replay(log: Sequence[Event], known: Constants, seed: int) -> list[Commit]:
    """The synchronizations of a twin to which a log's faults are done, by one history of jitter.

    The log says when processes start, which kills took effect and when links were cut; stops did
    nothing. All else is the engine's.
    """
    begin = min(event.at for event in log) + known.start
    chaos = [
        _fault("kill", f"worker {kill.victim}", kill.at - begin, kill.relaunched - kill.at)
        for kill in kills(log)
    ]
    more = {"seed": seed, "cluster.jitter": known.jitter}
    end = log[-1].at
    scenario = twin(known, end - begin, [*chaos, *_cuts(log, begin, end)], **more)
    (result,) = ddsim.run(scenario, ["diloco"]).results
    return [
        Commit(begin + merge.arrival, tuple(name.split()[-1] for name in merge.learners))
        for merge in result.merges
    ]


def _cuts(log: Sequence[Event], begin: float, before: float) -> list[dict[str, object]]:
    """The cuts of a log from an instant up to another, as planned faults."""
    return [
        _fault("cut", f"link {who}", at - begin, end - at)
        for who, at, end in cuts(log)
        if begin <= at < before
    ]


def _fault(fault: str, target: str, at: float, length: float) -> dict[str, object]:
    return {"fault": fault, "target": target, "at": f"{at} s", "for": f"{length} s"}


def survivor(log: Sequence[Event], known: Constants, kill: Kill) -> tuple[float, float]:
    """Seconds from a kill to the other's next synchronization: the twin's, and the log's.

    The twin's round begins as long before the kill as the steps take that the other had done of
    its own by then; what is done to links goes in, and when the victim's next process starts.
    """
    other = [e for e in log if e.replica not in ("", kill.victim)]
    last = [e for e in other if e.at <= kill.at and (e.step >= 0 or e.what == "process_start")][-1]
    done = max(0, last.step) % INNER + (kill.at - last.at) / known.step
    begin = kill.at - min(done, INNER - 0.5) * known.step
    lasts = kill.relaunched - begin + known.start + 3 * INNER * known.step
    chaos = [
        _fault("kill", f"worker {kill.victim}", kill.at - begin, kill.relaunched - kill.at),
        *_cuts(log, begin, begin + lasts),
    ]
    (result,) = ddsim.run(twin(known, lasts, chaos), ["diloco"]).results
    arrivals = (begin + merge.arrival for merge in result.merges)
    after = next((at for at in arrivals if at > kill.at), begin + lasts)  # or longer
    measured = next(e.at for e in other if e.what == "commit" and e.at > kill.at)
    return after - kill.at, measured - kill.at
