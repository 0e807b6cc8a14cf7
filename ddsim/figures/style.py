"""Colours, names and frames that all figures share.

Methods have the colours of Okabe and Ito, which people with any colour vision tell apart
(M. Okabe and K. Ito, "Color universal design", 2008); accounts have pale colours, after Paul Tol's
"light" scheme, so that a method's own colour stands out.
"""

import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import offset_copy

INK = "#222222"
GRID = "#dddddd"

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
    "wasted_progress": Fill("#aa7799"),
    "exposed_communication": Fill("#c6cfdb"),
    "waiting_on_peers": Fill("#bbcc33"),
    "degraded": Fill("#44bb99", "//"),
    "checkpoint_save": Fill("#eedd88"),
    "checkpoint_restore": Fill("#eedd88", "///"),
    "detection": Fill("#ffaabb"),
    "elastic_downscale": Fill("#ee8866", "\\\\\\"),
    "elastic_upscale": Fill("#ee8866", "///"),
    "restart": Fill("#ee8866"),
    "stranded": Fill("#aaaaaa"),
    "failed_hardware": Fill("#555555"),
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


def in_order(accounts: Iterable[str]) -> list[str]:
    """Return accounts in the order in which bars and legends show them, unknown ones last."""
    place = {name: index for index, name in enumerate(ACCOUNT_FILLS)}
    return sorted(accounts, key=lambda name: (place.get(name, len(place)), name))


def words(name: str) -> str:
    """Return an account's or method's name as words."""
    return name.replace("_", " ")


def ink_on(colour: str) -> str:
    """Return black or white, whichever reads better on `colour` (relative luminance)."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.45 else "#ffffff"


class OwnFigure(Figure):
    """A figure that no global state knows and that a notebook shows by itself."""

    def _repr_png_(self) -> bytes:
        image = io.BytesIO()
        self.savefig(image, format="png")
        return image.getvalue()


def own_axes(width: float, height: float) -> Axes:
    """Return the axes of a new figure of `width` x `height` inches that no global state knows."""
    figure = OwnFigure(figsize=(width, height), layout="constrained", facecolor="white")
    return figure.subplots()


def dress(ax: Axes, title: str = "") -> None:
    """Give axes the common look: light, few lines, grid along x behind the data."""
    ax.set_facecolor("white")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    if title:
        ax.set_title(title, loc="left", fontsize=11, color=INK)


def account_legend(ax: Axes, accounts: Iterable[str], own: str) -> None:
    """Explain the fills of `accounts` below the axes, clear of ticks and label.

    `own` says what is painted in the method's colour, which is not among them.
    """
    handles = [Patch(facecolor="white", edgecolor=INK, label=f"{own} (method's colour)")]
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
    legend_below(ax, handles, 4)


def legend_below(ax: Axes, handles: Sequence[Artist], columns: int) -> None:
    """Put a legend of so many columns below the axes, clear of ticks and label."""
    below = offset_copy(ax.transAxes, ax.get_figure(root=True), y=-38, units="points")
    ax.legend(
        handles=handles,
        ncols=columns,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=below,
        borderaxespad=0,
        frameon=False,
        fontsize=8.5,
    )


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
