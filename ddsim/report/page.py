"""The report of a run."""

import math
from collections.abc import Sequence

from ddsim.figures.exchange import exchange
from ddsim.figures.goodput import goodput
from ddsim.figures.learning import learning
from ddsim.figures.style import in_order, words
from ddsim.figures.timeline import timeline
from ddsim.report.parts import Section, Table, number, page, percent, picture
from ddsim.report.quality import quality_section
from ddsim.report.scenario import described, scenario_section
from ddsim.results import MethodResult, Results

_HOUR = 3600.0


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
    sections += [_trust(results), scenario_section(results.resolved)]
    histories = "one failure history"
    if results.replications > 1:
        histories = f"{results.replications} failure histories, the same for every method"
    facts = [
        ("Scenario", results.scenario),
        ("Simulated", _length(results)),
        ("Histories", histories),
        ("Seed", str(results.seed)),
    ]
    heading = title or described(results.resolved) or results.scenario
    return page(heading, facts, sections, results.version)


def _length(results: Results) -> str:
    if math.isfinite(results.duration_s):
        return f"{number(results.duration_s / _HOUR)} h"
    return f"up to {number(max(item.wall_clock_s for item in results.results) / _HOUR)} h"


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
    best = max(results.results, key=lambda item: item.merged_goodput)
    texts = [
        f"{words(best.method).capitalize()} has the highest merged goodput, "
        f"{percent(best.merged_goodput)}% of the chip-time in the job."
        if len(results.results) > 1
        else f"Merged goodput is {percent(best.merged_goodput)}% of the chip-time in the job.",
        "Goodput is chip-time that went into steps that were kept, over all chip-time in the job; "
        "merged goodput is the part of it that entered a merge, for what a learner trains and has "
        "overwritten before any merge is lost. The ratio is of merged tokens an hour. "
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
    figure = picture(
        goodput(results),
        "Where the chip-time goes",
        f"A bar a method, divided into accounts, overwritten work hatched. {said}. "
        "The table below has every number.",
    )
    return Section("Where the time went", remarks, figures=[figure], tables=[table])


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
    figure = picture(
        timeline(results),
        "What every learner unit did, when",
        "A row a learner unit over time, coloured by its state. The table below says for what "
        "share of the time each unit ran.",
    )
    figures = [figure]
    merging = [item for item in results.results if item.merges and item.timeline]
    if merging:
        best = max(merging, key=lambda item: item.merged_goodput)
        figures.append(
            picture(
                exchange(results, best.method),
                f"Failures, merges and links: {words(best.method)}",
                "Units over time with a mark at each failure; below, the share of the learners in "
                f"merges ({percent(best.participation, 1)}% in the mean of the whole run) and the "
                "share of the time in which a merge is under way.",
            )
        )
    columns = ["unit", "ran (%)", "without hardware (%)", "otherwise stopped (%)", "stops"]
    table = Table("Units over the whole time", columns, rows)
    texts = ["The first history is shown."] if results.replications > 1 else []
    return Section("Timeline", texts, figures, [table])


def _states(item: MethodResult, unit: str) -> list[str]:
    spans = [span for span in item.timeline if span.unit == unit]
    whole = sum(span.end - span.start for span in spans) or 1.0

    def share(states: Sequence[str]) -> float:
        return sum(span.end - span.start for span in spans if span.state in states) / whole

    ran, gone = share(["running"]), share(["failed_hardware", "unallocated"])
    stops = sum(span.state != "running" for span in spans)
    return [percent(ran), percent(gone), percent(max(0.0, 1 - ran - gone)), str(stops)]


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
        f"The accounts of every method add up to all chip-time; they are off by {off:.1g} of it.",
        "Every method met the same failures, drawn before any of them ran.",
    ]
    if results.replications == 1:
        texts.append("One history says nothing of chance: more replications give intervals.")
    conventions = dict.fromkeys(item.wan["convention"] for item in results.results)
    texts += [f"WAN: {convention}." for convention in conventions]
    return Section("How far to trust it", texts)
