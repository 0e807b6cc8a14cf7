"""The tables of docs/bandwidth.md, each made by a function.

`python tests/bandwidth_doc.py --write` writes them into the page.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

import ddsim
from ddsim.bandwidth import METHODS, reading_of, step_model, utilization
from ddsim.bandwidth.page import published_page
from ddsim.bandwidth.sensitivity import speed_ratios
from ddsim.bandwidth.tables import (
    TARGETS,
    published_row,
    required_on_grid,
    table_row,
    wall_clock_hours,
)
from ddsim.reference import numbers, rows
from ddsim.theory import measured

PAGE = Path(__file__).parent.parent / "docs" / "bandwidth.md"
_BLOCK = re.compile(r"<!-- table: (?P<name>\w+) -->\n(?P<text>.*?)<!-- end -->", re.DOTALL)
TABLES = ("streaming_diloco_bandwidth_table4", "eager_updates_bandwidth_table5")


def table(head: Iterable[object], body: Iterable[Iterable[object]]) -> str:
    """A table in Markdown."""
    lines = [[str(cell) for cell in line] for line in (head, *body)]
    rule = ["---"] + ["---:"] * (len(lines[0]) - 1)
    return "".join(f"| {' | '.join(line)} |\n" for line in (lines[0], rule, *lines[1:]))


def published() -> str:
    """Cells of the two published tables: exact, one grid step off."""
    body = []
    for name in TABLES:
        exact, off = 0, []
        for row in rows(name):
            read = published_row(row)
            ours = required_on_grid(read.method, read.model, TARGETS, read.reading)
            for target in TARGETS:
                theirs = row[f"gbps_cu{round(100 * target)}"]
                if ours[target] == theirs:
                    exact += 1
                else:
                    place = f"{row['model']} {row['method']} at {target:.0%}"
                    off.append(f"{place}: {ours[target]} for {theirs}")
        source = rows(name)[0]["source"]
        body.append((source, exact, exact + len(off), "; ".join(off) or "none"))
    return table(("table", "exact cells", "of", "the others"), body)


def hours() -> str:
    """Wall-clock at 1 Gbit/s."""
    body = []
    for row in rows("streaming_diloco_hours_table1"):
        read = table_row("1B", 24, 0.1, row["method"].replace("overlapped", "overlapped tau=1"))
        infinite, theirs = numbers(row, "hours_infinite_bw", "hours_1gbps")
        ours = wall_clock_hours(infinite, read, 1.0)
        body.append((f"{row['method']}, {row['token_budget']}", f"{ours:.2f}", f"{theirs:g}"))
    return table(("1B at 1 Gbit/s", "hours here", "published"), body)


def page() -> str:
    """The interactive page's utilizations."""
    given = rows("diloco_bandwidth_page")
    gbps = np.array([numbers(row, "bandwidth_gbps")[0] for row in given])
    ours = published_page(gbps)
    columns = {
        "data_parallel": "data_parallel_cu_pct",
        "diloco": "diloco_h30_cu_pct",
        "streaming_diloco": "streaming_h100_p16_tau1_cu_pct",
    }
    body = []
    for index, row in enumerate(given):
        cells: list[object] = [f"{gbps[index]:g}"]
        for method, column in columns.items():
            cells += [f"{100 * ours[method][index]:.2f}", row[column]]
        body.append(cells)
    head = ["Gbit/s"]
    for method in columns:
        head += [f"{method} here", "published"]
    return table(head, body)


def grid() -> str:
    """The measured grid, simulated with two parameters."""
    body = []
    for row in rows("measured_diloco_grid"):
        rounds, bandwidth, steps, share = numbers(
            row, "H", "link_bps", "budget_steps", "compute_utilization"
        )
        changes = {
            "training.inner_steps": int(rounds),
            "network.bandwidth": f"{bandwidth} bit/s",
            "training.tokens": steps,
        }
        result = ddsim.run(ddsim.load("measured_grid", changes))["diloco"]
        off = 100 * (result.compute_utilization / share - 1)
        body.append(
            (
                f"{rounds:.0f}",
                f"{bandwidth / 1e9:g}",
                f"{steps:.0f}",
                len(result.merges),
                f"{share:.4f}",
                f"{result.compute_utilization:.4f}",
                f"{off:+.1f}%",
            )
        )
    head = ("H", "Gbit/s", "steps", "synchronizations", "measured", "simulated", "off by")
    return table(head, body)


def intellect1() -> str:
    """INTELLECT-1: utilization from its times, and the ring rate that they imply."""
    waits = {"USA": 103.0, "USA+Europe": 382.0, "Global": 469.0}
    known = {
        row["setting"]: row["value"]
        for row in rows("measured_runs")
        if row["run"] == "INTELLECT-1" and row["metric"] == "compute utilization"
    }
    payload = measured.compressed_bits(10e9, 8)
    body = []
    for setting, seconds in waits.items():
        share = measured.blocking_utilization(2280.0, seconds)
        rates = [measured.ring_rate(payload, m, seconds) / 1e9 for m in (4, 14)]
        cells = [f"{rate:.2f}" for rate in rates]
        body.append((setting, f"{seconds:g}", f"{100 * share:.1f}", known[setting], *cells))
    head = (
        "setting",
        "all-reduce (s)",
        "c/(c+m) (%)",
        "published (%)",
        "Gbit/s, ring of 4",
        "Gbit/s, ring of 14",
    )
    return table(head, body)


def covenant() -> str:
    """Covenant-72B: communication time by what counts as payload and link."""
    readings = measured.peer_exchange_readings(72.7e9, 146, 20, 110e6, 500e6)
    body = [
        (f"{r.base_bits:.0f}-bit base, {r.exchange}", f"{r.seconds:.1f}", f"{r.seconds / 70:.2f}")
        for r in readings
    ]
    return table(("reading", "s", "of the published 70 s"), body)


def engine() -> str:
    """The simulated four regions without failures beside the recurrence."""
    gbps = (1.0, 2.0, 3.0, 5.0, 10.0)
    changes = {"failures.chip_mtbi": "never", "cluster.jitter": 0, "duration": "2 h"}
    plan = ddsim.load("four_regions_12b", changes)
    body = []
    for method in METHODS:
        settled = plan.for_method(method)
        curve = utilization(method, step_model(settled), gbps, reading_of(settled, method))
        cells = []
        for each, wanted in zip(gbps, curve.tolist(), strict=True):
            at = plan.with_({"network.bandwidth": f"{each} Gbit/s"})
            ran = ddsim.run(at, [method])[method].compute_utilization
            cells.append(f"{100 * ran:.2f} / {100 * wanted:.2f}")
        body.append((method, *cells))
    return table(("utilization (%), simulated / recurrence", *(f"{x:g}" for x in gbps)), body)


def twenty() -> str:
    """Speed of Decoupled DiLoCo over that of data-parallel."""
    gbps = (1.0, 2.0, 3.0, 5.0, 7.0, 10.0)
    model = step_model(ddsim.load("four_regions_12b"))
    found = speed_ratios(model, gbps, (0.5, 0.87, 1.0, 2.0, 5.0, 10.0), (4.0, 16.0))
    body = [
        (f"{bits:g} bits, {seconds:g} s", *(f"{x:.1f}" for x in ratios))
        for (bits, seconds), ratios in found.items()
    ]
    return table(("outer gradients, compute of a step", *(f"{x:g} Gbit/s" for x in gbps)), body)


MAKERS: dict[str, Callable[[], str]] = {
    maker.__name__: maker
    for maker in (published, hours, page, grid, intellect1, covenant, engine, twenty)
}


def blocks() -> dict[str, str]:
    """The tables as they stand in the page, by name."""
    text = PAGE.read_text(encoding="utf-8")
    return {match["name"]: match["text"] for match in _BLOCK.finditer(text)}


def write() -> None:
    """Put the tables into the page."""
    text = PAGE.read_text(encoding="utf-8")
    made = _BLOCK.sub(
        lambda match: f"<!-- table: {match['name']} -->\n{MAKERS[match['name']]()}<!-- end -->",
        text,
    )
    PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        raise SystemExit(__doc__)
    write()
