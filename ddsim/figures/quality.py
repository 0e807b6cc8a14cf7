"""Hours to a loss by method, each with its interval."""

from matplotlib.axes import Axes

from ddsim.figures import style
from ddsim.figures.registry import figure
from ddsim.results import MethodResult, Results
from ddsim.results.worth import interval_of

_BEYOND = 1.6  # of the furthest end, for what is never reached


def _aims(result: MethodResult) -> bool:
    return interval_of(result, "hours_to_target") is not None


@figure("quality", shows=_aims)
def quality(results: Results, ax: Axes | None = None) -> Axes:
    """Draw a row a method: the middle of its hours to the target, and from end to end.

    An arrow stands for an end that is never reached. Raises ValueError where no method has hours.
    """
    records = [item for item in results.results if _aims(item)]
    if not records:
        raise ValueError("no method has hours to a target: the scenario names no law or no target")
    if ax is None:
        ax = style.own_axes(1.3 + 0.34 * len(records))
    intervals = [interval_of(item, "hours_to_target") or [] for item in records]
    known = [value for values in intervals for value in values if value is not None]
    far = _BEYOND * max(known)
    for row, (item, (low, mid, high)) in enumerate(zip(records, intervals, strict=True)):
        colour = style.method_colour(item.method)
        start = low if low is not None else far
        ax.plot([start, high if high is not None else far], [row, row], color=colour, linewidth=3)
        if high is None:
            ax.plot([far], [row], marker=">", color=colour, markersize=8)
        if mid is not None:
            ax.plot([mid], [row], marker="o", color=colour, markersize=7, markeredgecolor=style.INK)
    style.name_places(ax.yaxis, range(len(records)), [style.words(r.method) for r in records])
    ax.set_ylim(len(records) - 0.5, -0.5)
    ax.set_xscale("log")
    first = records[0].quality
    target = first.get("target") if first is not None else None
    ax.set_xlabel("hours to the target")
    aim = "" if target is None else f"Hours to {target:.4g} nats: "
    style.dress(ax, f"{aim}{results.scenario}")
    return ax
