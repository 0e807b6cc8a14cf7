"""The top of the validation page: what is predicted, what contradicts, what misses."""

from collections.abc import Mapping

from ddsim.reproduce.basis import EXPLAINED_FROM, KINDS
from ddsim.reproduce.foretold import WAITS
from ddsim.reproduce.registry import Found
from ddsim.reproduce.rows import Row, misses
from ddsim.reproduce.summary import by_kind, contradicted, predictions


def percent(share: float | None) -> str:
    """A share in percent, with three digits; a dash where there is none."""
    return "-" if share is None else f"{100 * share:.3g}%"


def shown(value: float | None) -> str:
    """A number with four digits; nothing where there is none."""
    return "" if value is None else f"{value:.4g}"


def lines(found: Mapping[str, Found]) -> list[str]:
    """The lines above the tables of the single reproductions."""
    return [
        *_headline(found),
        "",
        *_kinds(found),
        "",
        "Errors are relative to the published number. What one sentence says of many cells (an "
        "uptime of 100%, more than 20 times) stands beside each of them.",
        "",
        "## Contradicted conclusions",
        "",
        *_contradicted(found),
        "",
        "## What misses",
        "",
        *_missed(found),
        "",
        "## Predicted",
        "",
        *_predicted(found),
    ]


def _headline(found: Mapping[str, Found]) -> list[str]:
    said = predictions(found)
    waiting = [f"{WAITS[0].upper()}{WAITS[1:]}: {said.waiting}."] if said.waiting else []
    if not said.rows:
        return ["Nothing here is predicted.", *(["", *waiting] if waiting else [])]
    made = [
        f"**Predicted: {len(said.rows)} numbers, {len(said.systems)} measured systems among them. "
        f"Median error {percent(said.median)}, worst {percent(said.worst)}.**",
        "",
        f"{said.beaten} of the {len(said.rows)} are nearer than the naive guess that stands beside "
        f"each; the median error of those is {percent(said.median_beaten)}.",
    ]
    if said.blind:
        made += [
            "",
            f"{said.blind} of them were predicted before the value was known, each in the commit "
            f"beside it; their median error is {percent(said.median_blind)}.",
        ]
    return [*made, *(["", *waiting] if waiting else [])]


def _kinds(found: Mapping[str, Found]) -> list[str]:
    made = [
        "| kind | what it means | numbers | held to a tolerance | within it | median error | "
        "worst error |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for of in by_kind(found):
        cells = (
            of.kind,
            KINDS[of.kind],
            str(of.numbers),
            str(of.held),
            str(of.within),
            percent(of.median),
            percent(of.worst),
        )
        made.append(f"| {' | '.join(cells)} |")
    return made


def _contradicted(found: Mapping[str, Found]) -> list[str]:
    made = [
        f"- {name}: {said.says} {said.ours} {said.explained}" for name, said in contradicted(found)
    ]
    return made or ["None."]


def _missed(found: Mapping[str, Found]) -> list[str]:
    made = [
        f"- {name}: {row.quantity}, {row.cell}: {shown(row.simulated)} for "
        f"{shown(row.published)} {row.unit} (held to: {row.tolerance.words(row.unit)})"
        for name, item in found.items()
        for row in misses(item.rows)
    ]
    return made or ["Nothing."]


def _predicted(found: Mapping[str, Found]) -> list[str]:
    rows = predictions(found).rows
    if not rows:
        return ["Nothing."]
    made = [
        "| predicted | of | blind, in commit | published | simulated | guess | unit | error | "
        "error of the guess | nearer |",
        "| --- | --- | --- | ---: | ---: | ---: | --- | ---: | ---: | --- |",
        *(_beside_guess(name, row) for name, row in rows),
    ]
    guesses = dict.fromkeys((name, row.basis.guessed) for name, row in rows if row.basis)
    made += ["", "Guesses:", "", *(f"- {name}: {guessed}." for name, guessed in guesses)]
    far: dict[tuple[str, str], list[str]] = {}
    for name, row in rows:
        if row.basis and abs(row.relative_error or 0.0) > EXPLAINED_FROM:
            far.setdefault((name, row.basis.beyond), []).append(row.cell)
    if far:
        made += ["", f"More than {100 * EXPLAINED_FROM:g}% off:", ""]
        made += [f"- {name}: {'; '.join(cells)}. {why}" for (name, why), cells in far.items()]
    return made


def _beside_guess(name: str, row: Row) -> str:
    guess = row.basis.guess if row.basis else None
    cells = (
        f"{name}: {row.quantity}, {row.cell}",
        (row.basis.system if row.basis else "") or "no measurement",
        row.foretold.mark if row.foretold else "",
        shown(row.published),
        shown(row.simulated),
        shown(guess),
        row.unit,
        percent(row.relative_error),
        percent(row.guess_error),
        "yes" if row.beats_guess else "no",
    )
    return f"| {' | '.join(cells)} |"
