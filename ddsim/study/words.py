"""A study in sentences."""

from __future__ import annotations

from math import inf
from statistics import median
from typing import TYPE_CHECKING, Any

from ddsim.study.tables import Table

if TYPE_CHECKING:
    from ddsim.study.planning import Candidate, Plan
    from ddsim.study.results import Study

_FEW = 5e-5
"""Goodput that is not worth a word."""
_NAMED = 3
_EQUAL = 1e-12
"""Relative differences that rounding makes."""


def records(table: Table) -> list[dict[str, Any]]:
    """A table as one mapping a row."""
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def variance_sentence(study: Study) -> str | None:
    """What common histories gained; None without a pair that says it."""
    table = study.tables().get("differences")
    cuts = [row["variance_cut"] for row in records(table)] if table else []
    known = [cut for cut in cuts if cut is not None and 0.0 < cut < inf]
    if not known:
        return None
    pairs = f"{len(known)} pair{'s'[: len(known) != 1]} of methods"
    return (
        f"common histories: the variance of a difference is that of histories drawn apart divided "
        f"by {median(known):.3g} (median of {pairs}; {min(known):.3g} to {max(known):.3g})"
    )


def why_sentences(study: Study) -> list[str]:
    """For each cell where its chip-time went, and what would help most."""
    tables = study.tables()
    if "why" not in tables:
        return []
    losses, causes = records(tables.get("losses", Table([], []))), records(tables["why"])
    sentences = []
    for cell in [cell for cell in study.done if cell.is_base]:
        mine = [row for row in causes if row["cell"] == cell.index]
        if not mine:
            continue
        lost = [
            row
            for row in losses
            if row["cell"] == cell.index
            and row["share"] >= _FEW
            and row["account"] != "unallocated"  # outside goodput
        ]
        where = ", ".join(f"{row['account']} {row['share']:.2%}" for row in lost[:_NAMED])
        sentences.append(
            f"{cell.words}: goodput {mine[0]['goodput']:.4f}"
            + (f"; most of the other chip-time is {where}" if where else "")
            + "; "
            + _helps(mine)
        )
    return sentences


def _helps(mine: list[dict[str, Any]]) -> str:
    helping = [row for row in mine if row["gain"] >= _FEW]
    if not helping:
        return "no single cause, taken away, changes it"
    words = [
        f"without {row['cause']} it would be {row['goodput_without']:.4f} "
        f"(+{row['gain']:.4f}{_interval(row)})"
        for row in helping[:_NAMED]
    ]
    return ", ".join(words)


def _interval(row: dict[str, Any]) -> str:
    if row["gain_low"] is None:
        return ""
    return f", 95% interval {row['gain_low']:.4f} to {row['gain_high']:.4f}"


def plan_sentence(plan: Plan) -> str:
    """The choice, which others do as well, how sure it is, and what it took."""
    best = plan.best
    equal = [item for item in plan.candidates[1 : plan.finalists] if item.behind == 0.0]
    others = f"; {_named(equal[0])} does as well" if len(equal) == 1 else ""
    if len(equal) > 1:
        others = f"; {len(equal)} more do as well, {_named(equal[0])} first among them"
    at_most = plan.at_most if plan.at_most > _EQUAL * abs(best.value) else 0.0
    return (
        f"best: {_named(best)}: {plan.metric} "
        f"{best.value:.5g}, the mean of {best.histories} histories{others}. Among the "
        f"{plan.finalists} that met them all, resampled histories leave it unbeaten "
        f"{plan.sure:.0%} of the time; another is better by at most {at_most:.2g} (95%). "
        f"{plan.runs} runs, of {plan.exhaustive} for every candidate on every history."
    )


def rivals_sentence(plan: Plan) -> str | None:
    """Who cannot be told from the best, where the objective is an interval; None for nobody."""
    rivals = plan.rivals
    if not rivals:
        return None
    more = f" and {len(rivals) - _NAMED} more" if len(rivals) > _NAMED else ""
    names = "; ".join(_named(item) for item in rivals[:_NAMED])
    return f"cannot tell it apart from {names}{more}: their intervals of {plan.metric} overlap"


def _named(candidate: Candidate) -> str:
    settings = ", ".join(f"{name}={label}" for name, label in candidate.settings.items())
    return f"{candidate.method}{f' with {settings}' if settings else ''}"
