"""`ddsim plan`: the best setting of what may vary, and how sure."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ddsim.cli import consent
from ddsim.cli import study_options as options
from ddsim.cli.base import talk, talk_options
from ddsim.results.metrics import LOSS, METRICS, RANKING

if TYPE_CHECKING:
    from ddsim.study import Plan

EXAMPLE = """Example:

\b
  ddsim plan four_regions_12b --method decoupled_diloco --set "duration=2 h"
  ddsim plan my_run.yaml --vary training.quorum=1,2 --vary training.grace=0,1
  ddsim plan my_run.yaml --vary cluster.learners=2,4,8 --objective cost
"""
_ROWS = 15


@click.command(name="plan", short_help="Find the best setting of what may vary.", epilog=EXAMPLE)
@click.argument("scenario")
@options.vary
@options.methods
@click.option(
    "--objective",
    default=RANKING,
    show_default=True,
    metavar="NAME",
    help="A metric, made large or small as `ddsim list metrics` says; `cost` and `energy` for "
    "those per billion merged tokens; `hours_to_target` and `cost_to_target` where there is a law.",
)
@options.seed
@options.replications
@options.overrides
@options.jobs
@options.executor
@options.scheduler
@options.out
@options.as_json
@consent.yes
@talk_options
def command(
    scenario: str,
    vary: tuple[str, ...],
    methods: tuple[str, ...],
    objective: str,
    seed: int | None,
    replications: int,
    overrides: tuple[str, ...],
    jobs: int,
    executor: str,
    scheduler: str | None,
    out: Path | None,
    as_json: bool,
    yes: bool,
) -> None:
    """Find the best setting of what may vary, and say how sure that is over all candidates.

    Candidates race on common failure histories: who is clearly behind meets no more of them, and
    the others meet all. SCENARIO is a YAML file or the name of a shipped scenario. Without --vary
    its own `study` says what may vary, and without that what usually matters for each method.
    """
    from ddsim import study
    from ddsim.cli.loading import load_varied
    from ddsim.cli.study_progress import study_bar
    from ddsim.study.planning import metric_of

    metric_of(objective)
    options.refuse_idle("--scheduler", executor == "dask", "goes with --executor dask alone")
    voice = talk()
    seeds = () if seed is None else (f"seed={seed}",)
    consent.heed_size(scenario, overrides, replications, given=yes)
    world = load_varied(scenario, (*overrides, *seeds), vary)
    consent.before_a_study(
        world.choose(methods) if methods else world,
        vary,
        replications,
        jobs,
        given=yes,
        race=True,
    )
    with study_bar(voice) as progress:
        found = study.plan(
            world,
            vary or None,
            methods=methods or None,
            objective=objective,
            replications=replications,
            out=out,
            jobs=jobs,
            executor=executor,
            scheduler=scheduler,
            progress=progress,
        )
    for words, reason in found.left_out:
        voice.say(f"left out: {words}: {reason}")
    for path, those in found.unread:
        voice.say(f"{path} is not read by {', '.join(those)}: one candidate whatever it is")
    if as_json:
        from ddsim.cli.documents import print_json

        print_json(_document(found))
    else:
        show_plan(found)


def _document(plan: "Plan") -> dict[str, Any]:
    from ddsim.study.words import (
        caveat_sentences,
        loss_sentence,
        plan_sentence,
        records,
        rivals_sentence,
    )

    return {
        "scenario": plan.scenario,
        "objective": plan.objective,
        "metric": plan.metric,
        "sure": plan.sure,
        "at_most": plan.at_most,
        "interval": None if plan.low is None else [plan.low, plan.high],
        "finalists": plan.finalists,
        "tied": plan.tied,
        "untold": plan.untold,
        "runs": plan.runs,
        "exhaustive": plan.exhaustive,
        "sentence": plan_sentence(plan),
        "cannot_tell_apart": rivals_sentence(plan),
        "of_loss": loss_sentence(plan),
        "caveats": caveat_sentences(plan),
        "candidates": records(plan.table()),
    }


def show_plan(plan: "Plan") -> None:
    """Print the candidates, best first, and the choice in a sentence."""
    from ddsim.cli.tables import show, tell
    from ddsim.study.caveats import short_names, with_meaning
    from ddsim.study.words import (
        INNER_STEPS,
        caveat_sentences,
        loss_sentence,
        plan_sentence,
        records,
        rivals_sentence,
    )

    tell(f"{plan.scenario}: {len(plan.candidates)} candidates for {plan.metric}", bold=True)
    table = plan.table()
    varied = table.columns[2 : table.columns.index("histories")]
    if varied:
        tell(f"varied: {'; '.join(map(with_meaning, varied))}")
    click.echo()
    beside = [LOSS] if LOSS in table.columns and INNER_STEPS in varied else []
    header = ["method", *short_names(varied).values(), "histories", METRICS[plan.metric].heading]
    header += ["behind the best", "95% for all"]
    header += [METRICS[name].heading for name in beside]
    rows = [
        [
            row["method"],
            *(str(row[name]) for name in varied),
            str(row["histories"]),
            f"{row[plan.metric]:.5g}",
            f"{row['behind']:.4g}",
            "-"
            if row["behind_low"] is None
            else f"{row['behind_low']:.4g} to {row['behind_high']:.4g}",
            *("-" if row[name] is None else f"{row[name]:.5g}" for name in beside),
        ]
        for row in records(table)
    ]
    show(header, rows[:_ROWS], left=1 + len(varied))
    if len(rows) > _ROWS:
        tell(f"and {len(rows) - _ROWS} more, which dropped out earlier (--json has all)")
    click.echo()
    tell(plan_sentence(plan))
    for sentence in (rivals_sentence(plan), loss_sentence(plan), *caveat_sentences(plan)):
        if sentence is not None:
            tell(sentence)
