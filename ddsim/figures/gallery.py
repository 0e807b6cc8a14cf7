"""All the figures that a result has, as files."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ddsim.figures import goodput, learning, quality, timeline  # noqa: F401  (they register themselves)
from ddsim.figures.registry import FIGURES
from ddsim.figures.style import image_of
from ddsim.files import write_whole
from ddsim.results import Results

_DPI = 240


def save_figures(results: Results, folder: str | Path, suffix: str = "png") -> list[Path]:
    """Write the figures that a result has into `folder`; return the paths.

    They are those of `FIGURES` that show something: `goodput`, `timeline` if units kept one and
    `learning` if a model was trained, and `quality` if there are hours to a loss.
    `suffix` is png, svg or pdf. Raises OSError.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    axes = {
        name: item.draw(results)
        for name, item in FIGURES.items()
        if any(map(item.shows, results.results))
    }
    return [write_figure(ax, folder / f"{name}.{suffix}") for name, ax in axes.items()]


def write_figure(ax: Axes, path: Path) -> Path:
    """Write the figure of `ax` whole to `path`, whose suffix says the kind of file."""
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    write_whole(path, image_of(figure, path.suffix[1:], _DPI))
    return path
