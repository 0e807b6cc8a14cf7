"""The published goodput table: 150,000 to 2.4 million chips, a failure a year per chip."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes

import ddsim
from ddsim.figures.beside import Curve, beside
from ddsim.figures.beside import Line as LineStyle
from ddsim.figures.style import METHOD_COLOURS, words
from ddsim.reference import Row as Line
from ddsim.reference import numbers, rows
from ddsim.reproduce.basis import calibrated
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import Row, Tolerance
from ddsim.study.measures import values_of
from ddsim.study.statistics import estimate
from ddsim.study.work import Row as Numbers
from ddsim.world.streams import stream

_SCENARIO = "goodput_vs_chips"
_LEARNERS = (2, 4, 8, 16)
_CHIPS = (150_000, 300_000, 600_000, 1_200_000, 2_400_000)
_HELD = Tolerance(4.5)
_RESTARTS_HELD = Tolerance(5.0)
_UPTIME = Tolerance(0.01, at_least=True)
# learners -> most chips up to which an uptime of 100% is held
_UPTIME_HELD = {4: 600_000, 8: 2_400_000, 16: 2_400_000}
_UPTIME_FROM = 4  # learners, of the published sentence
_CHOSEN = calibrated("stalls, repair and slices were chosen to bring this table about")
_LINES: dict[int, LineStyle] = {2: "dotted", 4: "dashdot", 8: "dashed", 16: "solid"}


def _study(pace: Pace) -> "ddsim.Study":
    """The table's cells, on common histories of a day each (of 6 hours in a coarse pass)."""
    scenario = ddsim.load(
        _SCENARIO, {"cluster.learners": 1, "duration": "6 h" if pace.quick else "1 day"}
    )
    return ddsim.sweep(
        scenario,
        {
            "cluster.chips": list(_CHIPS),
            "decoupled_diloco": {"cluster.learners": list(_LEARNERS)},
        },
        replications=3 if pace.quick else 20,
        metric="goodput",
        half_width=None if pace.quick else 0.005,
        most=60,
        jobs=pace.jobs,
    )


@reproduction("goodput", "Goodput and uptime against chips: arXiv 2604.21428 Table 1")
def goodput(pace: Pace) -> Found:
    """Goodput of all 30 cells, and the uptime of those with four learners and more."""
    study = _study(pace)
    published = {
        (line["method"], int(line["learners"]), int(line["n_chips"])): line
        for line in rows("decoupled_goodput_table1")
    }
    cells = {}
    for cell in study.done:
        learners = int(cell.settings.get("cluster.learners", 1))
        cells[cell.method, learners, int(cell.settings["cluster.chips"])] = study.rows[cell.index]
    goodputs = {key: _goodput(key, line, cells[key]) for key, line in published.items()}
    uptimes = {key: _uptime(key, cells[key]) for key in published if key[1] > 1}
    found = [*goodputs.values(), *uptimes.values()]
    elastic = [row for key, row in goodputs.items() if key[0] != "data_parallel"]
    rms = math.sqrt(math.fsum((row.error or 0.0) ** 2 for row in elastic) / len(elastic))
    return Found(
        found,
        {
            "goodput": _figure(goodputs, "Goodput", 0.0),
            "uptime": _figure(uptimes, "Uptime", 80.0),
        },
        "One set of values for all cells; stalls, repair and slices are effective values, for the "
        f"paper's own are not public. Elastic and decoupled cells: RMSE {rms:.2f} points. Uptime "
        "is held where 8 learners and more, or 4 on at most 600,000 chips, can reach it, and "
        "reported beside elsewhere.",
    )


def _goodput(key: tuple[str, int, int], line: Line, ran: Sequence[Numbers]) -> Row:
    method, learners, chips = key
    found = estimate(values_of(ran, "goodput"), stream(0, "validation"))
    (theirs,) = numbers(line, "goodput_pct")
    return Row(
        "goodput",
        f"{method}, M={learners}, {chips:,} chips",
        100 * found.mean,
        "points",
        theirs,
        _RESTARTS_HELD if method == "data_parallel" else _HELD,
        line["source"],
        100 * found.half_width,
        basis=_CHOSEN,
    )


def _uptime(key: tuple[str, int, int], ran: Sequence[Numbers]) -> Row:
    method, learners, chips = key
    values = values_of(ran, "uptime")
    line = next(line for line in rows("decoupled_diloco_reported") if line["topic"] == "uptime")
    held = chips <= _UPTIME_HELD.get(learners, 0)
    reported = learners >= _UPTIME_FROM
    return Row(
        "uptime",
        f"{method}, M={learners}, {chips:,} chips",
        100 * math.fsum(values) / len(values),
        "points",
        float(line["value"]) if reported else None,
        _UPTIME if held else Tolerance(),
        line["source"] if reported else "",
        basis=_CHOSEN if reported else None,
    )


def _figure(found: dict[tuple[str, int, int], Row], what: str, least: float) -> Axes:
    curves = []
    for method, learners in dict.fromkeys((method, learners) for method, learners, _ in found):
        mine = [(key[2], row) for key, row in found.items() if key[:2] == (method, learners)]
        curves.append(
            Curve(
                words(method) + (f", M = {learners}" if learners > 1 else ""),
                METHOD_COLOURS[method],
                [float(chips) for chips, _ in mine],
                [row.simulated for _, row in mine],
                [math.nan if row.published is None else row.published for _, row in mine],
                [row.half_width for _, row in mine if row.half_width is not None],
                _LINES.get(learners, "solid"),
            )
        )
    return beside(
        curves,
        title=f"{what} against chips, a failure a year per chip",
        x="chips",
        y=f"{what.lower()} (%)",
        log_x=True,
        ticks=[float(chips) for chips in _CHIPS],
        between=(least, 101),
    )
