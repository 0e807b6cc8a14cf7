"""Other colours for methods, in a figure that is drawn."""

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colors import is_color_like, same_color, to_rgba
from matplotlib.figure import FigureBase
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from ddsim.figures import style

_PAINTED: tuple[tuple[type[Artist], tuple[str, ...]], ...] = (
    (Line2D, ("color", "markerfacecolor", "markeredgecolor")),
    (Patch, ("facecolor", "edgecolor")),
    (Collection, ("facecolor", "edgecolor")),
    (Text, ("color",)),
)
_GIVEN: WeakKeyDictionary[FigureBase, dict[str, str]] = WeakKeyDictionary()


def recolour(ax: Axes, colours: Mapping[str, str]) -> Axes:
    """Give methods other colours wherever the figure of these axes has theirs; return the axes.

    `colours` has a colour of matplotlib's by a method's name. Lines, error bars, bars, hatches,
    rings of published values and the legend follow, nothing is computed anew, and a figure may be
    recoloured again. Raises ValueError for what is no colour.
    """
    for method, colour in colours.items():
        if not is_color_like(colour):
            raise ValueError(f"{method}: {colour!r}; a colour of matplotlib's, such as #0072b2")
    figure = ax.get_figure(root=True)
    if figure is None:
        return ax
    given = _GIVEN.setdefault(figure, {})
    changed = {given.get(name, style.method_colour(name)): new for name, new in colours.items()}
    given.update(colours)
    artists: Sequence[Any] = figure.findobj()
    if isinstance(figure, style.OwnFigure):
        artists = [*artists, *figure.explained()]
    for artist in artists:
        _paint(artist, changed)
    return ax


def _paint(artist: Any, changed: Mapping[str, str]) -> None:
    for kind, properties in _PAINTED:
        if isinstance(artist, kind):
            for name in properties:
                found = getattr(artist, f"get_{name}")()
                painted = _painted(found, changed, many=kind is Collection)
                if painted is not None:
                    getattr(artist, f"set_{name}")(painted)


def _painted(found: Any, changed: Mapping[str, str], *, many: bool) -> Any:
    """Return what a colour, or several, become; None where they stay as they are."""
    if many:
        each = [_painted(one, changed, many=False) for one in found]
        both = zip(each, found, strict=True)
        return None if not any(each) else [tuple(old) if new is None else new for new, old in both]
    if not is_color_like(found):
        return None
    *_, opaque = to_rgba(found)
    for old, new in changed.items():
        if opaque and same_color(to_rgba(found, 1.0), old):
            return to_rgba(new, opaque)
    return None
