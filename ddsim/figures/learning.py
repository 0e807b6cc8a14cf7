"""Loss of the trained model, against what it cost."""

from typing import Literal, get_args

from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from ddsim.figures import style
from ddsim.results import MethodResult, Results

By = Literal["wall_clock", "tokens", "tokens_merged", "steps"]
_LABELS = {
    "wall_clock": "wall-clock (h)",
    "tokens": "tokens processed",
    "tokens_merged": "tokens merged",
    "steps": "steps",
}
HOUR = 3600.0


def learning(results: Results, ax: Axes | None = None, by: By = "wall_clock") -> Axes:
    """Draw the loss of every method that trained a model, by what `by` names.

    Steps are the job's, or the mean of the learners'. The vertical axis is logarithmic. Raises
    ValueError where nothing was trained, or `by` is not one of the four.
    """
    if by not in get_args(By):
        raise ValueError(f'by is one of {", ".join(get_args(By))}, not "{by}"')
    trained = [item for item in results.results if item.learning is not None]
    if not trained:
        raise ValueError("nothing was trained: the scenario has no learning section")
    if ax is None:
        ax = style.own_axes(7.5, 4.2)
    for item in trained:
        across, losses = _line(item, by)
        colour = style.method_colour(item.method)
        ax.plot(across, losses, color=colour, linewidth=1.6, label=style.words(item.method))
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:.3g}")
    ax.yaxis.set_minor_formatter("{x:.3g}")
    if by != "wall_clock":
        ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    ax.set_xlabel(_LABELS[by])
    ax.set_ylabel("loss")
    style.dress(ax, f"What the model learns: {results.scenario}")
    ax.legend(frameon=False, fontsize=9)
    return ax


def _line(item: MethodResult, by: By) -> tuple[list[float], list[float]]:
    trained = item.learning
    assert trained is not None
    curve = trained["curve"]
    losses = [point[2] for point in curve]
    if by == "wall_clock":
        return [point[0] / HOUR for point in curve], losses
    if by == "tokens":
        return [point[1] for point in curve], losses
    return list(trained.get(by, [])), losses
