"""What reproductions found, as one HTML file."""

from collections.abc import Mapping

from ddsim import __version__
from ddsim.report.parts import Section, Table, number, page, picture
from ddsim.reproduce.headline import percent
from ddsim.reproduce.registry import Found, every
from ddsim.reproduce.rows import Row, beside_published, misses
from ddsim.reproduce.summary import by_kind, contradicted, predictions

_COLUMNS = ("cell", "quantity", "kind", "published", "simulated", "unit", "held to", "within")


def html(found: Mapping[str, Found], *, quick: bool = False) -> str:
    """The validation table and all figures as one HTML document that needs no network."""
    rows = [row for item in found.values() for row in beside_published(item.rows)]
    held = [row for row in rows if row.within is not None]
    facts = [
        ("Numbers", f"{len(rows)} published or measured"),
        ("Held to a tolerance", str(len(held))),
        ("Within it", str(len(held) - len(misses(rows)))),
        *((f"Of kind {of.kind}", str(of.numbers)) for of in by_kind(found)),
        ("Median error of the predicted", percent(predictions(found).median)),
        ("Worst error of the predicted", percent(predictions(found).worst)),
        ("Pass", "coarse" if quick else "full"),
    ]
    titles = {name: item.title for name, item in every().items()}
    against = [
        f"{name}: {said.says} {said.ours} {said.explained}" for name, said in contradicted(found)
    ]
    sections = [
        Section("Contradicted conclusions", against or ["None."], [], []),
        *(_section(titles[name], item) for name, item in found.items()),
    ]
    return page("Simulated beside published", facts, sections, __version__)


def _section(title: str, item: Found) -> Section:
    figures = [
        picture(
            ax,
            ax.get_title(loc="left"),
            f"{ax.get_title(loc='left')}. The table below has the published numbers and those "
            "simulated beside them."
            if beside_published(item.rows)
            else f"{title}. Nothing but the picture is published.",
        )
        for ax in item.figures.values()
    ]
    rows = [_cells(row) for row in beside_published(item.rows)]
    tables = [Table(f"{title}: published and simulated", _COLUMNS, rows)] if rows else []
    return Section(title, [item.note] if item.note else [], figures, tables)


def _cells(row: Row) -> list[str]:
    return [
        row.cell,
        row.quantity,
        row.basis.kind if row.basis else "",
        number(row.published),
        number(row.simulated),
        row.unit,
        row.tolerance.words(row.unit),
        {True: "yes", False: "no", None: ""}[row.within],
    ]
