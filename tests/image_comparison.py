"""Figures against the pictures in baseline/.

`python tests/image_comparison.py --write NAME ...` draws baselines anew, all of them without a
name; look at them before you keep them.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images
from PIL import Image

BASELINE = Path(__file__).parent / "baseline"
_DPI = 50
_COLOURS = 48  # of a baseline, which keeps it small
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


def draw_baselines(figures: Mapping[str, Callable[[], Axes]], folder: Path = BASELINE) -> None:
    """Draw each figure as the baseline of its name, in few colours."""
    for name, make in figures.items():
        path = folder / f"{name}.png"
        _draw(make(), path)
        with Image.open(path) as picture:
            few = picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
        few.save(path, optimize=True)


if __name__ == "__main__":
    from sample_figures import FIGURES

    if sys.argv[1:2] != ["--write"]:
        raise SystemExit(__doc__)
    names = sys.argv[2:]
    draw_baselines({name: make for name, make in FIGURES.items() if not names or name in names})
    if not names or any(name.startswith("reproduced_") for name in names):
        from sample_reproductions import made

        for item in made().values():
            for figure, drawn in item.figures.items():
                name = f"reproduced_{figure}"
                if not names or name in names:
                    draw_baselines({name: lambda ax=drawn: ax})  # type: ignore[misc]
