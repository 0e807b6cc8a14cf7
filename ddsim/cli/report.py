"""`ddsim report`: one self-contained HTML file of a saved result or study."""

from pathlib import Path

import click

from ddsim.cli.base import talk, talk_options

EXAMPLE = """Example:

\b
  ddsim run chaos_drill --out out/drill
  ddsim report out/drill
  ddsim report out/drill --out drill.html --title "What losing a region costs"
"""


@click.command(
    name="report", short_help="Write one HTML file of a saved result or study.", epilog=EXAMPLE
)
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file to write; report.html in RESULTS unless given.",
)
@click.option("--title", metavar="TEXT", help="The question, in place of the description.")
@talk_options
def command(results: Path, out: Path | None, title: str | None) -> None:
    """Write one HTML file, figures and all, that needs no network.

    RESULTS is the folder that `ddsim run --out` or `ddsim sweep --out` made.
    """
    from ddsim.cli.saved import read, shown
    from ddsim.files import write_whole
    from ddsim.report import run_report, study_report
    from ddsim.results import Results

    saved = read(results)
    with shown(results):
        if isinstance(saved, Results):
            text = run_report(saved, title=title)
        else:
            text = study_report(saved, title=title)
    target = out or (results if results.is_dir() else results.parent) / "report.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, text.encode(errors="replace"))
    talk().say("written:")
    click.echo(target)
