"""All the figures that a result has, as files."""

import io
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ddsim.figures.goodput import goodput
from ddsim.figures.timeline import timeline
from ddsim.results import Results
from ddsim.results.store import write_whole

_DPI = 150


def save_figures(results: Results, folder: str | Path, suffix: str = "png") -> list[Path]:
    """Write `goodput` and, if units kept a timeline, `timeline` into `folder`; return the paths.

    `suffix` is png, svg or pdf. Raises OSError.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    axes = {"goodput": goodput(results)}
    if any(item.timeline for item in results.results):
        axes["timeline"] = timeline(results)
    return [_write(ax, folder / f"{name}.{suffix}") for name, ax in axes.items()]


def _write(ax: Axes, path: Path) -> Path:
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    image = io.BytesIO()
    figure.savefig(image, format=path.suffix[1:], dpi=_DPI)
    write_whole(path, image.getvalue())
    return path
