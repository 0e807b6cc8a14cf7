"""Options of the commands that replicate: what varies, how often, where it runs."""

import os

import click
from click.core import ParameterSource

from ddsim.cli import options
from ddsim.results.metrics import RANKING

vary = click.option(
    "--vary",
    multiple=True,
    metavar="PATH=V1,V2,...",
    help='Values of a scenario path, e.g. --vary "network.bandwidth=1 Gbit/s,5 Gbit/s"; '
    "repeatable. In place of the scenario's `study`.",
)
replications = click.option(
    "--replications",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="R",
    help="Independent failure histories of each cell; all cells meet the same.",
)
metric = click.option(
    "--metric",
    default=RANKING,
    show_default=True,
    metavar="NAME",
    help="What is compared; `ddsim list metrics` names all.",
)
jobs = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=lambda: os.cpu_count() or 1,
    show_default="all cores",
    metavar="N",
    help="Worker processes; the results do not depend on it.",
)
executor = click.option(
    "--executor",
    type=click.Choice(["local", "dask"]),
    default="local",
    show_default=True,
    help="Processes of this machine, or a running Dask cluster.",
)
scheduler = click.option(
    "--scheduler", metavar="ADDRESS", help="Of the Dask scheduler, e.g. tcp://10.0.0.5:8786."
)
methods, seed, overrides = options.methods, options.seed, options.overrides
out, as_json = options.out, options.as_json


def refuse_idle(option: str, wanted: bool, reason: str) -> None:
    """Refuse an option that was given and would do nothing, unless what it needs is `wanted`."""
    context = click.get_current_context()
    name = option.lstrip("-").replace("-", "_")
    given = context.get_parameter_source(name) is not ParameterSource.DEFAULT
    if given and not wanted:
        raise click.UsageError(f"{option} {reason}", context)
