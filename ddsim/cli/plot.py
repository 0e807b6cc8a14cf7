"""`ddsim plot`: figures from a saved result, study or reproduction."""

from pathlib import Path

import click

from ddsim.cli import options
from ddsim.cli.base import talk_options

EXAMPLE = """Example:

\b
  ddsim run chaos_drill --out out/drill
  ddsim plot out/drill --format pdf
"""


@click.command(name="plot", short_help="Draw figures of what was saved.", epilog=EXAMPLE)
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "suffix",
    type=click.Choice(["png", "svg", "pdf"]),
    default="png",
    show_default=True,
    help="The kind of file.",
)
@options.out
@talk_options
def command(results: Path, suffix: str, out: Path | None) -> None:
    """Draw the figures of a saved result, study or reproduction, and print their paths.

    RESULTS is the folder that `ddsim run`, `sweep` or `reproduce` made with --out; the figures go
    there unless --out names another.
    """
    from ddsim.cli.errors import make_folder
    from ddsim.cli.saved import read, shown
    from ddsim.figures import save_figures
    from ddsim.figures.kept import KEPT
    from ddsim.results import Results

    if out is not None:
        make_folder(out)
    folder = out or (results if results.is_dir() else results.parent)
    if (results / KEPT).is_file():
        for path in _redrawn(results, folder, suffix):
            click.echo(path)
        return
    saved = read(results)
    with shown(results):
        if isinstance(saved, Results):
            paths = save_figures(saved, folder, suffix=suffix)
        else:
            from ddsim.figures.study import save_study_figures

            paths = save_study_figures(saved, folder, suffix=suffix)
    for path in paths:
        click.echo(path)


def _redrawn(reproduced: Path, folder: Path, suffix: str) -> list[Path]:
    """Draw the figures of a reproduction again; return their paths."""
    from ddsim.figures.gallery import write_figure
    from ddsim.figures.kept import redraw

    try:
        figures = redraw(reproduced)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return [write_figure(ax, folder / f"{name}.{suffix}") for name, ax in figures.items()]
