"""Figures against the pictures in baseline/.

`python tests/image_comparison.py` draws the baselines anew; look at them before you keep them.
"""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images

BASELINE = Path(__file__).parent / "baseline"
_DPI = 50
# root mean square over pixels of 0..255: fonts may be rendered a little differently elsewhere,
# a missing segment or a wrong colour is well above
_TOLERANCE = 5.0


def assert_looks_like(ax: Axes, name: str, folder: Path) -> None:
    """Fail with the difference when the figure of `ax` does not match `baseline/name`."""
    picture = folder / name
    _draw(ax, picture)
    difference = compare_images(str(BASELINE / name), str(picture), tol=_TOLERANCE)
    assert difference is None, difference


def _draw(ax: Axes, path: Path) -> None:
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    figure.savefig(path, dpi=_DPI, metadata={"Software": None})


if __name__ == "__main__":
    from sample_figures import map_of, merging, quality_bars, two_curves
    from sample_results import comparison

    from ddsim import plot

    _draw(plot.goodput(comparison()), BASELINE / "goodput.png")
    _draw(plot.timeline(comparison()), BASELINE / "timeline.png")
    _draw(two_curves(), BASELINE / "beside.png")
    _draw(quality_bars(), BASELINE / "bars.png")
    _draw(map_of(), BASELINE / "heatmap.png")
    _draw(plot.exchange(merging(), "decoupled_diloco", bins=40), BASELINE / "exchange.png")
