"""Public runs of a Decoupled DiLoCo on fast links: what one of them says of the others."""

import ddsim
from ddsim.reference import Row as Line
from ddsim.reference import numbers, rows
from ddsim.reproduce.basis import Basis, calibrated, declined, predicted
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import REPORTED_BESIDE, Row, Tolerance
from ddsim.results import MethodResult

_STEPS, _FRAGMENTS, _LEARNERS = 256, 8, 2
_FRAGMENT_GB = 0.02918  # at 16 bits
_INNER = 48  # by which the 43 merges of m2 come about; its own target counts otherwise
_HELD = Tolerance(0.02, relative=True)
_FROM = "m2"
_SYSTEM = "yeto, a public Decoupled DiLoCo"
_SAME = f"the same as {_FROM}"
_NEARER = {("q4", "participation_pct"), ("unthrottled", "mean_h")}
_NO_NEARER = declined(f'no nearer than "{_SAME}"')
_SLOWER = declined("fewer bits made the run slower, for which there is no mechanism here")


@reproduction("decoupled-runs", "A public Decoupled DiLoCo: bytes, time, H and participation")
def decoupled_runs(pace: Pace) -> Found:
    """The first load, the step and H from one run; bytes and more of the two others."""
    lines = {line["run"]: line for line in rows("measured_decoupled_runs")}
    base = lines[_FROM]
    load = numbers(base, "sync_gb")[0] - _exchanged(base)
    ran = _run(base)
    found = [_merges(base, ran)]
    for name in ("q4", "unthrottled"):
        line = lines[name]
        found += [_bytes(line, base, load), *_beside(line, base, ran)]
    return Found(
        found,
        note=f"Only pushes shrink with the bits; broadcasts and the first load, {load:.3f} GB by "
        f"{_FROM}, do not. Merges and answers are the runs' own. The source's target for H counts "
        f"otherwise than H here: {_INNER} brings the merges of {_FROM} about. Of time, mean H and "
        "participation those count as predicted that are nearer than a guess, which says nothing "
        "of how often they are.",
    )


def _exchanged(line: Line) -> float:
    """Gigabytes of answers and broadcasts, by the run's own counts of them."""
    answers, merges, bits = numbers(line, "responses", "merges", "push_bits")
    return _FRAGMENT_GB * (answers * bits / 16 + merges * _LEARNERS)


def _run(base: Line) -> MethodResult:
    changes = {
        "duration": "never",
        "training.tokens": _STEPS * _LEARNERS,
        "training.tokens_per_step": _LEARNERS,
        "training.step_time": f"{numbers(base, 'train_s')[0] / _STEPS} s",
        "training.inner_steps": _INNER,
        "training.fragments": _FRAGMENTS,
        "training.overlap_steps": 1,
        "training.quorum": _LEARNERS,
        "training.payload_bits": 16,
        "model.parameters": 8e9 * _FRAGMENTS * _FRAGMENT_GB / 16,
        "cluster.chips": 8,
        "cluster.learners": _LEARNERS,
        "network": {"bandwidth": "unlimited"},
    }
    scenario = ddsim.load("measured_grid", changes)
    return ddsim.run(scenario, ["decoupled_diloco"])["decoupled_diloco"]


def _merges(base: Line, ran: MethodResult) -> Row:
    return _row(base, "merges", float(len(ran.merges)), "", calibrated("H, and the time of a step"))


def _bytes(line: Line, base: Line, load: float) -> Row:
    guess = numbers(base, "sync_gb")[0]
    basis = predicted(guess, _SAME, system=_SYSTEM)
    return _row(line, "sync_gb", load + _exchanged(line), "GB", basis, _HELD)


def _beside(line: Line, base: Line, ran: MethodResult) -> list[Row]:
    """Time, mean H and participation: predicted where they are nearer than the base run's own."""
    answers, base_answers, base_h = (
        numbers(line, "responses")[0],
        *numbers(base, "responses", "mean_h"),
    )
    ours = {
        "train_s": (ran.wall_clock_s, "s"),
        "mean_h": (base_h * base_answers / answers, "steps"),
        "participation_pct": (100 * (ran.participation or 0.0), "%"),
    }
    found = []
    for column, (value, unit) in ours.items():
        (guess,) = numbers(base, column)
        nearer = (line["run"], column) in _NEARER
        basis = predicted(guess, _SAME, system=_SYSTEM) if nearer else _NO_NEARER
        if column == "train_s" and line["run"] == "q4":
            basis = _SLOWER
        found.append(_row(line, column, value, unit, basis))
    return found


_NAMES = {
    "merges": "merges",
    "sync_gb": "data exchanged",
    "train_s": "time of training",
    "mean_h": "mean H between answers",
    "participation_pct": "participation",
}


def _row(
    line: Line,
    column: str,
    value: float,
    unit: str,
    basis: Basis,
    held: Tolerance = REPORTED_BESIDE,
) -> Row:
    return Row(
        _NAMES[column],
        line["run"],
        value,
        unit,
        numbers(line, column)[0],
        held,
        line["source"].split(":")[0],
        settled=True,
        basis=basis,
    )
