"""`ddsim reproduce`: the published figures and tables, simulated beside published."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ddsim.cli import study_options
from ddsim.cli.base import talk, talk_options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ddsim.reproduce import Found

EXAMPLE = """Example:

\b
  ddsim reproduce --list
  ddsim reproduce bandwidth page --out out/bandwidth
  ddsim reproduce --quick
"""


@click.command(
    name="reproduce",
    short_help="Make published figures and tables, beside the published.",
    epilog=EXAMPLE,
)
@click.argument("names", nargs=-1, metavar="[NAME ...]")
@click.option("--list", "list_them", is_flag=True, help="Say what there is, and do nothing.")
@click.option("--quick", is_flag=True, help="A coarse pass: fewer and shorter histories.")
@study_options.jobs
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out/reproduce"),
    show_default=True,
    metavar="DIR",
    help="Where table, numbers and figures go.",
)
@talk_options
def command(names: tuple[str, ...], list_them: bool, quick: bool, jobs: int, out: Path) -> None:
    """Simulate published figures and tables, and say how near each number comes.

    All of them unless NAMEs are given. DIR gets validation.md (a row a published number, with its
    error and what it is held to), validation.csv (every number drawn), gallery.html (every figure
    with its numbers by kind), each figure as PNG and SVG, and figures.json, from
    which `ddsim plot DIR` draws them again. Numbers that miss are said, and are no failure of the
    command.
    """
    from ddsim import reproduce
    from ddsim.cli.errors import make_folder, refuse_folders
    from ddsim.naming import listed
    from ddsim.reproduce.registry import get
    from ddsim.reproduce.rows import without_value

    if list_them:
        if names:
            raise click.UsageError(f"--list takes no NAME, found {listed(names)}")
        for option in ("--quick", "--jobs", "--out"):
            study_options.refuse_idle(option, False, "and --list exclude each other")
        _list()
        return
    voice = talk()
    for name in names:
        get(name)
    make_folder(out)  # better now than after a long simulation
    drawn = [path for suffix in ("png", "svg") for path in out.glob(f"*.{suffix}")]
    refuse_folders([*drawn, *(out / name for name in reproduce.FILES)])
    found = reproduce.reproduce(names, quick=quick, jobs=jobs, say=voice.say)
    written = reproduce.write(found, out, quick=quick)
    _show(found)
    if waiting := sum(len(without_value(item.rows)) for item in found.values()):
        voice.say(f"predictions without a value yet: {waiting}")
    voice.say(f"saved in {out}: {', '.join(path.name for path in written)}")


def _list() -> None:
    from ddsim.cli.tables import show
    from ddsim.reproduce.registry import every

    show(["name", "what it makes"], [[name, item.title] for name, item in every().items()], left=2)


def _show(found: "Mapping[str, Found]") -> None:
    from ddsim.cli.tables import show
    from ddsim.reproduce.rows import beside_published, misses
    from ddsim.reproduce.summary import of_kind

    lines = []
    for name, item in found.items():
        rows = beside_published(item.rows)
        held = [row for row in rows if row.within is not None]
        off = len(misses(rows))
        said = str(len(of_kind(rows, "predicted")))
        counts = (len(rows), len(held), len(held) - off, off)
        lines.append([name, *map(str, counts), said])
    show(
        [
            "reproduction",
            "published numbers",
            "held to a tolerance",
            "within",
            "missed",
            "predicted",
        ],
        lines,
    )
