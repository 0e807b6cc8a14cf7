"""A storm of faults over two real workers, predicted from a quiet run with one kill and return."""

from collections.abc import Sequence
from statistics import fmean, median

from ddsim.figures.dots import dots
from ddsim.figures.style import METHOD_COLOURS
from ddsim.reproduce import twin
from ddsim.reproduce.basis import declined, predicted
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import REPORTED_BESIDE, Row, Tolerance
from ddsim.reproduce.twin import Commit, Constants, Event, Kill

_CALM, _STORM = "measured_kill_rejoin", "measured_storm_k120"
_HISTORIES, _FEW = 10, 6
_NEAR, _SHARE = 2.0, 0.25
"""How near to the log a survivor's time is to be: seconds, or a share of it."""

_SOURCE = "ft-diloco (public run logs)"
_SYSTEM = "ft-diloco under a storm of faults"
_RATE = "as many an hour as in the run that the constants are from"
_SAME = "the same as in the run that the constants are from"
_NO_WAIT = "from the kill to the next process, a start and H steps, and no wait"
_HALF = "half a round alone"
_BACK = "time back to a synchronization"
_ONE_OF_ALL = declined("one of those whose median is the row of the victims")
_HUNG = (
    "Two exchanges that had begun with a worker killed while it waited hung for half a minute, and "
    "failed; here a loss is known when it is noticed."
)


@reproduction("storm", "Two workers in a storm of kills and cuts: a twin of public logs")
def storm(pace: Pace) -> Found:
    """Faults of one log replayed through the engine, whose constants are from another."""
    calm, log = twin.read(_CALM), twin.read(_STORM)
    known = twin.constants(calm)
    histories = [
        twin.replay(log, known, seed) for seed in range(_FEW if pace.quick else _HISTORIES)
    ]
    struck = twin.kills(log)
    back = {kill: _back(kill, log, histories) for kill in struck}
    survived = [twin.survivor(log, known, kill) for kill in struck]
    near = fmean(abs(ours - real) <= max(_NEAR, _SHARE * real) for ours, real in survived)
    found = [
        *(_commits(worker, calm, log, histories) for worker in ("0", "1")),
        _alone(calm, log, histories),
        _victims(back, known),
        _row(
            "mean time to the next synchronization",
            "survivors",
            fmean(ours for ours, _ in survived),
            "s",
            fmean(real for _, real in survived),
            known.alone * twin.INNER / 2,
            _HALF,
            beyond=_HUNG,
        ),
    ]
    each = {f"{'AB'[int(kill.victim)]}, killed at {kill.at:.0f} s": back[kill] for kill in struck}
    drawn = [
        Row(_BACK, cell, ours, "s", real, source=_SOURCE, basis=_ONE_OF_ALL)
        for cell, (ours, real) in each.items()
    ]
    ax = dots(
        list(each),
        [ours for ours, _ in back.values()],
        [real for _, real in back.values()],
        title="A storm of faults: the victims' way back",
        x="from a kill to the victim's next synchronization (s)",
        colour=METHOD_COLOURS["diloco"],
    )
    return Found(
        [*drawn, *found],
        {"storm": ax},
        f"A step of {known.step:.3f} s with both on the device and {known.alone:.3f} s alone, "
        f"{known.start:.1f} s to start, {known.noticed:.1f} s until a loss or a cut is noticed, "
        "and the spread of rounds are from the run with one kill. Of the storm went in when links "
        f"were cut, which of the kills took effect ({len(struck)}), when the next process started. "
        f"Given what a survivor had done at each kill, {near:.0%} of the times to its next "
        f"synchronization are within {_NEAR:g} s or {_SHARE:.0%}. Of the others two hung on an "
        "exchange with the dead, and two were over within two seconds of the victim's new process, "
        "for which the twin waits.",
    )


def _commits(
    worker: str, calm: Sequence[Event], log: Sequence[Event], histories: Sequence[Sequence[Commit]]
) -> Row:
    ours = fmean(sum(worker in commit.replicas for commit in made) for made in histories)
    rate = len(twin.commits(calm, worker)) / (calm[-1].at - calm[0].at)
    return _row(
        "synchronizations",
        f"worker {worker}",
        ours,
        "",
        float(len(twin.commits(log, worker))),
        rate * (log[-1].at - log[0].at),
        _RATE,
        Tolerance(0.07, relative=True),
    )


def _alone(
    calm: Sequence[Event], log: Sequence[Event], histories: Sequence[Sequence[Commit]]
) -> Row:
    ours = fmean(
        sum(len(commit.replicas) == 1 for commit in made)
        / sum(len(commit.replicas) for commit in made)
        for made in histories
    )
    guess, real = (
        100 * fmean(event.value == "1" for event in twin.commits(log)) for log in (calm, log)
    )
    return _row(
        "share of synchronizations alone", "both", 100 * ours, "%", real, guess, _SAME, Tolerance(7)
    )


def _back(
    kill: Kill, log: Sequence[Event], histories: Sequence[Sequence[Commit]]
) -> tuple[float, float]:
    """Seconds from a kill to the victim's next synchronization: simulated and measured."""
    ours = [
        next((c.at for c in made if c.at > kill.at and kill.victim in c.replicas), log[-1].at)
        for made in histories
    ]
    real = next(e.at for e in twin.commits(log, kill.victim) if e.at > kill.at)
    return median(ours) - kill.at, real - kill.at


def _victims(back: dict[Kill, tuple[float, float]], known: Constants) -> Row:
    relaunch = median(kill.relaunched - kill.at for kill in back)
    return _row(
        "median time back to a synchronization",
        "victims",
        median(ours for ours, _ in back.values()),
        "s",
        median(real for _, real in back.values()),
        relaunch + known.start + twin.INNER * known.step,
        _NO_WAIT,
        Tolerance(0.15, relative=True),
    )


def _row(
    quantity: str,
    cell: str,
    ours: float,
    unit: str,
    real: float,
    guess: float,
    guessed: str,
    held: Tolerance = REPORTED_BESIDE,
    *,
    beyond: str = "",
) -> Row:
    basis = predicted(guess, guessed, system=_SYSTEM, beyond=beyond)
    return Row(quantity, cell, ours, unit, real, held, _SOURCE, basis=basis)
