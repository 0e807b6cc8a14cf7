"""`ddsim replay`: train on the schedule of a saved run, without simulating it again."""

from pathlib import Path

import click

from ddsim.cli import consent, options
from ddsim.cli.base import prints_aside, talk, talk_options

EXAMPLE = """Example:

\b
  ddsim run convergence --out out/convergence
  ddsim replay out/convergence --set learning.outer.momentum=0.9
  ddsim run goodput_vs_chips --tape --out out/goodput
  ddsim replay out/goodput --learning convergence --out out/trained
"""


@click.command(
    name="replay", short_help="Train a model on the schedule of a saved run.", epilog=EXAMPLE
)
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--learning",
    metavar="SCENARIO",
    help="Train what this scenario's learning section says.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", help="The trainings' seed: learning.seed."
)
@options.methods
@options.overrides
@options.out
@options.as_json
@consent.yes
@talk_options
def command(
    results: Path,
    learning: str | None,
    seed: int | None,
    methods: tuple[str, ...],
    overrides: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    yes: bool,
) -> None:
    """Train a model on the schedule of a saved run, without simulating it again.

    RESULTS is the folder that `ddsim run --out` made of a scenario with a learning section, or of
    any with `--tape`. With --set only what stands under learning may change. Without changes the
    curves are those of the run.
    """
    from ddsim import replaying
    from ddsim.cli.errors import make_folder, refuse_folders, refuse_study
    from ddsim.cli.progress import progress_bar
    from ddsim.cli.run import files_of, save_run
    from ddsim.cli.run_report import show_run

    voice = talk()
    seeds = () if seed is None else (f"learning.seed={seed}",)
    with prints_aside():
        borrowed = () if learning is None else replaying.learning_of(learning)
    if out is not None:
        make_folder(out)
        refuse_study(out)
        refuse_folders(files_of(out))
    with prints_aside():
        plan = replaying.planned(results, (*borrowed, *overrides, *seeds), methods or None)
    consent.before_a_replay(plan.scenario, plan.recorded.replications, given=yes)
    with progress_bar(voice) as progress:
        trained = plan.carry_out(progress)
    if out is not None:  # whoever reads the tables may leave before their end
        save_run(trained, out, voice)
    if as_json:
        click.echo(trained.to_json())
    else:
        show_run(trained)
