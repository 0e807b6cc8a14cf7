"""`ddsim calibrate`: a scenario from logs, and whether it predicts what was held out."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ddsim.cli import options
from ddsim.cli.base import Talk, talk, talk_options

if TYPE_CHECKING:
    from ddsim.calibration import Calibration, Holdout

EXAMPLE = """Example:

\b
  ddsim calibrate run_log.jsonl > my_run.yaml
  ddsim calibrate run_log.jsonl preemptions.csv --out out/calibrated
  ddsim calibrate run_log.jsonl --holdout 0.5
"""
SCENARIO = "calibrated.yaml"
FIGURE = "residuals.png"


@click.command(
    name="calibrate", short_help="Estimate a scenario's values from logs.", epilog=EXAMPLE
)
@click.argument(
    "log_files", metavar="LOG...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--format",
    "form",
    metavar="NAME",
    help="Format of the files that do not show theirs, as `ddsim list formats` names it, or a "
    "YAML file of one.",
)
@click.option(
    "--timezone", metavar="ZONE", help="Place whose clock shows times without a zone; else UTC."
)
@click.option(
    "--holdout",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    metavar="SHARE",
    help="Fit the part before the last SHARE of the log, simulate that, and compare.",
)
@click.option(
    "--replications",
    type=click.IntRange(min=10),
    default=100,
    show_default=True,
    metavar="R",
    help="Simulated histories of what is held out.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Of what is held out.",
)
@options.out
@options.as_json
@talk_options
def command(
    log_files: tuple[Path, ...],
    form: str | None,
    timezone: str | None,
    holdout: float | None,
    replications: int,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Estimate a scenario's values from run logs, with logs of failures or lives beside them.

    LOG is a run log (events as `ddsim run --log` writes them, a fault drill's table, the text of a
    training script, records of ml-goodput-measurement) or a log of failures as `ddsim trace` reads
    it. Prints the scenario, each value with its 95% interval as a range and the rows it came from;
    with --holdout, what is predicted beside what was measured.
    """
    from ddsim.calibration import calibrate, crowded, hold_out
    from ddsim.cli.errors import make_folder, refuse_folders
    from ddsim.cli.progress import progress_bar

    log_files = tuple(map(options.through_stdin, log_files))
    voice = talk()
    if out is not None:
        make_folder(out)
        refuse_folders([out / SCENARIO, out / FIGURE])
    with progress_bar(voice) as progress:
        found = calibrate(log_files, form, timezone, progress)
    for notice in found.log.notices:
        voice.say(f"{found.log.file}: {notice}")
    if crowded(found.log):
        voice.say(
            f"{found.log.file}: its links are busy all the time and exchanges wait for each other, "
            "which a scenario from this log does not know: look at --holdout 0.5 before you use it"
        )
    held = None
    if holdout is not None:
        with progress_bar(voice) as progress:
            held = hold_out(
                found.log, holdout, replications=replications, seed=seed, progress=progress
            )
    if out is not None:
        _save(found, held, out, voice)
    if as_json:
        from ddsim.results.document import plain, to_json

        click.echo(to_json(plain(_document(found, held))))
    elif held is not None:
        _show(held)
    else:
        click.echo(found.text, nl=False)


def _document(found: "Calibration", held: "Holdout | None") -> dict[str, Any]:
    predicted = None
    if held is not None:
        predicted = {
            "fitted": [held.fitted.start, held.fitted.end],
            "held_out": [held.held.start, held.held.end],
            "given": held.given,
            "predictions": [item.to_dict() for item in held.predictions],
        }
    return {**found.to_dict(), "holdout": predicted}


def _show(held: "Holdout") -> None:
    from ddsim.calibration.measures import MEASURES
    from ddsim.cli.tables import show
    from ddsim.cli.words import plain_number

    click.echo(
        f"{Path(held.fitted.file).name}: fitted on {held.fitted.span:.0f} s, "
        f"predicted for the next {held.held.span:.0f} s"
    )
    if held.given:
        click.echo(held.given)
    click.echo()
    header = ["", "measured", "predicted", "95% interval", "", "first part's rates", "no failures"]
    rows = [
        [
            item.name,
            plain_number(item.measured),
            plain_number(item.middle),
            f"{plain_number(item.low)} to {plain_number(item.high)}",
            "holds" if item.holds else "missed",
            plain_number(item.rates),
            plain_number(item.calm),
        ]
        for item in held.predictions
    ]
    show(header, rows)
    click.echo()
    for item in held.predictions:
        click.echo(f"{item.name}: {MEASURES[item.name]}")


def _save(found: "Calibration", held: "Holdout | None", folder: Path, voice: Talk) -> None:
    from ddsim.figures.residuals import save_residuals
    from ddsim.files import write_whole

    write_whole(folder / SCENARIO, found.text.encode())
    save_residuals(found, held, folder / FIGURE)
    voice.say(f"saved in {folder}: {SCENARIO}, {FIGURE}")
