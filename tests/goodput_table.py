"""The published goodput table, simulated: `python tests/goodput_table.py` prints its cells with
their half-widths and the time that they took, with `--write` it renews the document.
"""

from __future__ import annotations

import gc
import math
import os
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import ddsim
from ddsim.reference import rows
from ddsim.results import MethodResult, mean_of
from ddsim.results.interval import student_interval
from ddsim.simulation import simulate

DOCUMENT = Path(__file__).parent.parent / "docs" / "validation-goodput.md"
SCENARIO = "goodput_vs_chips"
ELASTIC = "elastic_data_parallel"
HALF_WIDTH = 0.005
UPTIME_DAYS = 10
LEAST_DAYS, MOST_DAYS = 5, 60

# learners -> most chips up to which an uptime of LEAST_UPTIME is held
UPTIME_HELD = {4: 600_000, 8: 2_400_000, 16: 2_400_000}
LEAST_UPTIME = 0.9999


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: a method with so many learners on so many chips."""

    method: str
    learners: int
    chips: int

    @property
    def holds_uptime(self) -> bool:
        """Whether the table's uptime of 100% is held to be reached here."""
        return self.chips <= UPTIME_HELD.get(self.learners, 0)

    @property
    def alone(self) -> Cell:
        """One elastic job on as many chips as one of the learners has."""
        return Cell(ELASTIC, 1, self.chips // self.learners)


@dataclass(frozen=True, slots=True)
class Simulated:
    """A cell's mean over `days` histories of a day each, with the half-width of its goodput."""

    goodput: float
    half_width: float
    uptime: float
    days: int
    strikes: float
    events: float


def published() -> dict[Cell, float]:
    """The table's goodput, as a fraction, by cell."""
    return {
        Cell(row["method"], int(row["learners"]), int(row["n_chips"])): float(row["goodput_pct"])
        / 100
        for row in rows("decoupled_goodput_table1")
    }


def simulate_cell(cell: Cell) -> Simulated:
    """Days are added until the goodput's 95% half-width is small enough, and uptime can tell."""
    scenario = ddsim.load(
        SCENARIO, {"cluster.chips": cell.chips, "cluster.learners": cell.learners}
    ).for_method(cell.method)
    least = UPTIME_DAYS if cell.holds_uptime else LEAST_DAYS
    histories: list[MethodResult] = []
    while True:
        histories.append(simulate(scenario, cell.method, len(histories), timeline=False))
        if len(histories) < least:
            continue
        interval = student_interval([history.goodput for history in histories])
        assert interval is not None
        half_width = (interval[1] - interval[0]) / 2
        if half_width <= HALF_WIDTH or len(histories) == MOST_DAYS:
            mean, days = mean_of(histories), len(histories)
            strikes, events = mean.failures * days, mean.events * days
            return Simulated(mean.goodput, half_width, mean.uptime, days, strikes, events)


def simulate_all(cells: Iterable[Cell], jobs: int = 2) -> dict[Cell, Simulated]:
    """Every cell, the most laborious first; nothing in them is worth a garbage collection."""
    queue = sorted(cells, key=lambda cell: (cell.learners > 2, cell.chips), reverse=True)
    with ProcessPoolExecutor(jobs, initializer=gc.disable) as pool:
        return dict(zip(queue, pool.map(simulate_cell, queue), strict=True))


def table() -> tuple[dict[Cell, Simulated], dict[Cell, Simulated]]:
    """The cells of the table, and one elastic job for each learner's share of chips."""
    cells = list(published())
    alone = {cell.alone for cell in cells if cell.learners > 1} - set(cells)
    found = simulate_all([*cells, *alone])
    return {cell: found[cell] for cell in cells}, found


def errors(simulated: dict[Cell, Simulated], *, learners: bool) -> list[float]:
    """Simulated less published goodput, of the rows that lose a slice, or those that lose all."""
    return [
        simulated[cell].goodput - goodput
        for cell, goodput in published().items()
        if (cell.method != "data_parallel") is learners
    ]


def rms(values: Sequence[float]) -> float:
    """Root of the mean square."""
    return math.sqrt(math.fsum(value * value for value in values) / len(values))


def document(simulated: dict[Cell, Simulated], everything: dict[Cell, Simulated]) -> str:
    """The table as Markdown: what was simulated beside what was published."""
    ours, theirs = errors(simulated, learners=True), errors(simulated, learners=False)
    apart = max(
        abs(found.goodput - everything[cell.alone].goodput)
        for cell, found in simulated.items()
        if cell.learners > 1
    )
    lines = [
        "# Goodput from 150,000 to 2.4 million chips, simulated beside published",
        "",
        "`scenarios/goodput_vs_chips.yaml` with one set of values for all cells, against Table 1",
        "of Decoupled DiLoCo (arXiv 2604.21428): a failure a year per chip. The stalls, the repair",
        "and the slices are effective values; the paper's own are not public. Written by",
        "`python tests/goodput_table.py --write`; a test simulates it afresh.",
        "",
        f"- Elastic and decoupled rows: RMSE {100 * rms(ours):.2f} points, "
        f"{100 * max(map(abs, ours)):.1f} at worst.",
        f"- Row that restarts, `data_parallel`: {100 * max(map(abs, theirs)):.1f} points at worst.",
        f"- M learners on N chips and one elastic job on N/M: {100 * apart:.2f} points apart at "
        "most.",
        "",
        "Goodput in % of chip-time with its 95% half-width, over histories of one day each. The",
        "paper reports an uptime of 100% for its decoupled rows.",
        "",
        "| method | learners | chips | published | simulated | difference | uptime | days |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for cell, goodput in published().items():
        found = simulated[cell]
        lines.append(
            f"| `{cell.method}` | {cell.learners} | {cell.chips:,} | {100 * goodput:.0f} "
            f"| {100 * found.goodput:.1f} ± {100 * found.half_width:.1f} "
            f"| {100 * (found.goodput - goodput):+.1f} | {found.uptime:.5f} | {found.days} |"
        )
    return "\n".join(lines) + "\n"


def _seconds() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _print_cells() -> None:
    """Print the table's cells, and what simulating them took."""
    started, used = perf_counter(), _seconds()
    simulated = simulate_all(published())
    elapsed, used = perf_counter() - started, _seconds() - used
    for cell in published():
        found = simulated[cell]
        sys.stdout.write(
            f"{cell.method:22} {cell.learners:3} {cell.chips:10,}  "
            f"{100 * found.goodput:6.2f} ± {100 * found.half_width:.2f}  "
            f"uptime {found.uptime:.5f}  {found.days} days\n"
        )
    strikes = math.fsum(found.strikes for found in simulated.values())
    events = math.fsum(found.events for found in simulated.values())
    sys.stdout.write(
        f"{len(simulated)} cells in {elapsed:.1f} s, {used:.1f} processor seconds; "
        f"{strikes:,.0f} strikes, {events:,.0f} events\n"
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        DOCUMENT.parent.mkdir(exist_ok=True)
        DOCUMENT.write_text(document(*table()), encoding="utf-8")
    elif not sys.argv[1:]:
        _print_cells()
    else:
        raise SystemExit(__doc__)
