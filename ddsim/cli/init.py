"""`ddsim init`: a scenario to start from."""

from pathlib import Path

import click

from ddsim.cli.base import talk, talk_options

EXAMPLE = """Example:

\b
  ddsim init my_run.yaml
  ddsim run my_run.yaml
"""


@click.command(name="init", short_help="Write a commented starter scenario.", epilog=EXAMPLE)
@click.argument(
    "file", type=click.Path(dir_okay=False, path_type=Path), default=Path("scenario.yaml")
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@talk_options
def command(file: Path, force: bool) -> None:
    """Write a commented starter scenario to FILE (scenario.yaml unless given)."""
    from ddsim.files import write_whole
    from ddsim.scenario import starter

    if file.exists() and not force:
        raise click.UsageError(f"{file} is there already; name another or give --force")
    if not file.parent.is_dir():
        raise click.UsageError(f"there is no folder {file.parent}")
    write_whole(file, starter().encode())
    talk().say(f"wrote {file}; next: ddsim run {file}")
