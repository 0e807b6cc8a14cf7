"""A metric over two things that vary, as a map."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from ddsim.figures import style
from ddsim.figures.units import metric_label
from ddsim.study.grid import SPECIAL, CellName, Label
from ddsim.study.results import Study

_COLOURS = "cividis"  # the same order for every colour vision, and in grey
_LONG = 6  # characters from which the values of the first axis are turned
_CELL = 0.42  # height in inches
_LETTER = 0.08  # of the name of the axis along it
NUMBERED = 200
"""Cells of a map that have room for their numbers; of more the colours have to do."""


def heatmap(
    study: Study,
    x: str | None = None,
    y: str | None = None,
    method: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean of a study's metric for each pair of values of the paths `x` and `y`.

    The first two things that vary unless given; `method` is the first unless given; of what else
    varies the first value is taken, and the title says so. A pair that no scenario can be, or that
    is not done, stays white. Raises ValueError where fewer than two things vary, or a path or a
    method is none of the study's.
    """
    varied = [name for name in study.columns if name not in SPECIAL]
    x, y = _two(varied, x, y)
    done = [cell for cell in study.done if cell.is_base]
    methods = list(dict.fromkeys(cell.method for cell in done))
    method = method or (methods[0] if methods else "")
    if method not in methods:
        raise ValueError(f'no method "{method}" in the study; there are: {", ".join(methods)}')
    cells = [cell for cell in done if cell.method == method and {x, y} <= cell.settings.keys()]
    held = {name: _labels(cells, name)[0] for name in varied if name not in (x, y) and cells}
    cells = [cell for cell in cells if all(cell.settings.get(n) == v for n, v in held.items())]
    across, up = _labels(cells, x), _labels(cells, y)
    values = _values(study, cells, (x, across), (y, up))
    if ax is None:
        along = max(len(y), len(metric_label(study.metric)))
        ax = style.own_axes(max(1.5 + _CELL * len(up), 1.0 + _LETTER * along))
    _draw(ax, values, metric_label(study.metric))
    style.name_places(ax.xaxis, range(len(across)), map(str, across))
    style.name_places(ax.yaxis, range(len(up)), map(str, up))
    if max((len(str(label)) for label in across), default=0) > _LONG and len(across) > _LONG:
        ax.tick_params(axis="x", rotation=30)
    ax.set_xlabel(style.plain(x))
    ax.set_ylabel(style.plain(y))
    at = "".join(f", {name} = {label}" for name, label in held.items())
    title = f"{study.scenario}: {style.words(method)}{at}"
    style.entitle(ax, title)
    return ax


def _two(varied: Sequence[str], x: str | None, y: str | None) -> tuple[str, str]:
    for name in (x, y):
        if name is not None and name not in varied:
            raise ValueError(f"{name} does not vary in the study; these do: {', '.join(varied)}")
    rest = [name for name in varied if name not in (x, y)]
    chosen = [name if name is not None else rest.pop(0) if rest else None for name in (x, y)]
    if chosen[0] is None or chosen[1] is None or chosen[0] == chosen[1]:
        raise ValueError("a map needs two things that vary, and the study has fewer")
    return chosen[0], chosen[1]


def _labels(cells: Sequence[CellName], name: str) -> list[Label]:
    return list(dict.fromkeys(cell.settings[name] for cell in cells if name in cell.settings))


def _values(
    study: Study,
    cells: Sequence[CellName],
    x: tuple[str, list[Label]],
    y: tuple[str, list[Label]],
) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """Means, a row a value of y; nan where there is none."""
    found = np.full((len(y[1]), len(x[1])), np.nan)
    for cell in cells:
        known = study.measured.get(cell.index)
        if known is not None:
            found[y[1].index(cell.settings[y[0]]), x[1].index(cell.settings[x[0]])] = known.value
    return found


def _draw(
    ax: Axes, values: "np.ndarray[tuple[int, int], np.dtype[np.float64]]", label: str
) -> None:
    image = ax.imshow(values, cmap=_COLOURS, origin="lower", aspect="auto")
    grounds = np.asarray(image.to_rgba(values))
    numbered = values.size <= NUMBERED
    for (row, column), value in np.ndenumerate(values):
        if numbered and np.isfinite(value):
            ax.text(
                column,
                row,
                f"{value:.3g}",
                ha="center",
                va="center",
                fontsize=style.SMALL,
                color=style.ink_on(to_hex(grounds[row, column].tolist())),
            )
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.tick_params(length=0, labelsize=style.SMALL)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_fontsize(style.LABEL)
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    bar = figure.colorbar(image, ax=ax)
    bar.set_label(label, fontsize=style.LABEL)
    bar.ax.tick_params(labelsize=style.SMALL)
    bar.outline.set_visible(False)
