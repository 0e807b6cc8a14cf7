"""The validation table, every number and the figures, as files."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from ddsim.figures.gallery import write_figure
from ddsim.figures.kept import KEPT, keep
from ddsim.files import write_whole
from ddsim.reproduce import headline
from ddsim.reproduce.foretold import WAITS
from ddsim.reproduce.gallery import gallery
from ddsim.reproduce.headline import shown
from ddsim.reproduce.registry import Found, every
from ddsim.reproduce.rows import Row, beside_published, without_value

_COLUMNS = (
    "reproduction",
    "quantity",
    "cell",
    "kind",
    "unit",
    "published",
    "simulated",
    "half_width_95",
    "error",
    "relative_error",
    "tolerance",
    "within",
    "settled",
    "guess",
    "system",
    "blind",
    "simulated_now",
    "why",
    "source",
)
_SUFFIXES = ("png", "svg")
TEXTS = ("validation.csv", "validation.md", "gallery.html")
FILES = (*TEXTS, KEPT)
"""What is written beside figures."""


def write(found: Mapping[str, Found], folder: str | Path, *, quick: bool = False) -> list[Path]:
    """Write table, numbers, gallery and figures (PNG and SVG) into `folder`; return the paths.

    `validation.md` has a row a published number, `validation.csv` a row a number drawn, and
    `gallery.html` every figure with its numbers, and `figures.json` what draws the figures again.
    Raises OSError.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for item in found.values():
        for name, ax in item.figures.items():
            written += [write_figure(ax, folder / f"{name}.{suffix}") for suffix in _SUFFIXES]
    texts = csv_text(found), markdown(found, quick=quick), gallery(found, quick=quick)
    for name, text in zip(TEXTS, texts, strict=True):
        write_whole(folder / name, text.encode())
        written.append(folder / name)
    figures = {name: ax for item in found.values() for name, ax in item.figures.items()}
    return written + keep(figures, folder)


def csv_text(found: Mapping[str, Found]) -> str:
    """Every number as CSV, with six digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for name, item in found.items():
        for row in item.rows:
            writer.writerow(
                (
                    name,
                    row.quantity,
                    row.cell,
                    row.basis.kind if row.basis else "",
                    row.unit,
                    _digits(row.published),
                    _digits(row.simulated),
                    _digits(row.half_width),
                    _digits(row.error),
                    _digits(row.relative_error),
                    row.tolerance.words(row.unit) if row.published is not None else "",
                    {True: "yes", False: "no", None: ""}[row.within],
                    "yes" if row.settled else "no",
                    _digits(row.basis.guess if row.basis else None),
                    row.basis.system if row.basis else "",
                    row.foretold.mark if row.foretold else "",
                    _digits(row.foretold.now if row.foretold else None),
                    row.basis.why or row.basis.beyond if row.basis else "",
                    row.source,
                )
            )
    return text.getvalue()


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def markdown(found: Mapping[str, Found], *, quick: bool = False) -> str:
    """The validation table: what was published or measured, what is simulated, how far apart."""
    numbers = sum(len(beside_published(item.rows)) for item in found.values())
    lines = [
        "# Simulated beside published",
        "",
        "Made by `ddsim reproduce"
        + (" --quick" if quick else "")
        + "`"
        + (", a coarse pass." if quick else "; `make validate` renews it.")
        + f" {numbers} published or measured numbers, each of one kind:",
        "",
        *headline.lines(found),
    ]
    titles = {name: item.title for name, item in every().items()}
    for name, item in found.items():
        rows = beside_published(item.rows)
        lines += ["", f"## {titles[name]}", ""]
        if item.note:
            lines += [item.note, ""]
        if rows:
            lines += _table(rows)
            lines += ["", *_whys(rows), *_moved(rows)]
            lines += ["", "Source: " + "; ".join(dict.fromkeys(r.source for r in rows)) + "."]
        elif not without_value(item.rows):
            picture = "but the picture" if item.figures else "of it"
            lines.append(f"Nothing {picture} is published.")
        if waiting := _without_value(item.rows):
            lines += waiting if lines[-1] == "" else ["", *waiting]
    return "\n".join(lines) + "\n"


def _whys(rows: list[Row]) -> list[str]:
    """What is behind each kind: a line for each reason, once."""
    known = dict.fromkeys(
        (row.foretold.words if row.foretold else row.basis.kind, row.basis.why)
        for row in rows
        if row.basis
    )
    return [f"- {kind}{f': {why}' if why else ''}." for kind, why in known]


def _moved(rows: Sequence[Row]) -> list[str]:
    """Predictions of which the engine gives another number than was committed."""
    return [
        f"- {row.quantity}, {row.cell}: {row.foretold.moved}."
        for row in rows
        if row.foretold and row.foretold.moved
    ]


def _without_value(rows: Sequence[Row]) -> list[str]:
    """The table of predictions that wait for their values, with the guesses beside them."""
    waiting = without_value(rows)
    if not waiting:
        return []
    made = [
        f"| {WAITS} | cell | of | predicted | guess | unit |",
        "| --- | --- | --- | ---: | ---: | --- |",
    ]
    for row in waiting:
        guess, system = (row.basis.guess, row.basis.system) if row.basis else (None, "")
        cells = row.quantity, row.cell, system, shown(row.simulated), shown(guess), row.unit
        made.append(f"| {' | '.join(cells)} |")
    guessed = dict.fromkeys(row.basis.guessed for row in waiting if row.basis)
    return [*made, "", *(f"- guess: {rule}." for rule in guessed), *_moved(waiting)]


def _table(rows: list[Row]) -> list[str]:
    lines = [
        "| quantity | cell | kind | published | simulated | unit | error | % | held to | within |",
        "| --- | --- | --- | ---: | ---: | --- | ---: | ---: | --- | --- |",
    ]
    for row in rows:
        half = f" ± {row.half_width:.2g}" if row.half_width is not None else ""
        percent = f"{100 * row.relative_error:+.1f}" if row.relative_error is not None else ""
        cells = (
            row.quantity,
            row.cell,
            row.basis.kind if row.basis else "",
            shown(row.published),
            shown(row.simulated) + half,
            row.unit,
            f"{row.error:+.3g}",
            percent,
            row.tolerance.words(row.unit),
            {True: "yes", False: "**no**", None: ""}[row.within],
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines
