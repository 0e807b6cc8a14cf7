"""The report of a study."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from ddsim.figures.first import first
from ddsim.figures.study import sweep, tornado
from ddsim.figures.style import in_order, words
from ddsim.figures.units import is_share, metric_label
from ddsim.report.cells import base_cells, cells_as_data, choices_of, maps_of, with_interval
from ddsim.report.charts import available
from ddsim.report.parts import (
    GOODPUT_MEANS,
    Map,
    Picture,
    Section,
    Table,
    number,
    page,
    percent,
    picture,
)
from ddsim.report.quality import law_texts
from ddsim.report.scenario import (
    RESTS_ON,
    assumptions_section,
    described,
    rests_on,
    scenario_section,
)
from ddsim.report.study_charts import sweep_chart, tornado_chart
from ddsim.results.metrics import LOSS, RANKING, RATIO
from ddsim.study.caveats import caveats_of, in_short, short_names, with_meaning
from ddsim.study.grid import BASE, SPECIAL, CellName
from ddsim.study.measures import sign_of, values_of
from ddsim.study.results import Study
from ddsim.study.tables import Table as StudyTable
from ddsim.study.verdict import verdict
from ddsim.study.work import ACCOUNT

_MOST_ROWS = 200  # of a table; a study's folder has all of them
_MOST_CELLS = 1000  # of that to which maps lead
_TABLES = {  # name -> heading and what it says
    "first": (
        "Who is first",
        "Two are compared history by history, what the law leaves open at the same end for both",
    ),
    "differences": ("Differences", "Pairs of methods on the same histories"),
    "why": ("Why", "The gain in goodput with each cause of lost time away"),
}

_MATTER = {  # what stands first in a table
    "first": ("first", "cannot_tell_apart_from"),
    "differences": ("method", "against", "difference", "low", "high"),
}


def study_report(study: Study, *, title: str | None = None) -> str:
    """A study as one HTML document that needs no network.

    title: the question that it answers; the scenario's description unless given.
    """
    tables = study.tables()
    valued = any(it.get(f"{LOSS}_best") is not None for rows in study.rows.values() for it in rows)
    by_law = law_texts(study.resolved) if valued else []
    sections = [_cells(study, tables)]
    if study.done:
        sections.append(_accounts(study))
    for name, (heading, caption) in _TABLES.items():
        if name in tables and tables[name].rows:
            figures = [_first(study, caption)] if name == "first" else []
            found = _first_columns(tables[name], _MATTER.get(name, ()))
            table = _table("The same in numbers" if figures else caption, found, study.columns)
            sections.append(Section(heading, [], figures, [table]))
    if "tornado" in tables and tables["tornado"].rows:
        sections.append(_tornado(study, tables["tornado"]))
    if rests_on(study.given):
        sections.append(assumptions_section(study.given))
    sections.append(scenario_section(study.resolved))
    done = f"{len(study.done)} of {len(study.cells)}" if study.cells else "none"
    facts = [
        ("Scenario", study.scenario),
        ("Varied", "; ".join(map(with_meaning, study.columns)) or "nothing"),
        ("Measured", words(study.metric)),
        ("Cells done", done),
        ("Seed", str(study.seed)),
        *((RESTS_ON, said) for said in [rests_on(study.given)] if said),
    ]
    heading = title or described(study.resolved) or study.scenario
    lead = Section(
        "",
        [verdict(study), *by_law, *map(_sentence, caveats_of(study))],
        tables=[_best(study)] if study.measured else [],
    )
    return page(heading, facts, sections, study.version, lead=lead)


def _first_columns(found: StudyTable, names: Sequence[str]) -> StudyTable:
    """A table with these columns before all others, as a narrow screen begins with them."""
    order = [name for name in names if name in found.columns]
    order += [name for name in found.columns if name not in names]
    places = [found.columns.index(name) for name in order]
    return StudyTable(order, [[row[place] for place in places] for row in found.rows])


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _best(study: Study) -> Table:
    """The best cell of each method."""
    best: dict[str, CellName] = {}
    sign = sign_of(study.metric)
    known = [cell for cell in base_cells(study) if cell.index in study.measured]
    for cell in sorted(known, key=lambda cell: -sign * study.measured[cell.index].value):
        best.setdefault(cell.method, cell)
    rows = [
        [
            words(cell.method),
            with_interval(study.metric, study.measured[cell.index]),
            in_short(study.columns, cell.but(*SPECIAL)) or "-",
        ]
        for cell in best.values()
    ]
    caption = "The best cell of each method; in brackets the 95% interval of each alone"
    label = f"{words(study.metric)} (%)" if is_share(study.metric) else metric_label(study.metric)
    return Table(caption, ["method", label, "with"], rows, lead=True)


def _cells(study: Study, tables: Mapping[str, StudyTable]) -> Section:
    cells = tables["cells"]
    interval = [study.metric, f"{study.metric}_low", f"{study.metric}_high"]
    last = [RANKING, RATIO, "goodput", "replications"]
    chosen = ["method", study.metric, *study.columns, *interval, *last]
    chosen = [name for name in dict.fromkeys(chosen) if name in cells.columns]
    places = [list(cells.columns).index(name) for name in chosen]
    rows = [[row[place] for place in places] for row in cells.rows]
    ids = [f"cell-{row[0]}" for row in cells.rows]
    caption = f"{words(study.metric).capitalize()} of each cell with its 95% interval"
    texts = [f"All cells meet the same failure histories. {GOODPUT_MEANS}"]
    texts += [f"Left out, for no scenario can be so: {name}: {why}" for name, why in study.left_out]
    table = _shown("All cells in numbers", chosen, rows, ids, _MOST_CELLS, study.columns)
    if not study.done:
        return Section("Comparison", texts, tables=[table])
    alternative = f"{words(study.metric)} over what varies, a line a method; numbers below."
    charts = [sweep_chart(study)] if available() else []
    if charts and len({cell.method for cell in base_cells(study)}) > 1:
        caption += "; dashes and rings show a line that lies under another"
    return Section(
        "Comparison",
        texts,
        [picture(sweep(study), caption, alternative, charts)],
        [table],
        methods=list(dict.fromkeys(words(cell.method) for cell in base_cells(study))),
        choices=choices_of(study),
        cells=cells_as_data(study),
        maps=[one for one in maps_of(study) if _fits(one, table)],
    )


def _fits(one: Map, table: Table) -> bool:
    """Whether the table below has all cells to which the tiles of a map lead."""
    return {tile.target for _, tiles in one.rows for tile in tiles if tile.target} <= {*table.ids}


def _first(study: Study, caption: str) -> Picture:
    alternative = "A place for each setting, coloured by who is first; the table below names them."
    return picture(first(study), caption, alternative)


def _accounts(study: Study) -> Section:
    """A row a cell, a column an account that takes any time."""
    means = [
        {
            name: fmean(values_of(study.rows[cell.index], name))
            for name in study.rows[cell.index][0]
            if name.startswith(ACCOUNT)
        }
        for cell in base_cells(study)
    ]
    used = {name for shares in means for name, share in shares.items() if share > 0}
    names = in_order(name.removeprefix(ACCOUNT) for name in used)
    varied = [name for name in study.columns if name not in SPECIAL]
    rows = [
        [
            words(cell.method),
            *(str(cell.settings.get(name, "")) for name in varied),
            *(percent(shares.get(f"{ACCOUNT}{name}")) for name in names),
        ]
        for cell, shares in zip(base_cells(study), means, strict=True)
    ]
    columns = ["method", *short_names(varied).values(), *(words(name) for name in names)]
    caption = "Share of all chip-time, in per cent; the accounts of a row add up to 100"
    return Section("Where the time went", tables=[Table(caption, columns, rows[:_MOST_ROWS])])


def _tornado(study: Study, found: StudyTable) -> Section:
    caption = f"{words(study.metric).capitalize()} with each uncertain input at its ends"
    alternative = "A bar an input, widest swing first; numbers below."
    charts = [tornado_chart(study, found)] if available() else []
    figure = picture(tornado(study), caption, alternative, charts)
    return Section("What matters most", figures=[figure], tables=[_table(caption, found)])


def _table(caption: str, found: StudyTable, paths: Sequence[str] = ()) -> Table:
    return _shown(caption, list(found.columns), found.rows, paths=paths)


def _shown(
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    ids: Sequence[str] = (),
    most: int = _MOST_ROWS,
    paths: Sequence[str] = (),
) -> Table:
    """A table of which the first rows are shown, paths that varied by their last part."""
    if len(rows) > most:
        caption += f"; the first {most} of {len(rows)} rows"
    body = [[_text(value) for value in row] for row in rows[:most]]
    short = short_names(paths)
    names = [short.get(name, name if "." in name else words(name)) for name in columns]
    return Table(caption, names, body, ids=ids[:most])


def _text(value: Any) -> str:
    if value is None:
        return "\N{EN DASH}"
    if value == BASE:
        return "as it is"
    return number(value) if isinstance(value, float) else words(str(value))
