"""Loss of the trained model, against what it cost."""

from collections.abc import Mapping
from typing import Literal, get_args

from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, LogLocator, NullLocator

from ddsim.figures import style
from ddsim.figures.drawing import drawing
from ddsim.figures.registry import figure
from ddsim.figures.units import time_unit
from ddsim.results import Results
from ddsim.results.record import Learning

By = Literal["wall_clock", "tokens", "tokens_merged", "steps"]
_LABELS = {
    "tokens": "tokens processed",
    "tokens_merged": "tokens merged",
    "steps": "steps",
}
_FEW = 10.0  # times the lowest loss: above, powers of ten are ticks enough
_TICKS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)  # of each decade of the loss


@figure("learning", shows=lambda result: result.learning is not None)
@drawing
def learning(
    results: Results,
    ax: Axes | None = None,
    by: By = "wall_clock",
    names: Mapping[str, str] | None = None,
    y: str = "loss, as the problem counts it",
) -> Axes:
    """Draw the loss of every method that trained a model, by what `by` names.

    `names` are what the legend calls methods in place of their own names, `y` is the label of the
    vertical axis. Steps are the job's, or
    the mean of the learners'. The vertical axis is logarithmic. Raises
    ValueError where nothing was trained, or `by` is not one of the four.
    """
    if by not in get_args(By):
        raise ValueError(f'by is one of {", ".join(get_args(By))}, not "{by}"')
    trained = [(item, of) for item in results.results if (of := item.learning) is not None]
    if not trained:
        raise ValueError("nothing was trained: the scenario has no learning section")
    if ax is None:
        ax = style.own_axes(3.2)
    called = {item.method: style.words(item.method) for item, _ in trained} | dict(names or {})
    longest = max(point[0] for _, of in trained for point in of["curve"])
    scale, unit_of_time = time_unit(longest)
    for item, of in trained:
        across, losses = _line(of, by, scale)
        colour = style.method_colour(item.method)
        ax.plot(across, losses, color=colour, linewidth=1.6, label=called.get(item.method))
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    ax.yaxis.set_major_locator(LogLocator(subs=_TICKS if high < _FEW * low else (1.0,)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter("{x:.3g}")
    if by != "wall_clock":
        ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    ax.set_xlabel(_LABELS.get(by, f"wall-clock ({unit_of_time})"))
    ax.set_ylabel(y)
    style.dress(ax, f"What the model learns: {results.scenario}")
    handles, _ = ax.get_legend_handles_labels()
    style.legend_below(ax, handles, 2)
    return ax


def _line(trained: Learning, by: By, scale: float) -> tuple[list[float], list[float]]:
    curve = trained["curve"]
    losses = [point[2] for point in curve]
    if by == "wall_clock":
        return [point[0] / scale for point in curve], losses
    if by == "tokens":
        return [point[1] for point in curve], losses
    return list(trained["steps" if by == "steps" else "tokens_merged"]), losses
