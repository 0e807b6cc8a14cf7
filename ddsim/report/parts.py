"""What a page is made of, and how it becomes HTML."""

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ddsim.figures.style import image_of

_LARGEST_SVG = 400_000  # bytes; a picture of more parts is smaller in pixels
_DPI = 200
_PIXELS_PER_INCH = 96  # of CSS


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure, what it shows in one line, and what it says to someone who does not see it."""

    source: str
    caption: str
    alternative: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first cell of a row is its heading."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading of its own."""

    heading: str
    texts: Sequence[str] = ()
    figures: Sequence[Picture] = ()
    tables: Sequence[Table] = field(default=())
    listing: str = ""

    @property
    def anchor(self) -> str:
        """The heading as an id."""
        return "".join(c if c.isalnum() else "-" for c in self.heading.lower())


def page(
    title: str, facts: Sequence[tuple[str, str]], sections: Sequence[Section], version: str
) -> str:
    """The page as one HTML document, in which all text is escaped."""
    environment = Environment(
        loader=PackageLoader("ddsim.report", "."), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("page.html").render(
        title=title, facts=facts, sections=sections, version=version
    )


def picture(ax: Axes, caption: str, alternative: str) -> Picture:
    """The figure of `ax` within the page: vectors, or pixels where those would be too many."""
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    image, kind = image_of(figure, "svg", _DPI), "svg+xml"
    if len(image) > _LARGEST_SVG:
        image, kind = image_of(figure, "png", _DPI), "png"
    data = base64.b64encode(image).decode()
    width, height = (round(_PIXELS_PER_INCH * side) for side in figure.get_size_inches())
    return Picture(f"data:image/{kind};base64,{data}", caption, alternative, width, height)


def number(value: float | None, digits: int = 4) -> str:
    """A number with so many digits; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "\N{EN DASH}"
    text = f"{value:,.{digits}g}"
    return text if "e" not in text else f"{value:,.0f}" if abs(value) >= 1 else text


def percent(value: float | None, digits: int = 2) -> str:
    """A share in per cent; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return "\N{EN DASH}"
    least = 0.5 * 10.0**-digits
    return f"<{2 * least:g}" if 0 < 100 * value < least else f"{100 * value:.{digits}f}"
