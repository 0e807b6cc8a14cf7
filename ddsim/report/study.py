"""The report of a study."""

from collections.abc import Sequence
from typing import Any

from ddsim.figures.study import sweep, tornado
from ddsim.figures.style import words
from ddsim.report.parts import Picture, Section, Table, number, page, picture
from ddsim.report.scenario import described, scenario_section
from ddsim.study.results import Study
from ddsim.study.tables import Table as StudyTable
from ddsim.study.tables import interval_columns

_MOST_ROWS = 200  # of a table; a study's folder has all of them
_TABLES = {  # name -> heading and what it says
    "differences": ("Differences", "Pairs of methods on the same histories"),
    "losses": ("Where the time went", "Accounts of each cell, ranked"),
    "why": ("Why", "The gain in goodput with each cause of lost time away"),
}


def study_report(study: Study, *, title: str | None = None) -> str:
    """A study as one HTML document that needs no network.

    title: the question that it answers; the scenario's description unless given.
    """
    tables = study.tables()
    sections = [_cells(study, tables)]
    for name, (heading, caption) in _TABLES.items():
        if name in tables and tables[name].rows:
            sections.append(Section(heading, tables=[_table(caption, tables[name])]))
    if "tornado" in tables and tables["tornado"].rows:
        sections.append(_tornado(study, tables["tornado"]))
    sections.append(scenario_section(study.resolved))
    done = f"{len(study.done)} of {len(study.cells)}" if study.cells else "none"
    facts = [
        ("Scenario", study.scenario),
        ("Varied", ", ".join(study.columns) or "nothing"),
        ("Measured", words(study.metric)),
        ("Cells done", done),
        ("Seed", str(study.seed)),
    ]
    heading = title or described(study.resolved) or study.scenario
    return page(heading, facts, sections, study.version)


def _cells(study: Study, tables: dict[str, StudyTable]) -> Section:
    cells = tables["cells"]
    chosen = [*study.columns, "method", "replications", *interval_columns(study.metric)]
    chosen = [name for name in dict.fromkeys(chosen) if name in cells.columns]
    places = [list(cells.columns).index(name) for name in chosen]
    rows = [[row[place] for place in places] for row in cells.rows]
    caption = f"{words(study.metric).capitalize()} of each cell with its 95% interval"
    figure: list[Picture] = []
    if study.done:
        alternative = f"{words(study.metric)} over what varies, a line a method; numbers below."
        figure = [picture(sweep(study), caption, alternative)]
    texts = ["All cells meet the same failure histories."]
    texts += [f"Left out, for no scenario can be so: {name}: {why}" for name, why in study.left_out]
    return Section("Comparison", texts, figure, [_shown(caption, chosen, rows)])


def _tornado(study: Study, found: StudyTable) -> Section:
    caption = f"{words(study.metric).capitalize()} with each uncertain input at its ends"
    figure = picture(tornado(study), caption, "A bar an input, widest swing first; numbers below.")
    return Section("What matters most", figures=[figure], tables=[_table(caption, found)])


def _table(caption: str, found: StudyTable) -> Table:
    return _shown(caption, list(found.columns), found.rows)


def _shown(caption: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    if len(rows) > _MOST_ROWS:
        caption += f"; the first {_MOST_ROWS} of {len(rows)} rows"
    body = [[_text(value) for value in row] for row in rows[:_MOST_ROWS]]
    return Table(caption, [words(name) for name in columns], body)


def _text(value: Any) -> str:
    if value is None:
        return "\N{EN DASH}"
    return number(value) if isinstance(value, float) else words(str(value))
