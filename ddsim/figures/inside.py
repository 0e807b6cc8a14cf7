"""Numbers that stand in a bar, in whichever of black and white reads on it."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.patches import Patch
from matplotlib.text import Annotation

from ddsim.figures import style


class Inside(Annotation):
    """Words in a bar: their ink goes by the colour that the bar has when they are drawn.

    A colour that they were given by hand stays.
    """

    def __init__(self, bar: Patch, words: str, at: tuple[float, float], **looks: Any) -> None:
        super().__init__(words, at, textcoords="offset points", **looks)
        self.bar = bar
        self._inked: object = None
        self._ink()

    def draw(self, renderer: RendererBase) -> None:
        """Draw the words in the ink, and on the ground, that the bar asks for now."""
        self._ink()
        super().draw(renderer)

    def _ink(self) -> None:
        ground = self.bar.get_facecolor()
        if self._inked in (None, self.get_color()):
            self._inked = style.ink_on(ground)
            self.set_color(self._inked)
        box = self.get_bbox_patch()
        if box is not None:
            box.set_facecolor(ground)


def write_inside(
    ax: Axes,
    bar: Patch,
    words: str,
    at: tuple[float, float],
    *,
    points: float = 0.0,
    up: str = "center",
) -> None:
    """Write small words in a bar, centred at `at`, so many points above it; `up` aligns them.

    Where the bar is hatched they stand on a patch of its ground.
    """
    box = {"facecolor": bar.get_facecolor(), "edgecolor": "none", "pad": 1.0}
    said = Inside(
        bar,
        words,
        at,
        xytext=(0, points),
        ha="center",
        va=up,
        fontsize=style.SMALL,
        bbox=box if bar.get_hatch() else None,
        clip_on=False,
    )
    ax.add_artist(said)
