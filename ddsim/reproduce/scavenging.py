"""Compute that is there for a part of each day: who turns it into training."""

from collections.abc import Sequence
from statistics import fmean

import ddsim
from ddsim.figures.bars import bars
from ddsim.figures.style import METHOD_COLOURS, words
from ddsim.reference import rows
from ddsim.reproduce.basis import Basis, calibrated, identity, predicted
from ddsim.reproduce.registry import Conclusion, Found, Pace, reproduction
from ddsim.reproduce.rows import Row
from ddsim.results.interval import half_width

_METHODS = ("data_parallel", "decoupled_diloco")
_ADDED = {0: 0, 25: 1, 50: 2, 100: 4, 300: 12}  # percent -> units beside the four
_HOME = 4
_THERE = 8 / 24  # share of a day
_ITSELF = identity("relative to itself")
_HOURS = calibrated("eight hours of each day were chosen with these times in view")
_GLOBAL_BATCH = (
    "The published job loses more by what comes and goes than it gains: its restarts must be "
    "longer, or its compute come and go more often, than here."
)


@reproduction("scavenging", "Training time with borrowed compute: arXiv 2604.21428")
def scavenging(pace: Pace) -> Found:
    """Time for the same tokens, relative to none borrowed."""
    published = {
        line["setting"]: line
        for line in rows("decoupled_diloco_reported")
        if line["topic"] == "scavenging"
    }
    found = []
    for method in _METHODS:
        alone = _tokens_per_hour(method, 0, pace)
        for percent, units in _ADDED.items():
            rates = _tokens_per_hour(method, units, pace) if units else alone
            times = [one / other for one, other in zip(alone, rates, strict=True)]
            setting = f"{method} +{percent}%"
            line = published[setting]
            theirs = float(line["value"])
            found.append(
                Row(
                    "training time",
                    setting,
                    fmean(times),
                    "x",
                    theirs,
                    source=line["source"],
                    half_width=half_width(times) if units else None,
                    basis=_basis(method, percent),
                )
            )
    groups = [f"+{percent}%" for percent in _ADDED]
    mine = {name: [row for row in found if row.cell.startswith(name)] for name in _METHODS}
    ax = bars(
        groups,
        {words(name): [row.simulated for row in of] for name, of in mine.items()},
        {words(name): METHOD_COLOURS[name] for name in _METHODS},
        title="Training time with compute borrowed for 8 hours a day",
        y="time for the same tokens (x)",
        x="borrowed compute",
        published={words(name): [row.published or 0.0 for row in of] for name, of in mine.items()},
        half_width={
            words(name): [row.half_width or 0.0 for row in of] for name, of in mine.items()
        },
    )
    return Found(
        found,
        {"scavenging": ax},
        "When, for how long and at what batch size the paper's compute was there is not known; "
        "here it is four units, and others for 8 hours of each day, as large as those, on links "
        "without limit. Means of histories of failures, with 95% intervals.",
        [_slowed(found)],
    )


def _basis(method: str, percent: int) -> Basis:
    if not percent:
        return _ITSELF
    if method != "data_parallel":
        return _HOURS
    return predicted(
        1 / (1 + _THERE * percent / 100),
        "in proportion to the compute that is there, eight hours a day",
        beyond=_GLOBAL_BATCH,
    )


def _slowed(found: Sequence[Row]) -> Conclusion:
    some = [row for row in found if row.cell in ("data_parallel +25%", "data_parallel +50%")]
    return Conclusion(
        "Borrowed compute slows data-parallel: +25% and +50% take "
        f"{' and '.join(f'{row.published:g}' for row in some)} times as long.",
        f"Here they take {' and '.join(f'{row.simulated:.2f}' for row in some)} times as long.",
        all(row.simulated > 1 for row in some),
        "Longer stalls, or more comings and goings, would bring it about: with +25% for a third of "
        "the time the gain is a twelfth, which an hour a coming and a going takes away.",
    )


def _tokens_per_hour(method: str, units: int, pace: Pace) -> list[float]:
    """Of each history; a coarse pass has two, of a day each."""
    borrowed = [f"borrowed {index}" for index in range(units)]
    home = [f"home {index}" for index in range(_HOME)]
    changes = {
        "cluster.units": [
            {"name": name, "region": "us-central", "chips": 512} for name in (*home, *borrowed)
        ],
        "scavenging": [
            {"target": name, "joins": "8 h", "leaves": "16 h", "every": "1 day", "notice": "2 min"}
            for name in borrowed
        ],
        "training.tokens_per_step": 2**20 * (_HOME + units),
        "network.bandwidth": "unlimited",
        "cluster.jitter": 0,
        "duration": "1 day" if pace.quick else "4 day",
    }
    scenario = ddsim.load("scavenging", changes)
    seeds = range(1, 3 if pace.quick else 6)
    return [ddsim.run(scenario, [method], seed=seed)[method].tokens_per_hour for seed in seeds]
