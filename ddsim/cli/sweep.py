"""`ddsim sweep`: a grid of cells, each replicated, with intervals."""

import shlex
import sys
from pathlib import Path

import click

from ddsim.cli import consent
from ddsim.cli import study_options as options
from ddsim.cli.base import say_error, talk, talk_options

EXAMPLE = """Example:

\b
  ddsim sweep four_regions_12b --vary "network.bandwidth=2 Gbit/s,5 Gbit/s"
  ddsim sweep my_run.yaml --half-width 0.5% --out out/sweep
  ddsim sweep my_run.yaml --why --replications 50
  ddsim sweep my_run.yaml --executor dask --scheduler tcp://10.0.0.5:8786
"""
LEAST = 10
"""Replications that --half-width takes at least."""
RERUNS = 6.0
"""How many times over --why simulates a cell, about."""


@click.command(
    name="sweep", short_help="Run a grid over scenario paths, replicated.", epilog=EXAMPLE
)
@click.argument("scenario")
@options.vary
@options.methods
@options.seed
@options.replications
@click.option(
    "--half-width",
    metavar="W",
    help="Instead of R: replicate until the 95% interval of the metric is no wider on each side; "
    "0.5% is a share of the mean, 0.005 is in the metric's unit.",
)
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    metavar="R",
    help="Replications of a cell at most, with --half-width.",
)
@options.metric
@click.option(
    "--why", is_flag=True, help="Rerun each cell with each cause of lost time at zero, and rank."
)
@click.option(
    "--tornado/--no-tornado",
    default=None,
    help="Rerun with each uncertain input at its ends; as a rule where nothing else varies.",
)
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
    seed: int | None,
    replications: int,
    half_width: str | None,
    most: int,
    metric: str,
    why: bool,
    tornado: bool | None,
    overrides: tuple[str, ...],
    jobs: int,
    executor: str,
    scheduler: str | None,
    out: Path | None,
    as_json: bool,
    yes: bool,
) -> None:
    """Run a grid over scenario paths, every cell replicated on the same failure histories.

    SCENARIO is a YAML file or the name of a shipped scenario. Without --vary its own `study` is
    the grid. With --out the study is kept in that folder, and the same command goes on where it
    stopped.
    """
    from ddsim import study
    from ddsim.cli.loading import load_varied
    from ddsim.cli.study_progress import study_bar
    from ddsim.study.sweeping import known_metric

    known_metric(metric)
    options.refuse_idle("--most", half_width is not None, "goes with --half-width alone")
    options.refuse_idle("--replications", half_width is None, "and --half-width exclude each other")
    options.refuse_idle("--scheduler", executor == "dask", "goes with --executor dask alone")
    voice = talk()
    seeds = () if seed is None else (f"seed={seed}",)
    consent.heed_size(scenario, overrides, replications, given=yes)
    world = load_varied(scenario, (*overrides, *seeds), vary)
    consent.before_a_study(
        world.choose(methods) if methods else world,
        vary,
        replications if half_width is None else min(LEAST, most),
        jobs,
        given=yes,
        reruns=RERUNS if why else 1.0,
    )
    try:
        with study_bar(voice) as progress:
            found = study.sweep(
                world,
                vary or None,
                methods=methods or None,
                replications=replications,
                half_width=half_width,
                most=most,
                metric=metric,
                why=why,
                tornado=tornado,
                out=out,
                jobs=jobs,
                executor=executor,
                scheduler=scheduler,
                progress=progress,
            )
    except KeyboardInterrupt:
        _say_how_to_go_on(out)
        raise
    for words, reason in found.left_out:
        voice.say(f"left out: {words}: {reason}")
    if half_width is not None and (without := found.without_interval):
        voice.say(
            f"{without} of {len(found.done)} cells have no interval after {most} replications: too "
            "few of their histories differ; more are allowed with --most"
        )
    if found.too_wide:
        voice.say(
            f"{found.too_wide} of {len(found.done)} cells are wider than {half_width} after "
            f"{most} replications; more are allowed with --most"
        )
    if as_json:
        from ddsim.cli.documents import print_json
        from ddsim.cli.study_report import document

        print_json(document(found))
    else:
        from ddsim.cli.study_report import show_study

        show_study(found)
    if out is not None:
        voice.say(f"saved in {out}: cells.csv and the other tables")


def _say_how_to_go_on(out: Path | None) -> None:
    if out is None:
        say_error("stopped; nothing is kept without --out")
        return
    from ddsim.study import Study, StudyError

    try:
        begun = Study.load(out)
        kept = f"{len(begun.done)} of {len(begun.cells)} cells are in {out}"
    except StudyError:
        kept = f"nothing is in {out} yet"
    again = shlex.join(["ddsim", *sys.argv[1:]])
    say_error(f"stopped; {kept}. To go on: {again}")
