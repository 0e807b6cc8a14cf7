"""Published bandwidths without failures: two tables, the hours at 1 Gbit/s, a page's curves."""

import numpy as np
from matplotlib.axes import Axes

from ddsim.bandwidth.page import published_page
from ddsim.bandwidth.tables import (
    TARGETS,
    TableRow,
    published_row,
    required_on_grid,
    table_row,
    wall_clock_hours,
)
from ddsim.figures.beside import Curve, beside
from ddsim.figures.style import METHOD_COLOURS, words
from ddsim.reference import Row as Line
from ddsim.reference import numbers, rows
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import EXACT, Row, Tolerance

_TABLES = ("streaming_diloco_bandwidth_table4", "eager_updates_bandwidth_table5")
_DRAWN = "10B"  # the model whose rows are drawn
_COLOURS = (  # methods' own where they are known by these rows, then others apart from them
    "#d55e00",
    "#56b4e9",
    "#cc79a7",
    "#882255",
    "#0072b2",
    "#009e73",
    "#e69f00",
    "#7f7f7f",
)
_HOURS = {"data_parallel": Tolerance(0.005, relative=True)}
_OTHER_HOURS = Tolerance(0.015, relative=True)
_PAGE = Tolerance(0.02)
_PAGE_COLUMNS = {
    "data_parallel": "data_parallel_cu_pct",
    "diloco": "diloco_h30_cu_pct",
    "streaming_diloco": "streaming_h100_p16_tau1_cu_pct",
}


@reproduction("bandwidth", "Required bandwidth: arXiv 2501.18512 Table 4, 2502.12996 Table 5")
def bandwidth(pace: Pace) -> Found:
    """Both tables cell by cell; rows that both print count once."""
    found: dict[TableRow, list[Row]] = {}
    for name in _TABLES:
        for line in rows(name):
            found.setdefault(published_row(line), _cells(line))
    drawn = [cells for cells in found.values() if cells[0].cell.startswith(f"{_DRAWN} ")]
    return Found(
        [row for cells in found.values() for row in cells],
        {"bandwidth": _required_figure(drawn)},
        "Read off the tables' own grid of 50 bandwidths and printed as they print; a cell that "
        "misses is one step of that grid off.",
    )


def _cells(line: Line) -> list[Row]:
    read = published_row(line)
    ours = required_on_grid(read.method, read.model, TARGETS, read.reading)
    inner = f" H={line['H']}" if line.get("H") else ""
    return [
        Row(
            "required bandwidth",
            f"{line['model']} {line['method']}{inner}, {target:.0%}",
            float(ours[target]),
            "Gbit/s",
            float(line[f"gbps_cu{round(100 * target)}"]),
            EXACT,
            line["source"],
            settled=True,
        )
        for target in TARGETS
    ]


def _required_figure(lines: list[list[Row]]) -> Axes:
    curves = []
    for index, cells in enumerate(lines):
        curves.append(
            Curve(
                cells[0].cell.removeprefix(f"{_DRAWN} ").rsplit(",", 1)[0],
                _COLOURS[index % len(_COLOURS)],
                [100 * target for target in TARGETS],
                [row.simulated for row in cells],
                [row.published or 0.0 for row in cells],
            )
        )
    return beside(
        curves,
        title=f"Bandwidth that each method needs: {_DRAWN} model, two sites",
        x="compute utilization (%)",
        y="required bandwidth (Gbit/s)",
        log_y=True,
        ticks=[100 * target for target in TARGETS],
        columns=2,
    )


@reproduction("hours", "Hours of training at 1 Gbit/s: arXiv 2501.18512 Table 1")
def hours(pace: Pace) -> Found:
    """Wall-clock of a 1B model; the published hours have two digits and more."""
    found = []
    for line in rows("streaming_diloco_hours_table1"):
        read = table_row("1B", 24, 0.1, line["method"].replace("overlapped", "overlapped tau=1"))
        infinite, theirs = numbers(line, "hours_infinite_bw", "hours_1gbps")
        found.append(
            Row(
                "hours at 1 Gbit/s",
                f"{line['method']}, {line['token_budget']}",
                wall_clock_hours(infinite, read, 1.0),
                "h",
                theirs,
                _HOURS.get(read.method, _OTHER_HOURS),
                line["source"],
                settled=True,
            )
        )
    return Found(found, {"hours": _hours_figure(found)})


def _hours_figure(found: list[Row]) -> Axes:
    curves = []
    for method, rest in (("data_parallel", "Data"), ("streaming_diloco", "Streaming")):
        mine = [row for row in found if row.cell.startswith(rest)]
        budgets = [float(row.cell.rsplit(", ", 1)[1].removesuffix("B")) for row in mine]
        curves.append(
            Curve(
                words(method),
                METHOD_COLOURS[method],
                budgets,
                [row.simulated for row in mine],
                [row.published or 0.0 for row in mine],
            )
        )
    return beside(
        curves,
        title="Training a 1B model over 1 Gbit/s",
        x="tokens (billion)",
        y="wall-clock (h)",
        log_y=True,
        ticks=[25, 100, 250],
    )


@reproduction("page", "Utilization against bandwidth: the page of arthurdouillard.com")
def page(pace: Pace) -> Found:
    """The curves of the interactive page, by its own coarser model."""
    table = rows("diloco_bandwidth_page")
    gbps = np.array([numbers(line, "bandwidth_gbps")[0] for line in table])
    ours = published_page(gbps)
    found = [
        Row(
            "compute utilization",
            f"{method}, {at:g} Gbit/s",
            100 * float(ours[method][index]),
            "%",
            float(table[index][column]),
            _PAGE,
            table[index]["source"],
            settled=True,
        )
        for method, column in _PAGE_COLUMNS.items()
        for index, at in enumerate(gbps)
    ]
    return Found(found, {"page": _page_figure(gbps.tolist(), found)})


def _page_figure(gbps: list[float], found: list[Row]) -> Axes:
    curves = []
    for method in _PAGE_COLUMNS:
        mine = [row for row in found if row.cell.startswith(f"{method},")]
        curves.append(
            Curve(
                words(method),
                METHOD_COLOURS[method],
                gbps,
                [row.simulated for row in mine],
                [row.published or 0.0 for row in mine],
            )
        )
    return beside(
        curves,
        title="Utilization against bandwidth: 10B model, steps of 1 s, two sites",
        x="bandwidth of a site, each way (Gbit/s)",
        y="compute utilization (%)",
        log_x=True,
        ticks=gbps,
    )
