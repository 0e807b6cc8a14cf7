"""A study in sentences."""

from __future__ import annotations

from math import floor, inf
from statistics import median
from typing import TYPE_CHECKING, Any

from ddsim.results.metrics import LOSS
from ddsim.results.saying import in_words, with_ends
from ddsim.results.telling import NEGLIGIBLE
from ddsim.study.caveats import edge_sentence, unpriced_sentence
from ddsim.study.tables import Table
from ddsim.study.telling import ends_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.study.measures import Measured
    from ddsim.study.planning import Candidate, Plan
    from ddsim.study.results import Study
    from ddsim.world.chance import Chance

INNER_STEPS = "training.inner_steps"
"""What loss stands beside: a longer H saves bytes and costs loss, which no share of time shows."""
_BY_LOSS = (LOSS, "hours_to_target", "cost_to_target", "final_loss")
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


def lacking_sentence(study: Study) -> str | None:
    """How many histories have the metric, where some lack it; None where none does."""
    counts = [
        (found.n / len(study.rows[cell.index]), found.n, cell)
        for cell in study.done
        if cell.is_base and (found := study.measured.get(cell.index)) is not None
    ]
    share, n, cell = min(counts, key=lambda item: item[0], default=(1.0, 0, None))
    if cell is None or share == 1.0:
        return None
    return (
        f"{study.metric} is the mean of the histories that have it: {n} of "
        f"{len(study.rows[cell.index])} in {cell.words}, where fewest have"
    )


def unsure_sentence(study: Study) -> str | None:
    """Which cells have no interval for want of histories that differ; None where all have one."""
    base = [cell for cell in study.done if cell.is_base]
    found = [(cell, study.measured.get(cell.index)) for cell in base]
    without = [(cell, it) for cell, it in found if it is not None and it.n > 1 and not it.enough]
    if not without:
        return None
    cell, it = without[0]
    which = f"{len(without)} of {len(base)} cells" if len(base) > 1 else "the cell"
    return (
        f"no interval for {which}: too few histories differ. "
        f"{cell.words}: {_evidence(it, cell.chance)}"
    )


def _evidence(it: Measured, chance: Chance) -> str:
    # no more histories than there are failures can meet one
    unseen = it.unseen if chance.faults else min(it.unseen, chance.strikes)
    unlike = it.differing
    return (
        f"of {it.n} histories {unlike or 'none'} {'differs' if unlike < 2 else 'differ'} from the "
        f"rest and {it.struck or 'none'} met a failure, where {_expected(chance.strikes)} in each; "
        f"up to {100 * unseen:.2g}% of all histories may be unlike any that was seen (95%)"
    )


def _expected(strikes: float) -> str:
    return f"{strikes:.2g} {'is' if strikes <= 1.0 else 'are'} expected"


def plan_sentence(plan: Plan) -> str:
    """The choice, which others do as well, how sure it is, and what it took."""
    best, others = plan.best, len(plan.candidates) - 1
    ends = None if plan.low is None or plan.high is None else (plan.low, plan.high)
    more = f", though chosen among {len(plan.candidates)}" if others else ""
    said = [
        f"best: {_named(best)}: {plan.metric} {with_ends(plan.metric, best.value, ends, more)}, "
        f"the mean of {_count(best.histories, 'history', 'histories')}{_tie(plan)}{_near(plan)}."
    ]
    if others:
        said.append(
            _untold(plan) if plan.untold == plan.finalists - 1 - plan.tied > 0 else _sure(plan)
        )
    said.append(f"{plan.runs} runs, of {plan.exhaustive} for every candidate on every history.")
    return " ".join(said)


def _tie(plan: Plan) -> str:
    if not plan.tied:
        return ""
    equal = [item for item in plan.candidates[1 : plan.finalists] if item.behind == 0.0]
    if plan.tied == 1:
        return f"; {_named(equal[0])} does as well, the same in every history"
    return f"; {plan.tied} more do as well, {_named(equal[0])} first among them"


def _near(plan: Plan) -> str:
    near = [item for item in plan.near if item.behind != 0.0]
    if not near:
        return ""
    return f"; within {NEGLIGIBLE:.1%} of it, too little to matter: {_some(near)}"


def _some(candidates: Sequence[Candidate]) -> str:
    more = f" and {len(candidates) - _NAMED} more" if len(candidates) > _NAMED else ""
    return "; ".join(_named(item) for item in candidates[:_NAMED]) + more


def _untold(plan: Plan) -> str:
    if plan.best.histories == 1:
        return "One history cannot tell it apart from the others: more replications do."
    return (
        f"Nothing told it apart from {plan.untold} of the {len(plan.candidates) - 1} others: of "
        f"{_count(plan.best.histories, 'history', 'histories')} {plan.struck or 'none'} met a "
        f"failure, where {_expected(plan.expected)} in each."
    )


def loss_sentence(plan: Plan) -> str | None:
    """What the law says of the choice, where H was chosen by what does not know of loss."""
    if not any(INNER_STEPS in item.settings for item in plan.candidates):
        return None
    least, best = plan.least_loss, plan.best
    if least is None or plan.metric in _BY_LOSS or best.loss is None:
        return None
    mine, theirs = f"{best.loss:.5g}", f"{least.loss:.5g}"
    if mine == theirs:
        return None
    return f"by {LOSS} {_named(least)} comes first: {theirs} against {mine} nats"


def caveat_sentences(plan: Plan) -> list[str]:
    """What the ranking of the candidates does not know: what has no price, what was not tried."""
    varied = dict.fromkeys(name for item in plan.candidates for name in item.settings)
    unpriced = unpriced_sentence(varied, plan.metric)
    best = plan.best
    tried = [item.settings for item in plan.candidates if item.method == best.method]
    return [*filter(None, [unpriced, edge_sentence(best.settings, tried)])]


def rivals_sentence(plan: Plan) -> str | None:
    """What a law leaves open of the choice, whatever the histories; None where no law is asked."""
    others = plan.candidates[1:]
    if not others or len(ends_of(plan.metric)) == 1:
        return None
    if not plan.rivals:
        return "The law's doubt does not change that: both its ends, the same for all, leave it so."
    return (
        "That is with the law at its middle. Its doubt, the same for all, cannot tell the best "
        f"apart from {_some(plan.rivals)}."
    )


def _sure(plan: Plan) -> str:
    over = f"over all {len(plan.candidates)} candidates"
    if plan.sure > 0.0:
        text = f"By the histories sure at {_down(plan.sure)} {over} that none is better"
    else:
        text = f"Not settled {over}: {plan.finalists - 1 - plan.tied} could be better"
    if plan.at_most is None:
        return f"{text}."
    if plan.at_most <= _EQUAL * abs(plan.best.value):
        return f"{text}."
    at_most = in_words(plan.metric, plan.at_most)
    return f"{text}; another is better by at most {at_most} (95%)."


def _down(share: float) -> str:
    """A share in per cent, not rounded up to certainty."""
    return f"{floor(100 * share)}%"


def _count(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"


def _named(candidate: Candidate) -> str:
    settings = ", ".join(f"{name}={label}" for name, label in candidate.settings.items())
    return f"{candidate.method}{f' with {settings}' if settings else ''}"
