"""`ddsim run`: the methods of a scenario, compared."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ddsim.cli import consent, options
from ddsim.cli.base import Talk, talk, talk_options

if TYPE_CHECKING:
    from ddsim.results import Results

EXAMPLE = """Example:

\b
  ddsim run four_regions_12b
  ddsim run my_run.yaml --method diloco --replications 10
  ddsim run my_run.yaml --set "failures.chip_mtbi=1 yr" --out out/my_run
"""


@click.command(name="run", short_help="Run a scenario's methods and compare them.", epilog=EXAMPLE)
@click.argument("scenario")
@options.methods
@options.seed
@options.replications
@options.overrides
@options.jobs
@options.out
@options.tape
@options.no_timeline
@options.every_slot
@options.log
@options.as_json
@consent.yes
@talk_options
def command(
    scenario: str,
    methods: tuple[str, ...],
    seed: int | None,
    replications: int,
    overrides: tuple[str, ...],
    jobs: int,
    out: Path | None,
    tape: bool,
    no_timeline: bool,
    every_slot: bool,
    log: bool,
    as_json: bool,
    yes: bool,
) -> None:
    """Run a scenario's methods on the same failure history and compare them.

    SCENARIO is a YAML file or the name of a shipped scenario.
    """
    from ddsim import simulation
    from ddsim.cli.errors import make_folder, refuse_folders, refuse_study
    from ddsim.cli.loading import load
    from ddsim.cli.progress import progress_bar
    from ddsim.results.files import run_log as log_of

    voice = talk()
    # the seed goes in like any other change, so that the saved scenario repeats this very run
    seeds = () if seed is None else (f"seed={seed}",)
    consent.heed_size(scenario, overrides, replications, given=yes)
    world = load(scenario, (*overrides, *seeds))
    if methods:
        world = world.choose(methods)
    consent.before_running(world, replications, jobs, given=yes)
    if out is not None:  # better now than after a long simulation
        make_folder(out)
        refuse_study(out)
        refuse_folders([*files_of(out), *(out / log_of(spec.name) for spec in world.methods)])
    elif tape or log:
        which = "--tape" if tape else "--log"
        raise click.UsageError(f"{which} keeps a file: it needs --out DIR")
    tape = tape or (out is not None and world.learning.problem is not None)
    with progress_bar(voice) as progress:
        results = simulation.run(
            world,
            replications=replications,
            jobs=jobs,
            progress=progress,
            tape=tape,
            timeline=not no_timeline,
            every_slot=every_slot,
            log=log,
        )
    if out is not None:  # whoever reads the tables may leave before their end
        save_run(replace(results, resolved=results.resolved or world.resolved()), out, voice)
    if as_json:
        click.echo(results.to_json())
    else:
        from ddsim.cli.run_report import show_run
        from ddsim.world.expected import chance_of

        show_run(results, chance_of(world).strikes)
    if voice.verbose:
        _say_cost(results, voice)
    goals = [item.goal for item in results.results if item.goal is not None]
    if goals and "reached" not in goals:
        click.get_current_context().exit(1)


def files_of(folder: Path) -> list[Path]:
    """Return what `save_run` may write into a folder."""
    from ddsim.results import files

    figures = [f"{name}.png" for name in ("goodput", "timeline", "learning", "quality")]
    return [folder / name for name in (*files.ALL, *figures)]


def save_run(results: "Results", folder: Path, voice: Talk) -> None:
    """Write results and their figures into a folder, and say which files those are."""
    from ddsim.figures import save_figures

    another = " in place of what an earlier run left" if (folder / "results.json").exists() else ""
    written = [*results.save(folder), *save_figures(results, folder)]
    voice.say(f"saved in {folder}{another}: {', '.join(path.name for path in written)}")


def _say_cost(results: "Results", voice: Talk) -> None:
    for item in results.results:
        voice.say(f"{item.method}: {item.events:,.0f} events in {item.elapsed_s:.2f} s")
