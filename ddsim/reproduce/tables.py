"""Published bandwidths without failures: two tables, the hours at 1 Gbit/s, a page's curves."""

from collections import Counter

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
from ddsim.figures.beside import Line as LineStyle
from ddsim.figures.style import METHOD_COLOURS, words
from ddsim.reference import Row as Line
from ddsim.reference import numbers, rows
from ddsim.reproduce.basis import declined, identity
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import EXACT, Row, Tolerance

_TABLES = ("streaming_diloco_bandwidth_table4", "eager_updates_bandwidth_table5")
_DRAWN = "10B"  # the model whose rows are drawn
_DARKER = "#7a2f57"  # of Streaming DiLoCo's colour, for its rows with 4 bits
_LINES: tuple[LineStyle, ...] = ("solid", "dashed", "dotted", "dashdot")
_HOURS = {"data_parallel": Tolerance(0.005, relative=True)}
_STEP = 0.1  # seconds, of the 1B model
_OTHER_HOURS = Tolerance(0.015, relative=True)
_PAGE = Tolerance(0.02)
_OWN_FORMULA = identity("the table's own formula, on its own grid of bandwidths")
_HOURS_FORMULA = identity("the hours without a limit over the utilization that the table finds")
_PAGE_FORMULA = identity("the page's own formulas")
_WRONG_UNIT = declined("its terabytes are no count of the bits that are sent")
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
            basis=_OWN_FORMULA,
        )
        for target in TARGETS
    ]


def _required_figure(lines: list[list[Row]]) -> Axes:
    curves = []
    drawn: Counter[str] = Counter()
    for cells in lines:
        name = cells[0].cell.removeprefix(f"{_DRAWN} ").rsplit(",", 1)[0]
        colour = _colour(name)
        curves.append(
            Curve(
                name,
                colour,
                [100 * target for target in TARGETS],
                [row.simulated for row in cells],
                [row.published or 0.0 for row in cells],
                line=_LINES[drawn[colour] % len(_LINES)],
            )
        )
        drawn[colour] += 1
    return beside(
        curves,
        title=f"Bandwidth that each method needs: {_DRAWN} model, two sites",
        x="compute utilization (%)",
        y="required bandwidth (Gbit/s)",
        log_y=True,
        ticks=[100 * target for target in TARGETS],
    )


def _colour(name: str) -> str:
    if name.startswith("Streaming"):
        return _DARKER if "FP4" in name else METHOD_COLOURS["streaming_diloco"]
    return METHOD_COLOURS["diloco" if "DiLoCo" in name else "data_parallel"]


@reproduction("hours", "Hours of training at 1 Gbit/s: arXiv 2501.18512 Table 1")
def hours(pace: Pace) -> Found:
    """Wall-clock of a 1B model, and what is sent; the published hours have two digits and more."""
    found, sent = [], []
    for line in rows("streaming_diloco_hours_table1"):
        read = table_row("1B", 24, _STEP, line["method"].replace("overlapped", "overlapped tau=1"))
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
                basis=_HOURS_FORMULA,
            )
        )
        sent.append(_exchanged(line, infinite))
    return Found(
        [*found, *sent],
        {"hours": _hours_figure(found)},
        "The amount exchanged is printed in terabytes; 16 or 4 bits of a billion parameters for "
        "each exchange are within 13% of it in terabits, the same for every row, and 8 times off "
        "in terabytes. It is reported beside, in terabits.",
    )


def _exchanged(line: Line, infinite: float) -> Row:
    """What one site sends in one direction: all parameters once an exchange."""
    steps = infinite * 3600 / _STEP
    streaming = line["method"].startswith("Streaming")
    exchanges, bits = (steps / 100, 4) if streaming else (steps, 16)
    (theirs,) = numbers(line, "terabytes_exchanged")
    return Row(
        "data exchanged",
        f"{line['method']}, {line['token_budget']}",
        exchanges * bits * 1e9 / 1e12,
        "Tbit",
        theirs,
        source=line["source"],
        settled=True,
        basis=_WRONG_UNIT,
    )


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
            basis=_PAGE_FORMULA,
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
        title="Utilization against bandwidth, 10B model, two sites",
        x="bandwidth of a site, each way (Gbit/s)",
        y="compute utilization (%)",
        log_x=True,
        ticks=gbps,
    )
