"""What `ddsim sweep` prints: the cells, the differences between methods, and why."""

from typing import TYPE_CHECKING, Any

import click

from ddsim.cli.tables import show, tell
from ddsim.cli.words import fraction, quantity, ratio
from ddsim.results.metrics import LOSS, METRICS, RANKING, RATIO, SHARE
from ddsim.scenario.units import span_in_words

if TYPE_CHECKING:
    from ddsim.study import Study

_PAIRS = 40  # rows of differences that a reader still reads; the table on disk has all
_ROUNDING = 1e-12  # what sums of floats leave of nothing
_COUNTED = (
    "tokens_per_hour",
    "merged_tokens_per_hour",
    "usd_per_billion_merged_tokens",
    "energy_kwh_per_billion_merged_tokens",
)
"""Shown behind the shares, where a cell has them and they are not what is compared."""


def document(study: "Study") -> dict[str, Any]:
    """Return the study as plain data: every table but the replications, a mapping a row."""
    from ddsim.study.caveats import caveats_of
    from ddsim.study.results import KEPT
    from ddsim.study.words import records, why_sentences

    found = study.tables()
    tables = {name: found[name] for name in KEPT if name in found}
    return {
        "scenario": study.scenario,
        "seed": study.seed,
        "version": study.version,
        "metric": study.metric,
        "rule": dict(study.rule),
        "left_out": [list(item) for item in study.left_out],
        "why": why_sentences(study),
        "caveats": caveats_of(study),
        "tables": {name: records(table) for name, table in tables.items()},
    }


def show_study(study: "Study") -> None:
    """Print a study's tables and sentences to stdout."""
    from ddsim.study.results import KEPT
    from ddsim.study.words import (
        lacking_sentence,
        records,
        unsure_sentence,
        variance_sentence,
        why_sentences,
    )

    found = study.tables()
    tables = {name: records(found[name]) for name in KEPT if name in found}
    base = {cell.index for cell in study.cells if cell.is_base}
    cells = [row for row in tables["cells"] if row["cell"] in base]
    varied = [name for name in study.columns if name not in ("without", "input")]
    counts = sorted({row["replications"] for row in cells})
    runs = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    title = f"{study.scenario}: seed {study.seed}, {_count(len(cells), 'cell')}, "
    title += f"{runs} replication{'' if runs == '1' else 's'} each"
    tell(f"{title}; means with 95% intervals", bold=True)
    click.echo()
    _show_cells(study, cells, varied)
    pairs = tables.get("differences", [])
    if pairs:
        click.echo()
        _show_differences(study, pairs, varied)
    if "first" in tables:
        click.echo()
        _show_first(study, tables["first"])
    for sentence in (lacking_sentence(study), unsure_sentence(study), variance_sentence(study)):
        if sentence:
            click.echo()
            tell(sentence)
    if "tornado" in tables:
        click.echo()
        _show_tornado(tables["tornado"], varied)
    if "why" in tables:
        click.echo()
        _show_why(tables["why"], varied)
        click.echo()
        for line in why_sentences(study):
            tell(line)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _show_cells(study: "Study", cells: list[dict[str, Any]], varied: list[str]) -> None:
    """Print a row a cell: what methods are ranked by first."""
    from ddsim.study.caveats import caveats_of
    from ddsim.study.words import INNER_STEPS

    names = [RANKING, RATIO, *dict.fromkeys([study.metric, "goodput", *_COUNTED])]
    names += [LOSS] if INNER_STEPS in varied else []
    names = [
        name
        for name in dict.fromkeys(names)
        if name == study.metric or any(row.get(name) is not None for row in cells)
    ]
    rows = [
        [
            *(str(row[name]) for name in varied),
            row["method"],
            *(_with_interval(row, name) for name in names),
        ]
        for row in cells
    ]
    show([*varied, "method", *map(_heading, names)], rows, left=len(varied) + 1)
    for said in caveats_of(study):
        tell(said)


def _heading(name: str) -> str:
    return METRICS[name].heading if name in METRICS else name


def _show_first(study: "Study", rows: list[dict[str, Any]]) -> None:
    from ddsim.study.first import contests

    metric = study.metric
    settings = list(rows[0])[: list(rows[0]).index("first")]
    header = [*settings, "first", metric, "best to worst", "cannot be told apart from"]
    lines = []
    for row in rows:
        ends = [row[f"{metric}_best"], row[f"{metric}_worst"]]
        span = " to ".join("never" if end is None else quantity(end) for end in ends)
        first = row["first"] or "nobody: out of reach"
        lines.append(
            [
                *(str(row[name]) for name in settings),
                first,
                quantity(row[metric]),
                span if row["first"] else "-",
                row["cannot_tell_apart_from"] or "-",
            ]
        )
    show(header, lines, left=len(settings) + 1)
    tell("compared history by history, what the law leaves open at the same end for both")
    if not all(one.sure for one in contests(study)):
        tell("too few histories differ to speak of chance: those apart are so by the law alone")


def _number(name: str, value: float | None) -> str:
    if name == RATIO:
        return ratio(value)
    share = name in METRICS and METRICS[name].unit == SHARE
    return fraction(value, 4) if share else quantity(value)


def _with_interval(row: dict[str, Any], name: str) -> str:
    text = _number(name, row.get(name))
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    if low is None or high is None:
        return text
    return f"{text} ({_number(name, low)} to {_number(name, high)})"


def _show_differences(study: "Study", pairs: list[dict[str, Any]], varied: list[str]) -> None:
    if len(pairs) > _PAIRS:
        where = f"{study.folder}/differences.csv" if study.folder else "--json or --out"
        tell(f"{len(pairs)} paired differences between methods: {where}")
        return
    owned = [name for name in varied if f"against:{name}" in pairs[0]]
    shared = [name for name in varied if name not in owned]
    resampled = "boot_low" in pairs[0]
    rows = [
        [
            *(str(row[name]) for name in shared),
            _owner(row["method"], [row[name] for name in owned]),
            _owner(row["against"], [row[f"against:{name}"] for name in owned]),
            _signed(row["difference"]),
            _range(row["low"], row["high"]),
            *([_range(row["boot_low"], row["boot_high"])] if resampled else []),
        ]
        for row in pairs
    ]
    header = [*shared, "method", "against", f"{study.metric} difference", "95%"]
    header += ["95% bootstrap"] if resampled else []
    show(header, rows, left=len(shared) + 2)


def _owner(method: str, labels: list[Any]) -> str:
    own = ", ".join(str(label) for label in labels if label != "")
    return f"{method} ({own})" if own else method


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.4g}"


def _range(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:+.4g} to {high:+.4g}"


def _show_tornado(rows: list[dict[str, Any]], varied: list[str]) -> None:
    header = [
        *varied,
        "method",
        "uncertain input",
        "5% to 95%",
        "at 5%",
        "at 95%",
        "swing",
        "95%",
    ]
    lines = [
        [
            *(str(row[name]) for name in varied),
            row["method"],
            row["input"],
            span_in_words(str(row["low"]), str(row["high"])),
            _number(row["metric"], row["at_low"]),
            _number(row["metric"], row["at_high"]),
            _signed(row["swing"]),
            row["note"] or _range(row["swing_low"], row["swing_high"]),
        ]
        for row in rows
    ]
    show(header, lines, left=len(varied) + 2)


def _show_why(rows: list[dict[str, Any]], varied: list[str]) -> None:
    header = [*varied, "method", "cause at zero", "goodput", "without it", "gain", "95%"]
    lines = [
        [
            *(str(row[name]) for name in varied),
            row["method"],
            row["cause"],
            fraction(row["goodput"], 4),
            fraction(row["goodput_without"], 4),
            _signed(row["gain"]),
            _range(row["gain_low"], row["gain_high"]),
        ]
        for row in rows
        if abs(row["gain"]) > _ROUNDING
    ]
    show(header, lines, left=len(varied) + 2)
