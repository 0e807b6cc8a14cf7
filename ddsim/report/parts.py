"""What a page is made of, and how it becomes HTML."""

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ddsim.figures.style import image_of
from ddsim.report.charts import available, in_page, library

GOODPUT_MEANS = (
    "Goodput is chip-time that went into steps that were kept, over all chip-time in the job; "
    "merged goodput is the part of it that entered a merge, for what a learner trains and has "
    "overwritten before any merge is lost."
)
_LARGEST_SVG = 400_000  # bytes; a picture of more parts is smaller in pixels
_DPI = 200
_PIXELS_PER_INCH = 96  # of CSS


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart to work with: its specification, and what its colours mean.

    `of` is what it shows in words, for those who do not see it; `method` that of one method alone.
    """

    specification: str
    of: str
    keys: Sequence[tuple[str, str]] = ()
    method: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure, what it shows in one line, and what it says to someone who does not see it.

    Where scripts run its `charts` stand in its place. `link` is another image of it, to open.
    """

    source: str
    caption: str
    alternative: str
    width: int
    height: int
    charts: Sequence[Chart] = ()
    link: str = ""


@dataclass(frozen=True, slots=True)
class Thumb:
    """A small picture that leads to a section."""

    anchor: str
    source: str
    caption: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first cell of a row is its heading.

    `lead` makes it large, for what a reader decides on; `ids` are the rows' own, to be linked to;
    `kind` is what a control of that name may choose it by.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    lead: bool = False
    ids: Sequence[str] = ()
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A control that selects one of some values of something that varies."""

    name: str
    values: Sequence[str]


@dataclass(frozen=True, slots=True)
class Tile:
    """A cell of a map: where it links to, its text and colours; nothing where none is simulated."""

    target: str = ""
    text: str = ""
    ground: str = ""
    ink: str = ""


@dataclass(frozen=True, slots=True)
class Map:
    """A map of a metric over two things that vary, a row of tiles for each value of the second.

    `chosen` are the values of all else at which it holds, by the names of choices.
    """

    caption: str
    across: str
    up: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Tile]]]
    chosen: Mapping[str, str]

    @property
    def at(self) -> str:
        """The values at which it holds, as data within the page."""
        return in_page(self.chosen)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading of its own.

    Where scripts run it has controls: `methods` to switch off, a part of the time to `zoom` into,
    `choices` among simulated cells, which `cells` describes as data.
    """

    heading: str
    texts: Sequence[str] = ()
    figures: Sequence[Picture] = ()
    tables: Sequence[Table] = field(default=())
    listing: str = ""
    methods: Sequence[str] = ()
    zoom: bool = False
    choices: Sequence[Choice] = ()
    cells: str = ""
    maps: Sequence[Map] = ()
    thumbs: Sequence[Thumb] = ()

    @property
    def anchor(self) -> str:
        """The heading as an id."""
        return "".join(c if c.isalnum() else "-" for c in self.heading.lower())


def page(
    title: str,
    facts: Sequence[tuple[str, str]],
    sections: Sequence[Section],
    version: str,
    lead: Section | None = None,
    pictures: bool = False,
) -> str:
    """The page as one HTML document, in which all text is escaped.

    lead: what a reader decides on, before all else. pictures: its figures are meant to be such.
    """
    environment = Environment(
        loader=PackageLoader("ddsim.report", "."), autoescape=True, undefined=StrictUndefined
    )
    drawn = any(figure.charts for section in sections for figure in section.figures)
    return environment.get_template("page.html").render(
        title=title,
        facts=facts,
        sections=sections,
        version=version,
        lead=lead,
        library=library() if drawn else "",
        static=not pictures and not available(),
    )


def picture(ax: Axes, caption: str, alternative: str, charts: Sequence[Chart] = ()) -> Picture:
    """The figure of `ax` within the page: vectors, or pixels where those would be too many."""
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    image, kind = image_of(figure, "svg", _DPI), "svg+xml"
    if len(image) > _LARGEST_SVG:
        image, kind = image_of(figure, "png", _DPI), "png"
    data = base64.b64encode(image).decode()
    width, height = (round(_PIXELS_PER_INCH * side) for side in figure.get_size_inches())
    source = f"data:image/{kind};base64,{data}"
    return Picture(source, caption, alternative, width, height, charts)


def linked(ax: Axes, source: str, link: str, caption: str, alternative: str) -> Picture:
    """The figure of `ax` as an image that lies beside the page."""
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    width, height = (round(_PIXELS_PER_INCH * side) for side in figure.get_size_inches())
    return Picture(source, caption, alternative, width, height, link=link)


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
