"""Utilization against bandwidth: what each method makes of thinner and thinner links."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator, PercentFormatter

from ddsim.bandwidth import BandwidthStudy, MethodBandwidth
from ddsim.figures import style

_SEEN = 0.01  # curves closer than this look like one


def bandwidth(study: BandwidthStudy, ax: Axes | None = None, given: float | None = None) -> Axes:
    """Draw utilization over nominal bandwidth, one curve a method, required bandwidths as dots.

    A curve that lies on another is dashed. `given` marks the bandwidth, in Gbit/s, that there is.
    """
    if ax is None:
        ax = style.own_axes(3.6)
    for index, item in enumerate(study.results):
        _curve(ax, item, exact=study.exact, dashed=_covered(study.results[:index], item))
    if given is not None and math.isfinite(given):
        ax.axvline(given, color=style.INK, linewidth=0.8, linestyle=":")
        ax.text(
            given,
            1.03,
            f"scenario: {given:g}",
            ha="center",
            va="bottom",
            fontsize=style.SMALL,
            color=style.INK,
        )
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=""))
    ax.set_ylim(0, 1.02)
    points = np.concatenate([item.gbps for item in study.results])
    ax.set_xlim(points.min(), points.max())
    ax.set_xlabel("nominal bandwidth of a site, each way (Gbit/s)")
    ax.set_ylabel("compute utilization (%)")
    style.dress(ax)
    ax.set_title(
        "Utilization against bandwidth", loc="left", fontsize=style.TITLE, color=style.INK, pad=16
    )
    ax.grid(axis="y", color=style.GRID, linewidth=0.8)
    handles, _ = ax.get_legend_handles_labels()
    style.legend_below(ax, handles, 2)
    return ax


def _curve(ax: Axes, item: MethodBandwidth, *, exact: bool, dashed: bool) -> None:
    colour = style.method_colour(item.method)
    needed = {x: share for share, x in item.required_gbps.items() if 0.0 < x < math.inf}
    points = dict(zip(item.gbps.tolist(), item.utilization.tolist(), strict=True))
    if exact:  # the curve passes through its roots
        points |= needed
    line = (0, (5, 5)) if dashed else "solid"
    ax.plot(
        sorted(points),
        [points[x] for x in sorted(points)],
        color=colour,
        linewidth=1.8,
        linestyle=line,
        label=style.words(item.method),
    )
    ax.plot(list(needed), list(needed.values()), "o", color=colour, markersize=4.5)


def _covered(before: Sequence[MethodBandwidth], item: MethodBandwidth) -> bool:
    """Whether an earlier curve lies where this one does, so that both have to be seen."""
    return any(
        np.array_equal(other.gbps, item.gbps)
        and np.allclose(other.utilization, item.utilization, rtol=0.0, atol=_SEEN)
        for other in before
    )
