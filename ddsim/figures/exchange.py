"""One method in time: what its units did, who took part in merges, how busy the links were."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ddsim.figures import style
from ddsim.figures.timeline import timeline
from ddsim.results import MethodResult, Results

FloatArray = NDArray[np.float64]

_BINS = 240
_HEIGHTS = (2.2, 1.0, 1.0)
_STRUCK = ("detection", "failed_hardware")


def exchange(results: Results, method: str, bins: int = _BINS) -> Axes:
    """Draw three panels over time, and return the first.

    Its units with a mark at every failure that stops one; the mean share of the learners in the
    merges that arrive; and the share of the time in which a merge is under way on the links. The
    last two are means over `bins` equal parts of the time.
    Raises KeyError for a method without result and ValueError where it kept no timeline or no
    merges.
    """
    item = results[method]
    if not item.merges:
        raise ValueError(f"{method} kept no log of merges")
    learners = len({span.unit for span in item.timeline})
    figure = style.own_figure(3.7 + 0.2 * min(learners, 12))
    panels: Sequence[Axes] = figure.subplots(3, 1, sharex=True, height_ratios=_HEIGHTS).tolist()
    top, middle, bottom = panels
    timeline(results, method, ax=top)
    scale = _scale(top, item)
    edges = np.linspace(0.0, max(span.end for span in item.timeline), bins + 1)
    names = [label.get_text() for label in top.get_yticklabels()]
    rows = dict(zip(names, top.get_yticks(), strict=True))
    struck = [
        (at / scale, rows[name])
        for unit, at in failures(item)
        if (name := style.plain(unit)) in rows
    ]
    if struck:
        across, down = np.array(struck).T
        looks: dict[str, Any] = {"mfc": "white", "mec": style.INK, "mew": 0.9}
        top.plot(across, down - 0.18, "v", markersize=5.5, linestyle="none", **looks)
    colour = style.method_colour(method)
    shares = (
        (middle, participation(item, edges, learners), "learners in\nmerges (%)"),
        (bottom, busy(item, edges), "links busy\n(%)"),
    )
    for ax, share, label in shares:
        ax.stairs(100 * share, edges / scale, color=colour, linewidth=1.2, baseline=None)
        style.dress(ax)
        ax.set_ylim(0, 105)
        ax.set_yticks([0, 50, 100])
        ax.set_ylabel(label, fontsize=style.SMALL)
    bottom.set_xlabel(top.get_xlabel())
    top.set_xlabel("")
    return top


def participation(item: MethodResult, edges: FloatArray, learners: int) -> FloatArray:
    """Mean share of the learners in the merges that arrive between two edges; nan where none do."""
    arrivals = np.array([merge.arrival for merge in item.merges])
    shares = np.array([len(merge.learners) / learners for merge in item.merges])
    count, _ = np.histogram(arrivals, edges)
    total, _ = np.histogram(arrivals, edges, weights=shares)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / count, dtype=np.float64)


def busy(item: MethodResult, edges: FloatArray) -> FloatArray:
    """Share of the time between two edges in which at least one merge is under way.

    In a thinned log each merge stands for those up to the next, one after another.
    """
    spans = np.array(sorted((merge.start, merge.arrival) for merge in item.merges))
    if item.merges_every > 1:
        starts, ends = spans.T
        following = np.append(starts[1:], np.inf)
        spans[:, 1] = np.minimum(starts + item.merges_every * (ends - starts), following)
    starts, ends = np.array(_union(spans.tolist())).T
    covered = np.concatenate([[0.0], np.cumsum(ends - starts)])
    # time covered up to t: all whole spans that began before, less what of the last is beyond t
    before = np.searchsorted(starts, edges, side="right")
    beyond = np.where(before > 0, np.maximum(0.0, ends[before - 1] - edges), 0.0)
    share = np.diff(covered[before] - beyond) / np.diff(edges)
    return np.asarray(share, dtype=np.float64)


def _union(spans: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def failures(item: MethodResult) -> list[tuple[str, float]]:
    """Units that are struck, and when: each time that one stops which was not down before."""
    before: dict[str, str] = {}
    struck = []
    for span in item.timeline:
        if span.state in _STRUCK and before.get(span.unit, "") not in _STRUCK:
            struck.append((span.unit, span.start))
        before[span.unit] = span.state
    return struck


def _scale(ax: Axes, item: MethodResult) -> float:
    """Seconds of one unit of the time axis."""
    return max(span.end for span in item.timeline) / ax.get_xlim()[1]
