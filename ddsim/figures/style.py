"""Colours, names and frames that all figures share.

Methods have the colours of Okabe and Ito, which people with any colour vision tell apart
(M. Okabe and K. Ito, "Color universal design", 2008); accounts have pale colours, after Paul Tol's
"light" scheme, so that a method's own colour stands out.
"""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_rgba
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import offset_copy
from matplotlib.typing import ColorType

INK = "#222222"
GRID = "#dddddd"

# A figure is this wide, in inches, and its words are of these sizes, in points, so that the
# smallest are still of six points in a column of 3.4 inches.
WIDTH = 4.8
SMALL = 8.5  # numbers in a figure, names of ticks, legends
LABEL = 9.0  # what an axis counts
TITLE = 10.0
_LEAST = 6.0  # of a legend that is wider than its figure
_DPI = 150  # in a notebook
_LONG = 27  # letters of a name from which a legend has one column
_KEY = 1.6  # letters along what stands for a name in a legend
_DASHED_KEY = 3.8  # along a line of dashes and dots, whose pattern has to come twice

METHOD_COLOURS = {
    "data_parallel": "#d55e00",
    "elastic_data_parallel": "#e69f00",
    "diloco": "#56b4e9",
    "streaming_diloco": "#cc79a7",
    "decoupled_diloco": "#0072b2",
    "async_local_sgd": "#009e73",
}
_OTHER_METHODS = ("#000000", "#f0e442", "#7f7f7f")


class Fill(NamedTuple):
    """How an account is painted: ground, pattern, and the pattern's and edge's colour."""

    colour: str
    hatch: str = ""
    edge: str = "#ffffff"


# in the order in which a bar stacks them: what trained, what waited, what stalled, what was broken
ACCOUNT_FILLS = {
    "productive": Fill("#009e73"),
    "wasted_progress": Fill("#f6e3ec", "xxx", "#882255"),
    "waits_within_steps": Fill("#dde2ea"),
    "exposed_communication": Fill("#bcc7d6"),
    "waiting_on_peers": Fill("#e3e8a0", "...", "#7d8500"),
    "waiting_on_data": Fill("#d3ecfa", "\\\\", "#2f7da3"),
    "degraded": Fill("#bfe6d8", "//", "#23755a"),
    "checkpoint_save": Fill("#eedd88"),
    "checkpoint_restore": Fill("#eedd88", "///"),
    "detection": Fill("#ffdbe3"),
    "elastic_downscale": Fill("#ee8866", "\\\\\\"),
    "elastic_upscale": Fill("#ee8866", "///"),
    "restart": Fill("#ee8866"),
    "stranded": Fill("#969696", ".."),
    "failed_hardware": Fill("#444444"),
    "unallocated": Fill("#ffffff", "///", "#bbbbbb"),
}
# the account, and the state of a unit, that have their method's colour
PROGRESS = {"productive", "running"}
_OTHER_ACCOUNT = Fill("#ffffff", "xx", "#888888")


def method_colour(method: str) -> str:
    """Return a method's colour: always the same, for a user's own method too."""
    other = _OTHER_METHODS[crc32(method.encode()) % len(_OTHER_METHODS)]
    return METHOD_COLOURS.get(method, other)


def account_fill(account: str, method: str | None = None) -> Fill:
    """Return how an account is painted; progress in its method's colour if that is given."""
    if account in PROGRESS and method is not None:
        return Fill(method_colour(method))
    return ACCOUNT_FILLS.get(account, _OTHER_ACCOUNT)


def overwritten_fill(method: str) -> Fill:
    """Return how productive time that was overwritten is painted: hatched, in the same colour."""
    return Fill("#ffffff", "////", method_colour(method))


def in_order(accounts: Iterable[str]) -> list[str]:
    """Return accounts in the order in which bars and legends show them, unknown ones last."""
    place = {name: index for index, name in enumerate(ACCOUNT_FILLS)} | dict.fromkeys(PROGRESS, 0)
    return sorted(accounts, key=lambda name: (place.get(name, len(place)), name))


def words(name: str) -> str:
    """Return an account's or method's name as words."""
    return name.replace("_", " ")


def plain(text: str) -> str:
    """Return a text that users may have written so that a figure shows it as it stands.

    matplotlib reads what stands between dollars as mathematics, and SVG has no control characters.
    """
    shown = (letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text)
    return "".join(shown).replace("$", r"\$")


def name_places(axis: Axis, places: Sequence[float], names: Iterable[str]) -> None:
    """Put names at places along an axis."""
    axis.set_ticks(places, [plain(name) for name in names])


def ink_on(colour: ColorType) -> str:
    """Return black or white, whichever reads better on `colour` (relative luminance) on white."""
    *paint, opaque = to_rgba(colour)
    red, green, blue = (1.0 - opaque * (1.0 - part) for part in paint)
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.45 else "#ffffff"


class OwnFigure(Figure):
    """A figure that no global state knows and that a notebook shows by itself.

    The legend below it is laid out anew for every size that it is given.
    """

    _legend: Legend | None = None
    _looks: Mapping[str, Any] = {}

    def _repr_png_(self) -> bytes:
        return image_of(self, "png", _DPI)

    def explain(self, looks: Mapping[str, Any]) -> None:
        """Have a legend below all axes that looks so, with fewer columns where it is too wide."""
        self._looks = looks
        self._fit_legend()

    def explained(self) -> list[Artist]:
        """Return what the legend is made of, each time that it is laid out."""
        return [
            part
            for handle in self._looks.get("handles", ())
            for part in (handle if isinstance(handle, ErrorbarContainer) else [handle])
            if isinstance(part, Artist)
        ]

    def set_size_inches(self, w: Any, h: Any = None, forward: bool = True) -> None:
        """Set the size, to which the legend is fitted."""
        super().set_size_inches(w, h, forward)
        if self._legend in self.legends:  # and not taken off, or replaced, by whoever draws
            self._fit_legend()

    def _fit_legend(self) -> None:
        words: float = self._looks.get("fontsize", SMALL)
        columns = int(self._looks.get("ncols", 1))
        while True:
            if self._legend is not None and self._legend in self.legends:
                self._legend.remove()
            sizes = {"ncols": columns, "fontsize": words, "title_fontsize": words}
            own = dict(self._looks) | sizes
            self._legend = self.legend(loc="outside lower center", **own)
            if self._legend.get_window_extent().width <= self.bbox.width:
                return
            if columns == 1 and words <= _LEAST:
                return
            columns, words = (columns - 1, words) if columns > 1 else (1, words - 0.5)


def image_of(figure: Figure, kind: str, dpi: float) -> bytes:
    """Return the figure as a png, svg or pdf: the same bytes whenever it is drawn."""
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    image = io.BytesIO()
    with rc_context({"svg.hashsalt": "ddsim"}):
        figure.savefig(image, format=kind, dpi=dpi, metadata=undated)
    return image.getvalue()


def own_figure(height: float) -> OwnFigure:
    """Return a new figure of `WIDTH` x `height` inches that no global state knows."""
    return OwnFigure(figsize=(WIDTH, height), layout="constrained", facecolor="white")


def own_axes(height: float) -> Axes:
    """Return the axes of a new figure of `WIDTH` x `height` inches that no global state knows."""
    return own_figure(height).subplots()


def dress(ax: Axes, title: str = "") -> None:
    """Give axes the common look: light, few lines, grid along x behind the data."""
    ax.set_facecolor("white")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="both", which="both", labelsize=SMALL)
    ax.tick_params(axis="y", length=0)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_fontsize(LABEL)
    ax.grid(axis="x", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    if title:
        entitle(ax, title)


def entitle(ax: Axes, title: str) -> None:
    """Put a title over the axes, broken into lines where the figure ends."""
    ax.set_title(plain(title), loc="left", fontsize=TITLE, color=INK, wrap=True)


def account_legend(ax: Axes, accounts: Iterable[str], own: str) -> None:
    """Explain the fills of `accounts` below the axes, clear of ticks and label.

    `own` says what is painted in the method's colour, which is not among them.
    """
    handles = []
    for account in in_order(set(accounts) - PROGRESS):
        fill = account_fill(account)
        handles.append(
            Patch(
                facecolor=fill.colour,
                hatch=fill.hatch or None,
                edgecolor=fill.edge,
                label=words(account),
            )
        )
    legend_below(ax, handles, 3, title=f"in the method's colour: {own}")


def columns_of(names: Iterable[str]) -> int:
    """Return how many columns a legend of these names has room for."""
    return 1 if max(map(len, names), default=0) > _LONG else 2


def legend_below(
    ax: Axes, handles: Sequence[Artist | ErrorbarContainer], columns: int, title: str = ""
) -> None:
    """Put a legend of so many columns below the axes, clear of ticks and label.

    In a figure of this package it belongs to the figure and stands in its middle; below axes that
    someone gave it belongs to those.
    """
    looks: dict[str, Any] = {
        "handles": handles,
        "ncols": columns,
        "title": title or None,
        "frameon": False,
        "fontsize": SMALL,
        "title_fontsize": SMALL,
        "handlelength": _DASHED_KEY if any(map(_dashed, handles)) else _KEY,
        "handletextpad": 0.5,
        "columnspacing": 1.0,
    }
    if handles:  # matplotlib takes no labels for none
        looks["labels"] = [plain(str(handle.get_label())) for handle in handles]
    figure = ax.get_figure(root=True)
    if isinstance(figure, OwnFigure):
        figure.explain(looks)
        return
    below = offset_copy(ax.transAxes, figure, y=-38, units="points")
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=below,
        borderaxespad=0,
        **looks,
    )


def _dashed(handle: Artist | ErrorbarContainer) -> bool:
    """Whether what a legend explains is a line that is not whole."""
    line = handle.lines[0] if isinstance(handle, ErrorbarContainer) else handle
    return isinstance(line, Line2D) and line.get_linestyle() not in ("-", "None")


def published_handle() -> Line2D:
    """Return what explains published values in a legend: a ring."""
    return Line2D(
        [],
        [],
        linestyle="none",
        color=INK,
        marker="o",
        markersize=7,
        markerfacecolor="none",
        label="published",
    )
