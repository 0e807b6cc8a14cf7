"""Options that mean the same wherever they apply."""

from pathlib import Path

import click


def _assignments(
    context: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    for value in values:
        path, equals, given = value.partition("=")
        if not equals or not path.strip():
            raise click.BadParameter(f"{value!r} is not PATH=VALUE", context, option)
        if not given.strip():
            said = f"{value!r} has no value; {path.strip()}=null takes the default"
            raise click.BadParameter(said, context, option)
    return values


def through_stdin(file: Path) -> Path:
    """The file, or what comes through the standard input where it is called `-`."""
    return Path("/dev/stdin") if str(file) == "-" else file


methods = click.option(
    "--method",
    "methods",
    multiple=True,
    metavar="NAME",
    help="Only this method; repeatable. The order of the results does not depend on it.",
)
seed = click.option(
    "--seed", type=click.IntRange(min=0), metavar="N", help="In place of the scenario's seed."
)
replications = click.option(
    "--replications",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="R",
    help="Independent failure histories; results are means with a 95% interval.",
)
overrides = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="PATH=VALUE",
    callback=_assignments,
    help='Change the scenario, e.g. --set "network.bandwidth=2 Gbit/s"; repeatable.',
)
jobs = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Worker processes; the results do not depend on it.",
)
out = click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Save results and figures there.",
)
tape = click.option(
    "--tape",
    is_flag=True,
    help="Keep every step and merge in DIR, for `ddsim replay` to train on, at a few times the "
    "cost of the run; a run that trains keeps them anyway.",
)
no_timeline = click.option(
    "--no-timeline",
    is_flag=True,
    help="Keep no states of units over time, and no merges: less memory where much fails, down to "
    "a third of the time where little does. Studies keep neither.",
)
log = click.option(
    "--log",
    is_flag=True,
    help="Write each method's first replication into DIR as a run log, which `ddsim calibrate` "
    "reads.",
)
every_slot = click.option(
    "--every-slot",
    is_flag=True,
    help="Leave no step to machine code and pass over no round: slower, the same but for rounding.",
)
as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."
)
