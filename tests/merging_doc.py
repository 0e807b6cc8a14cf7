"""The tables and the figure of docs/merging.md.

`python tests/merging_doc.py --write [NAME ...]` makes them afresh, `figure` among the names, all in
about ten minutes on two cores.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import ddsim
from ddsim.figures import style
from ddsim.figures.gallery import write_figure
from ddsim.scenario import Scenario
from ddsim.study import plan

PAGE = Path(__file__).parent.parent / "docs" / "merging.md"
FIGURE = PAGE.with_suffix(".png")
METHOD = "decoupled_diloco"
_BLOCK = re.compile(r"<!-- table: (?P<name>\w+) -->\n(?P<text>.*?)<!-- end -->", re.DOTALL)
_HISTORIES = 4
_SHORT = {"duration": "6 h", "training.grace": 0.9}
_LINKS = {"failures.chip_mtbi": "never", "network.bandwidth": "4 Gbit/s"}
GBPS = (2, 3, 4, 5)
JITTERS = (0, 0.001, 0.01, 0.05, 0.1)
QUORUMS = (1, 2, 3, 4)
LOWS = (0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0)
TIMEOUTS = ("1 s", "1.5 s", "2 s", "4 s", "8 s", "16 s", "60 s", "never")
_LINES = ("never", "30 s")
VARIED: Mapping[str, Sequence[object]] = {
    "training.overlap_steps": (0, 1, 2, 3, 4, 6, 8),
    "training.quorum": QUORUMS,
    "training.grace": (0, 0.25, 0.5, 0.75, 0.9, 0.99),
    "network.bandwidth": ("1 Gbit/s", "2 Gbit/s", "3 Gbit/s", "5 Gbit/s", "10 Gbit/s"),
}
"""What is varied alone, everything else as shipped; then three of them together."""
TOGETHER: Mapping[str, Sequence[object]] = {
    "training.overlap_steps": (1, 2, 4, 6),
    "training.quorum": (1, 2, 4),
    "training.grace": (0, 0.5, 0.9),
}


@dataclass(frozen=True)
class Point:
    """What came out at one place: its label, merged goodput and goodput."""

    label: str
    merged: float
    goodput: float


def world(changes: Mapping[str, object] | None = None) -> Scenario:
    """The shipped scenario for some hours, with the default grace."""
    return ddsim.load("four_regions_12b", {**_SHORT, **(changes or {})})


def one_link(low: float, timeout: str) -> dict[str, object]:
    """Three links that never change, and one that is at `low` of its rate a third of the time."""
    two_state = {"low": low, "high_for": "20 min", "low_for": "10 min"}
    steady: dict[str, object] = {name: {} for name in ("us-central", "us-east", "us-south")}
    return {
        **_LINKS,
        "network.regions": {**steady, "us-west": {"random": {"two_state": two_state}}},
        "network.ring_timeout": timeout,
    }


def every_link(timeout: str) -> dict[str, object]:
    """Three links whose rates wander, and one that is all but cut a third of the time."""
    wanders = {"lognormal": {"sigma": 0.3, "correlation": "5 min", "every": "30 s"}}
    two_state = {"low": 0.02, "high_for": "20 min", "low_for": "10 min"}
    others = {name: {"random": wanders} for name in ("us-central", "us-east", "us-south")}
    return {
        **_LINKS,
        "network.regions": {**others, "us-west": {"random": {"two_state": two_state}}},
        "network.ring_timeout": timeout,
    }


def point(label: object, changes: Mapping[str, object], histories: int = 2) -> Point:
    """What a world gives."""
    result = ddsim.run(world(changes), [METHOD], replications=histories)[METHOD]
    return Point(str(label), result.merged_goodput, result.goodput)


def _study(vary: Mapping[str, Sequence[object]], histories: int) -> ddsim.Study:
    vary = {path: list(values) for path, values in vary.items()}
    jobs = os.cpu_count() or 1
    return ddsim.sweep(world(), vary, methods=[METHOD], replications=histories, jobs=jobs)


@cache
def alone(path: str) -> list[Point]:
    """The sweep of one path."""
    frame = _study({path: VARIED[path]}, _HISTORIES).summary()
    columns = (frame[path], frame["merged_goodput"], frame["goodput"])
    return [Point(str(a), float(b), float(c)) for a, b, c in zip(*columns, strict=True)]


@cache
def lows(timeout: str) -> list[Point]:
    """The link of two states, from mild to cut."""
    return [point(f"{100 * low:g}%", one_link(low, timeout)) for low in LOWS]


@cache
def timeouts() -> list[Point]:
    """The timeout, on links all of which vary."""
    return [point(timeout, every_link(timeout)) for timeout in TIMEOUTS]


def best(points: Sequence[Point]) -> Point:
    """The point of the highest merged goodput."""
    return max(points, key=lambda item: item.merged)


def _table(head: Iterable[object], body: Iterable[Iterable[object]]) -> str:
    lines = [[str(cell) for cell in line] for line in (head, *body)]
    rule = ["---"] + ["---:"] * (len(lines[0]) - 1)
    return "".join(f"| {' | '.join(line)} |\n" for line in (lines[0], rule, *lines[1:]))


def shares() -> str:
    """Merged share by bandwidth, jitter and quorum."""
    rates = [f"{gbps} Gbit/s" for gbps in GBPS]
    vary = {"network.bandwidth": rates, "cluster.jitter": JITTERS, "training.quorum": QUORUMS}
    frame = _study(vary, 2).summary()
    places = zip(*(frame[path] for path in vary), strict=True)
    found = dict(zip(places, frame["merged_share"], strict=True))
    body = [
        (rate, f"{100 * jitter:g}%", *(f"{found[rate, jitter, k]:.3f}" for k in QUORUMS))
        for rate in rates
        for jitter in JITTERS
    ]
    return _table(("bandwidth", "jitter", *(f"K = {k}" for k in QUORUMS)), body)


def choices() -> str:
    """Where merged goodput has its best, and what `ddsim plan` chooses."""
    body = []
    for path in VARIED:
        top = best(alone(path))
        body.append((path, top.label, f"{top.merged:.4f}", *_planned({path: VARIED[path]})))
    frame = _study(TOGETHER, _HISTORIES).summary()
    row = frame.sort_values("merged_goodput", ascending=False, kind="stable").iloc[0]
    labels = ", ".join(str(row[path]) for path in TOGETHER)
    merged = f"{row['merged_goodput']:.4f}"
    body.append((", ".join(TOGETHER), labels, merged, *_planned(TOGETHER)))
    head = ("varied", "best of all", "merged goodput", "plan's choice", "merged goodput", "runs")
    return _table(head, body)


def _planned(vary: Mapping[str, Sequence[object]]) -> tuple[str, str, str]:
    vary = {path: list(values) for path, values in vary.items()}
    jobs = os.cpu_count() or 1
    found = plan(world(), vary, methods=[METHOD], replications=_HISTORIES, jobs=jobs)
    labels = ", ".join(str(found.best.settings[path]) for path in vary)
    return labels, f"{found.best.value:.4f}", f"{found.runs} of {found.exhaustive}"


def link() -> str:
    """A link whose low rate goes from mild to nothing, by the ring's timeout."""
    rows = zip(*(lows(timeout) for timeout in _LINES), strict=True)
    body = [
        (row[0].label, *(f"{x:.3f}" for item in row for x in (item.goodput, item.merged)))
        for row in rows
    ]
    columns = [f"{what}, {name}" for name in _LINES for what in ("goodput", "merged goodput")]
    return _table(("low rate", *columns), body)


def patience() -> str:
    """The ring's timeout, on links all of which vary."""
    body = [(item.label, f"{item.goodput:.3f}", f"{item.merged:.3f}") for item in timeouts()]
    return _table(("`network.ring_timeout`", "goodput", "merged goodput"), body)


MAKERS: dict[str, Callable[[], str]] = {
    maker.__name__: maker for maker in (shares, choices, link, patience)
}


def figure() -> Axes:
    """Merged goodput and goodput over what is varied, the best marked."""
    axes: list[Axes] = list(style.own_figure(6.6).subplots(3, 2, sharey=True).flat)
    panels = [(path, alone(path)) for path in VARIED]
    panels += [("low rate of one link", lows("30 s")), ("network.ring_timeout", timeouts())]
    for ax, (name, points) in zip(axes, panels, strict=True):
        _panel(ax, name, points)
    dashed = lows("never")
    colour = style.method_colour(METHOD)
    low = axes[4]
    low.plot(range(len(dashed)), [item.merged for item in dashed], ":", color=colour)
    handles = [
        Line2D([], [], color=colour, marker="o", markersize=3, label="merged goodput"),
        Line2D([], [], color=colour, linestyle=":", label="merged goodput, ring_timeout: never"),
        Line2D([], [], color="#969696", linestyle="--", label="goodput"),
        Line2D([], [], color=style.INK, linestyle="", marker="o", mfc="none", label="best"),
    ]
    style.legend_below(axes[0], handles, 2)
    return low


def _panel(ax: Axes, name: str, points: Sequence[Point]) -> None:
    places = range(len(points))
    colour = style.method_colour(METHOD)
    ax.plot(places, [item.goodput for item in points], "--", color="#969696", linewidth=1)
    ax.plot(places, [item.merged for item in points], "-o", color=colour, markersize=3)
    top = points.index(best(points))
    ax.plot([top], [points[top].merged], "o", mfc="none", mec=style.INK, markersize=9)
    names = [item.label.replace(" Gbit/s", "") for item in points]
    style.name_places(ax.xaxis, places, names)
    unit = " (Gbit/s)" if name.endswith("bandwidth") else ""
    ax.set_xlabel(name + unit)
    style.dress(ax)
    ax.grid(axis="y", color=style.GRID, linewidth=0.8)
    ax.set_ylim(0, 1.04)
    if len(points) > len(QUORUMS):
        ax.tick_params(axis="x", labelsize=7)


def blocks() -> dict[str, str]:
    """The tables as they stand in the page, by name."""
    text = PAGE.read_text(encoding="utf-8")
    return {match["name"]: match["text"] for match in _BLOCK.finditer(text)}


def _kept(match: re.Match[str], name: str, made: str) -> str:
    return made if match["name"] == name else match[0]


def write(names: Sequence[str] = ()) -> None:
    """Put the tables into the page, and the figure beside it: all, or those of these names."""
    wanted = names or [*MAKERS, "figure"]
    for name in MAKERS:
        if name in wanted:
            made = f"<!-- table: {name} -->\n{MAKERS[name]()}<!-- end -->"
            text = PAGE.read_text(encoding="utf-8")
            text = _BLOCK.sub(partial(_kept, name=name, made=made), text)
            PAGE.write_text(text, encoding="utf-8")
    if "figure" in wanted:
        write_figure(figure(), FIGURE)


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        raise SystemExit(__doc__)
    write(sys.argv[2:])
