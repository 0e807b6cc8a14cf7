"""Fast and slow learners together: what a quorum costs, and what the grace window gives back."""

from collections.abc import Callable
from dataclasses import replace
from statistics import fmean

import ddsim
from ddsim.figures.bars import bars
from ddsim.figures.style import METHOD_COLOURS
from ddsim.reference import rows
from ddsim.reproduce.basis import calibrated, identity
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import Row, Tolerance
from ddsim.results import MethodResult
from ddsim.results.interval import half_width

_SETTINGS = {"K=8": (8, 0.5), "K=1": (1, 0.0), "K=1 with grace": (1, 0.5)}
_TOLERANCES = {"K=8": Tolerance(2.0), "K=1": Tolerance(1.0), "K=1 with grace": Tolerance(1.0)}
_NOBODY = identity("a learner that waits for nobody is never idle")
_BASES = {
    "K=8": calibrated("the 18% and 10%; what the 84% is a share of was chosen by what is near it"),
    "K=1": _NOBODY,
    "K=1 with grace": _NOBODY,
}
_FAST, _SLOW, _MERGED = "goodput of fast chips", "merges with a slow learner", "merged share"
_COLOURS = {_FAST: METHOD_COLOURS["decoupled_diloco"], _SLOW: "#4d4d4d", _MERGED: "#bbbbbb"}


@reproduction("mixed", "Four fast and four slow learners: arXiv 2604.21428")
def mixed(pace: Pace) -> Found:
    """Goodput of the fast chips at three settings; participation and merged share are drawn."""
    published = {
        line["setting"]: line
        for line in rows("decoupled_diloco_reported")
        if line["topic"] == "mixed"
    }
    found = []
    for setting, (quorum, grace) in _SETTINGS.items():
        ran = _runs(quorum, grace, pace)
        line = published[setting]
        for name, (unit, of) in _QUANTITIES.items():
            values = [100 * of(result) for result in ran]
            row = Row(name, setting, fmean(values), unit, half_width=half_width(values))
            if name == _FAST:
                theirs, held = float(line["value"]), _TOLERANCES[setting]
                row = replace(row, published=theirs, tolerance=held, source=line["source"])
                row = replace(row, basis=_BASES[setting])
            found.append(row)
    names = (_FAST, _SLOW, _MERGED)
    mine = {name: [row for row in found if row.quantity == name] for name in names}
    series = {name: [row.simulated for row in of] for name, of in mine.items()}
    ax = bars(
        list(_SETTINGS),
        series,
        _COLOURS,
        title="Four fast and four slow learners, 18% apart, 10% jitter",
        y="share (%)",
        published={_FAST: [row.published or 0.0 for row in mine[_FAST]]},
        half_width={name: [row.half_width or 0.0 for row in of] for name, of in mine.items()},
    )
    return Found(
        found,
        {"mixed": ax},
        "The published 84% is read as the goodput of the fast learners, which wait for the slow. "
        "Means of eight runs of half an hour, with 95% intervals.",
    )


def _runs(quorum: int, grace: float, pace: Pace) -> list[MethodResult]:
    """Runs with other jitter each; a coarse pass has two, and shorter ones."""
    changes: dict[str, object] = {"training.quorum": quorum, "training.grace": grace}
    changes["duration"] = "10 min" if pace.quick else "30 min"
    scenario = ddsim.load("heterogeneous_hardware", changes)
    seeds = range(1, 3 if pace.quick else 9)
    return [ddsim.run(scenario, seed=seed)["decoupled_diloco"] for seed in seeds]


def _participation(result: MethodResult) -> float:
    """Share of the merges that a slow learner could be in in which it is."""
    taken = sum(name.startswith("slow") for merge in result.merges for name in merge.learners)
    return taken / 4 / len(result.merges)


_QUANTITIES: dict[str, tuple[str, Callable[[MethodResult], float]]] = {
    _FAST: ("points", lambda result: result.goodput_by_chip_type["fast"]),
    "goodput of all chips": ("points", lambda result: result.goodput),
    _SLOW: ("%", _participation),
    _MERGED: ("%", lambda result: result.merged_share or 0.0),
}
"""The unit of each, and how a run gives it as a share."""
