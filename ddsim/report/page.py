"""The report of a run."""

import math
from collections.abc import Callable, Sequence
from functools import partial

from ddsim.figures.exchange import exchange
from ddsim.figures.goodput import goodput
from ddsim.figures.learning import learning
from ddsim.figures.style import in_order, words
from ddsim.figures.timeline import timeline
from ddsim.report.charts import accounts_chart, available, timelines
from ddsim.report.parts import GOODPUT_MEANS, Chart, Section, Table, number, page, percent, picture
from ddsim.report.quality import PARTS, quality_section, quality_text
from ddsim.report.scenario import (
    RESTS_ON,
    assumptions_section,
    described,
    rests_on,
    scenario_section,
)
from ddsim.results import MethodResult, Results
from ddsim.results.verdict import verdict
from ddsim.results.worth import Part, interval_of

_HOUR = 3600.0
_EXACT = 1e-15  # what numbers of this kind can tell
_COST = "usd_per_billion_merged_tokens"
RAN = ("running", "exposed_communication", "waiting_on_peers", "waiting_on_data")
"""States of a unit that runs, waits within its steps among them."""


def run_report(results: Results, *, title: str | None = None) -> str:
    """The result of `ddsim.run` as one HTML document that needs no network.

    title: the question that it answers; the scenario's description unless given.
    """
    sections = [_comparison(results), _accounts(results)]
    if any(item.timeline for item in results.results):
        sections.append(_timeline(results))
    if any(item.learning is not None for item in results.results):
        sections.append(_learning(results))
    if any(item.quality is not None for item in results.results):
        sections.append(quality_section(results))
    sections.append(_trust(results))
    if rests_on(results.given):
        sections.append(assumptions_section(results.given))
    sections.append(scenario_section(results.resolved))
    histories = "one failure history"
    if results.replications > 1:
        histories = f"{results.replications} failure histories, the same for every method"
    facts = [
        ("Scenario", results.scenario),
        ("Simulated", _length(results)),
        ("Histories", histories),
        ("Seed", str(results.seed)),
        *((RESTS_ON, said) for said in [rests_on(results.given)] if said),
    ]
    heading = title or described(results.resolved) or results.scenario
    return page(heading, facts, sections, results.version, lead=_lead(results))


def _length(results: Results) -> str:
    ended = any(item.goal == "reached" for item in results.results)
    if math.isfinite(results.duration_s) and not ended:
        return f"{number(results.duration_s / _HOUR)} h"
    return f"up to {number(max(item.wall_clock_s for item in results.results) / _HOUR)} h"


def _lead(results: Results) -> Section:
    """Who is first, and the numbers that a choice rests on."""
    valued = [item for item in results.results if item.quality is not None]
    columns: dict[str, Callable[[MethodResult], str]] = {"merged goodput (%)": _merged}
    for part, heading in PARTS.items():
        if part != "loss" and any(interval_of(item, part) for item in valued):
            columns[heading] = partial(_worth, part=part)
    if len(columns) == 1:
        columns["merged tokens an hour (billion)"] = _rate
        if any(_COST in item.extra.get("costs", {}) for item in results.results):
            columns["USD per billion merged tokens"] = _cost
    ranked = sorted(results.results, key=lambda item: -item.merged_goodput)
    rows = [[words(item.method), *(say(item) for say in columns.values())] for item in ranked]
    caption = "By merged goodput, highest first"
    if results.replications > 1 or valued:
        caption += "; intervals in brackets"
    return Section(
        "", [verdict(results)], tables=[Table(caption, ["method", *columns], rows, True)]
    )


def _merged(item: MethodResult) -> str:
    ends = item.merged_goodput_ci95
    return percent(item.merged_goodput) + (f" ({_ends(ends)})" if ends else "")


def _worth(item: MethodResult, part: Part) -> str:
    return quality_text(interval_of(item, part))


def _rate(item: MethodResult) -> str:
    rate = item.merged_tokens_per_hour
    return number(None if rate is None else rate / 1e9)


def _cost(item: MethodResult) -> str:
    return number(item.extra.get("costs", {}).get(_COST))


def _comparison(results: Results) -> Section:
    columns = [
        "method",
        "merged goodput (%)",
        "95% interval",
        "ratio to data_parallel",
        "goodput (%)",
        "95% interval of goodput",
        "merged share (%)",
        "uptime (%)",
        "compute utilization (%)",
        "merged tokens an hour (billion)",
        "failures",
        "WAN mean (Gbit/s)",
        "WAN peak (Gbit/s)",
    ]
    rows = [_compared(results, item) for item in results.results]
    texts = [
        f"{GOODPUT_MEANS} The ratio is of merged tokens an hour. "
        "Utilization is compute over compute and waiting, for bytes, peers or data.",
    ]
    return Section("Comparison", texts, tables=[Table("Methods side by side", columns, rows)])


def _compared(results: Results, item: MethodResult) -> list[str]:
    ratio, merged = results.ratio(item.method), item.merged_tokens_per_hour
    return [
        words(item.method),
        percent(item.merged_goodput),
        _ends(item.merged_goodput_ci95),
        "\N{EN DASH}" if ratio is None else f"{number(ratio, 3)}\N{MULTIPLICATION SIGN}",
        percent(item.goodput),
        _ends(item.goodput_ci95),
        percent(item.merged_share),
        percent(item.uptime),
        percent(item.compute_utilization),
        number(None if merged is None else merged / 1e9),
        number(item.failures),
        number(item.wan["mean_gbps"], 3),
        number(item.wan["peak_gbps"], 3),
    ]


def _ends(interval: tuple[float, float] | None) -> str:
    return "\N{EN DASH}" if interval is None else " to ".join(percent(end) for end in interval)


def _accounts(results: Results) -> Section:
    names = in_order({name for r in results.results for name, x in r.accounts.items() if x > 0})
    rows = [
        [words(name), *(percent(item.accounts.get(name, 0.0)) for item in results.results)]
        for name in names
    ]
    columns = ["account", *(words(method) for method in results.methods)]
    table = Table("Share of all chip-time, in per cent; each column adds up to 100", columns, rows)
    said = "; ".join(_said(item) for item in results.results)
    remarks = [f"{line}." for item in results.results for line in item.remarks]
    alternative = (
        f"A bar a method, divided into accounts, overwritten work hatched. {said}. "
        "The table below has every number."
    )
    charts = []
    if available():
        specification, keys = accounts_chart(results)
        charts = [Chart(specification, f"A bar a method, divided into accounts. {said}.", keys)]
    figure = picture(goodput(results), "Where the chip-time goes", alternative, charts)
    names = [words(method) for method in results.methods]
    return Section("Where the time went", remarks, [figure], [table], methods=names)


def _said(item: MethodResult) -> str:
    lost = {name: share for name, share in item.accounts.items() if name != "productive"}
    text = f"{words(item.method)}: merged goodput {percent(item.merged_goodput, 1)}%"
    text += f" of a goodput of {percent(item.goodput, 1)}%"
    if lost:
        most = max(lost, key=lambda name: lost[name])
        text += f", most of the rest is {words(most)} at {percent(lost[most], 1)}%"
    return text


def _timeline(results: Results) -> Section:
    rows = []
    for item in results.results:
        units = dict.fromkeys(span.unit for span in item.timeline)
        rows += [[f"{words(item.method)}, {unit}", *_states(item, unit)] for unit in units]
    charts = [
        Chart(specification, f"{words(method)}: a row a unit over time", keys, words(method))
        for method, (specification, keys) in (timelines(results) if available() else {}).items()
    ]
    figure = picture(
        timeline(results),
        "What every learner unit did, when",
        "A row a learner unit over time: its method's colour is as high as the share of its chips' "
        "time that computes. The table below says for what share of the time each unit ran.",
        charts,
    )
    figures = [figure]
    merging = [item for item in results.results if item.merges and item.timeline]
    if merging:
        best = max(merging, key=lambda item: item.merged_goodput)
        figures.append(
            picture(
                exchange(results, best.method),
                f"Failures (triangles), merges and links: {words(best.method)}",
                "Units over time, a triangle at each failure; below, the share of the learners in "
                f"merges ({percent(best.participation, 1)}% in the mean of the whole run) and the "
                "share of the time in which a merge is under way.",
            )
        )
    columns = [
        "unit",
        "ran (%)",
        "computed (%)",
        "without hardware (%)",
        "otherwise stopped (%)",
        "stops",
    ]
    table = Table("Units over the whole time", columns, rows)
    texts = [
        "While a unit runs, the colour of its method is as high as the share of its chips' time "
        "that computes; waits within steps that are too short to be drawn are pale."
    ]
    if results.replications > 1:
        texts.append("The first history is shown.")
    return Section("Timeline", texts, figures, [table], zoom=bool(charts))


def _states(item: MethodResult, unit: str) -> list[str]:
    spans = [span for span in item.timeline if span.unit == unit]
    whole = sum(span.end - span.start for span in spans) or 1.0

    def share(states: Sequence[str]) -> float:
        return sum(span.end - span.start for span in spans if span.state in states) / whole

    ran, gone = share(RAN), share(["failed_hardware", "unallocated"])
    computed = sum((span.end - span.start) * (span.computing or 0.0) for span in spans) / whole
    known = any(span.computing is not None for span in spans)
    stops = sum(span.state not in RAN for span in spans)
    return [
        percent(ran),
        percent(computed if known else None),
        percent(gone),
        percent(max(0.0, 1 - ran - gone)),
        str(stops),
    ]


def _learning(results: Results) -> Section:
    trained = [(item, item.learning) for item in results.results if item.learning is not None]
    rows = [
        [words(item.method), number(of["initial_loss"]), number(of["final_loss"])]
        for item, of in trained
    ]
    ends = "; ".join(f"{row[0]} from {row[1]} to {row[2]}" for row in rows)
    figure = picture(learning(results), "Loss over wall-clock", f"A curve a method. {ends}.")
    columns = ["method", "at the start", "at the end"]
    if any("floor" in of for _, of in trained):
        columns.append("above the floor")
        for row, (_, of) in zip(rows, trained, strict=True):
            row.append(number(of["final_loss"] - of["floor"]) if "floor" in of else "-")
    if any("rates" in of for _, of in trained):
        columns.append("learning rates")
        for row, (_, of) in zip(rows, trained, strict=True):
            rates = of.get("rates", {}).items()
            row.append(", ".join(f"{which} {rate:g}" for which, rate in rates) or "-")
    table = Table("Loss of the trained model", columns, rows)
    return Section("Learning", figures=[figure], tables=[table])


def _trust(results: Results) -> Section:
    off = max(abs(sum(item.accounts.values()) - 1) for item in results.results)
    texts = [
        f"The accounts of every method add up to all chip-time, to {max(off, _EXACT):.1g} of it.",
        "Every method met the same failures, drawn before any of them ran.",
    ]
    if results.replications == 1:
        texts.append("One history says nothing of chance: more replications give intervals.")
    conventions = dict.fromkeys(item.wan["convention"] for item in results.results)
    texts += [f"WAN: {convention}." for convention in conventions]
    return Section("How far to trust it", texts)
