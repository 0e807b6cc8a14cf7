"""`ddsim rates`: the learning rates that suit each method of a scenario."""

import json
from typing import TYPE_CHECKING

import click

from ddsim.cli import consent, options
from ddsim.cli.base import prints_aside, talk, talk_options

if TYPE_CHECKING:
    from ddsim.learning.search import Search, Which

EXAMPLE = """Example:

\b
  ddsim rates convergence --method decoupled_diloco --method diloco
  ddsim rates my_run.yaml --share 0.5 --seeds 3 --set learning.merge=mean
"""


@click.command(
    name="rates", short_help="Search for each method's own learning rates.", epilog=EXAMPLE
)
@click.argument("scenario")
@options.methods
@click.option(
    "--share",
    type=click.FloatRange(0.0, 1.0, min_open=True),
    default=0.25,
    show_default=True,
    metavar="SHARE",
    help="How much of the run the trainings of the search take.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Trainings at each rate.",
)
@click.option(
    "--only",
    type=click.Choice(["outer", "inner"]),
    help="This rate alone; else the outer one, and the inner one at that.",
)
@options.overrides
@options.as_json
@consent.yes
@talk_options
def command(
    scenario: str,
    methods: tuple[str, ...],
    share: float,
    seeds: int,
    only: str | None,
    overrides: tuple[str, ...],
    as_json: bool,
    yes: bool,
) -> None:
    """Search for the learning rates that suit each method, on the first part of its run.

    SCENARIO has a learning section. The rates are 1.6 apart, around the scenario's; the one that is
    taken is the lowest of a parabola in their logarithm. What is found is printed as the scenario's
    `methods` take it.
    """
    from ddsim.cli.loading import load
    from ddsim.cli.progress import progress_bar
    from ddsim.cli.tables import show
    from ddsim.rates import search_rates

    with prints_aside():
        world = load(scenario, overrides)
    which: list[Which] = ["outer", "inner"]
    which = [one for one in which if only in (None, one)]
    chosen = world.choose(methods) if methods else world
    consent.before_a_search(chosen, share, seeds, len(which), given=yes)
    with progress_bar(talk()) as progress:
        found = search_rates(world, methods or None, share, seeds, which, progress)
    if as_json:
        click.echo(json.dumps([item.to_dict() for item in found], indent=2))
        return
    rows = [
        [item.method, one.which, f"{rate:g}", f"{loss:.4f}", "lowest" * (place == one.lowest)]
        for item in found
        for one in item.searches
        for place, (rate, loss) in enumerate(zip(one.rates, one.means, strict=True))
    ]
    show(["method", "learning rate of", "rate", "loss", ""], rows, left=2)
    click.echo()
    for item in found:
        for one in item.searches:
            click.echo(f"{item.method}: {_said(one)}")
    click.echo("\nmethods:")
    for item in found:
        click.echo(f"  - {item.method}:")
        for path, rate in item.changes.items():
            click.echo(f"      {path}: {rate:g}")


def _said(one: "Search") -> str:
    """Say in words how a rate was found."""
    taken = f"{one.which} rate {one.rate:g}"
    if one.parabola is None:
        return f"{taken}, the grid's lowest: no parabola opens upwards there"
    bend, rate, loss = one.parabola
    text = f"{taken}; loss = {loss:.4f} + {bend:.3g} ln(rate / {rate:.3g})^2"
    return text + (" (the lowest is at an end of the grid)" if one.open else "")
