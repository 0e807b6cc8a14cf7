"""What reproductions found, as a page: every figure, and its numbers by kind.

The page links the images that are written beside it.
"""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from ddsim import __version__
from ddsim.report.parts import Choice, Picture, Section, Table, Thumb, linked, number, page
from ddsim.reproduce.basis import KINDS, Kind
from ddsim.reproduce.foretold import WAITS
from ddsim.reproduce.headline import percent
from ddsim.reproduce.registry import Found, every
from ddsim.reproduce.rows import Row, beside_published, misses, without_value
from ddsim.reproduce.summary import by_kind, contradicted, of_kind, predictions

_ORDER: tuple[Kind, ...] = ("predicted", "calibrated", "identity", "declined")
_COLUMNS = (
    "cell",
    "quantity",
    "published",
    "simulated",
    "unit",
    "error (%)",
    "held to",
    "within",
)
_GUESS = ("naive guess", "error of the guess (%)")
_BLIND = "predicted before its value, in commit"
_WAITING = ("cell", "quantity", "predicted", "unit", "naive guess")
SUFFIX = "svg"
"""Of the images that the page links."""


def gallery(found: Mapping[str, Found], *, quick: bool = False) -> str:
    """Every figure and every published number, simulated beside published, as one HTML document.

    Its images are `NAME.svg` in the folder of the page; each links to `NAME.png`.
    """
    rows = [row for item in found.values() for row in beside_published(item.rows)]
    held = [row for row in rows if row.within is not None]
    said = predictions(found)
    facts = [
        ("Numbers", f"{len(rows)} published or measured"),
        ("Held to a tolerance", str(len(held))),
        ("Within it", str(len(held) - len(misses(rows)))),
        ("Median error of the predicted", percent(said.median)),
        ("Worst error of the predicted", percent(said.worst)),
        *([("Predicted before the value was known", str(said.blind))] if said.blind else []),
        *([("Without a value yet", str(said.waiting))] if said.waiting else []),
        ("Pass", "coarse" if quick else "full"),
    ]
    known = {name: item.title for name, item in every().items()}
    sections = [_section(known.get(name, name), name, item) for name, item in found.items()]
    return page(
        "Simulated beside published",
        facts,
        [_overview(found, sections), *sections, _against(found)],
        __version__,
        pictures=True,
    )


def _overview(found: Mapping[str, Found], sections: Sequence[Section]) -> Section:
    """All figures small, and what the rows of each kind come to."""
    columns = ["kind", "meaning", "numbers", "held", "within", "median error", "worst error"]
    rows = [
        [
            of.kind,
            KINDS[of.kind],
            str(of.numbers),
            str(of.held),
            str(of.within),
            percent(of.median),
            percent(of.worst),
        ]
        for of in by_kind(found)
    ]
    thumbs = [
        Thumb(section.anchor, one.source, one.caption)
        for section in sections
        for one in section.figures
    ]
    return Section(
        "Overview",
        ["Each number is of one kind. What was fitted to the source is never called predicted."],
        tables=[Table("Numbers by kind", columns, rows)],
        choices=[Choice("kind", ["all", *_ORDER])],
        thumbs=thumbs,
    )


def _against(found: Mapping[str, Found]) -> Section:
    texts = [
        f"{name}: {said.says} {said.ours} {said.explained}" for name, said in contradicted(found)
    ]
    return Section("Contradicted conclusions", texts or ["None."])


def _section(title: str, name: str, item: Found) -> Section:
    figures = [_picture(title, file, ax, item) for file, ax in item.figures.items()]
    tables = [_table(title, kind, rows) for kind in _ORDER if (rows := of_kind(item.rows, kind))]
    bare = [row for row in beside_published(item.rows) if row.basis is None]
    if bare:
        tables.append(_table(title, None, bare))
    if waiting := without_value(item.rows):
        tables.append(
            Table(f"{title}: {WAITS}", _WAITING, [*map(_waits, waiting)], kind="predicted")
        )
    texts = [item.note] if item.note else []
    guesses = dict.fromkeys(row.basis.guessed for row in waiting if row.basis)
    texts += [f"guess: {rule}." for rule in guesses]
    texts += [f"{kind}: {why}." for kind, why in _whys(item.rows) if why]
    texts += [
        f"{row.quantity}, {row.cell}: {row.foretold.moved}."
        for row in item.rows
        if row.foretold and row.foretold.moved
    ]
    sources = dict.fromkeys(row.source for row in beside_published(item.rows) if row.source)
    texts += [f"Source: {'; '.join(sources)}."] if sources else []
    texts.append(f"Made by: ddsim reproduce {name}")
    return Section(title, texts, figures, tables)


def _whys(rows: Sequence[Row]) -> list[tuple[str, str]]:
    found = [(row.basis.kind, row.basis.why) for row in beside_published(rows) if row.basis]
    return list(dict.fromkeys(found))


def _picture(title: str, file: str, ax: Axes, item: Found) -> Picture:
    caption = ax.get_title(loc="left").replace(r"\$", "$")
    numbers = bool(beside_published(item.rows))
    alternative = (
        f"{caption}. The tables below have the published numbers and those simulated beside them."
        if numbers
        else f"{title}. Nothing but the picture is published."
    )
    return linked(ax, f"{file}.{SUFFIX}", f"{file}.png", caption, alternative)


def _table(title: str, kind: Kind | None, rows: Sequence[Row]) -> Table:
    guessed = any(row.basis and row.basis.guess is not None for row in rows)
    blind = any(row.foretold for row in rows)
    columns = [*_COLUMNS, *(_GUESS if guessed else ()), *([_BLIND] if blind else ())]
    what = f"{kind}, {KINDS[kind]}" if kind else "of no kind"
    cells = [
        [
            *_cells(row),
            *(_guess(row) if guessed else ()),
            *([row.foretold.mark if row.foretold else ""] if blind else ()),
        ]
        for row in rows
    ]
    return Table(f"{title}: {what}", columns, cells, kind=kind or "")


def _cells(row: Row) -> list[str]:
    half = f" \N{PLUS-MINUS SIGN} {row.half_width:.2g}" if row.half_width is not None else ""
    return [
        row.cell,
        row.quantity,
        number(row.published),
        number(row.simulated) + half,
        row.unit,
        _error(row.relative_error),
        row.tolerance.words(row.unit),
        {True: "yes", False: "no", None: "\N{EN DASH}"}[row.within],
    ]


def _waits(row: Row) -> list[str]:
    guess = row.basis.guess if row.basis else None
    return [row.cell, row.quantity, number(row.simulated), row.unit, number(guess)]


def _guess(row: Row) -> list[str]:
    return [number(row.basis.guess if row.basis else None), _error(row.guess_error)]


def _error(share: float | None) -> str:
    return "\N{EN DASH}" if share is None else f"{100 * share:+.1f}"
