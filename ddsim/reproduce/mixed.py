"""Fast and slow learners together: what a quorum costs, and what the grace window gives back."""

import ddsim
from ddsim.figures.bars import bars
from ddsim.figures.style import METHOD_COLOURS
from ddsim.reference import rows
from ddsim.reproduce.basis import calibrated, identity
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import Row, Tolerance
from ddsim.results import MethodResult

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
        result = _run(quorum, grace, "20 min" if pace.quick else "4 h")
        line = published[setting]
        fast = 100 * result.goodput_by_chip_type["fast"]
        theirs, held = float(line["value"]), _TOLERANCES[setting]
        found += [
            Row(
                _FAST,
                setting,
                fast,
                "points",
                theirs,
                held,
                line["source"],
                basis=_BASES[setting],
            ),
            Row("goodput of all chips", setting, 100 * result.goodput, "points"),
            Row(_SLOW, setting, 100 * _participation(result), "%"),
            Row(_MERGED, setting, 100 * (result.merged_share or 0.0), "%"),
        ]
    names = (_FAST, _SLOW, _MERGED)
    series = {name: [row.simulated for row in found if row.quantity == name] for name in names}
    ax = bars(
        list(_SETTINGS),
        series,
        _COLOURS,
        title="Four fast and four slow learners, 18% apart, 10% jitter",
        y="share (%)",
        published={_FAST: [row.published or 0.0 for row in found if row.quantity == _FAST]},
    )
    return Found(
        found,
        {"mixed": ax},
        "The published 84% is read as the goodput of the fast learners, which wait for the slow.",
    )


def _run(quorum: int, grace: float, duration: str) -> MethodResult:
    changes = {"duration": duration, "training.quorum": quorum, "training.grace": grace}
    return ddsim.run(ddsim.load("heterogeneous_hardware", changes))["decoupled_diloco"]


def _participation(result: MethodResult) -> float:
    """Share of the merges that a slow learner could be in in which it is."""
    taken = sum(name.startswith("slow") for merge in result.merges for name in merge.learners)
    return taken / 4 / len(result.merges)
