"""`ddsim bandwidth`: what each method needs of the links."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ddsim.cli import consent, options
from ddsim.cli.base import talk, talk_options

if TYPE_CHECKING:
    from ddsim.bandwidth import BandwidthStudy

EXAMPLE = """Example:

\b
  ddsim bandwidth four_regions_12b
  ddsim bandwidth four_regions_12b --target 0.5,0.9,0.99 --datacenters 2
  ddsim bandwidth four_regions_12b --published-grid
  ddsim bandwidth four_regions_12b --out out/bandwidth
"""
_ROWS = 12  # of the utilization table; --json has every point


def _targets(
    context: click.Context, option: click.Parameter, value: str | None
) -> tuple[float, ...] | None:
    if value is None:
        return None
    try:
        targets = tuple(float(item) for item in value.split(","))
    except ValueError:
        targets = ()
    if not targets or not all(0 < target < 1 for target in targets):
        raise click.BadParameter(
            f"{value!r} is not a list of utilizations between 0 and 1, such as 0.5,0.9",
            context,
            option,
        )
    return targets


@click.command(
    name="bandwidth", short_help="Print the bandwidth that each method needs.", epilog=EXAMPLE
)
@click.argument("scenario")
@click.option(
    "--target",
    "targets",
    metavar="U1,U2,...",
    callback=_targets,
    help="The utilizations asked for.",
)
@click.option(
    "--datacenters",
    type=click.IntRange(min=1),
    metavar="M",
    help="Sites in the ring; the scenario's learners unless given.",
)
@options.methods
@click.option(
    "--published-grid",
    is_flag=True,
    help="Read required bandwidths off the published tables' grid, with their run and rounding.",
)
@options.overrides
@options.out
@options.as_json
@consent.yes
@talk_options
def command(
    scenario: str,
    targets: tuple[float, ...] | None,
    datacenters: int | None,
    methods: tuple[str, ...],
    published_grid: bool,
    overrides: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    yes: bool,
) -> None:
    """Print the bandwidth that each method needs for given utilizations.

    Without failures, every learner at a site of its own. A second table has the utilization that
    each bandwidth gives.
    """
    from ddsim import bandwidth
    from ddsim.cli.documents import print_json
    from ddsim.cli.errors import make_folder
    from ddsim.cli.loading import load
    from ddsim.cli.progress import progress_bar

    if out is not None:  # better now than after a long search
        make_folder(out)
    world = load(scenario, overrides)
    consent.before_curves(world.choose(methods) if methods else world, given=yes)
    try:
        with progress_bar(talk(), "searching for bandwidths"):
            study = bandwidth.required_bandwidth(
                world,
                targets=targets or bandwidth.TARGETS,
                datacenters=datacenters,
                methods=methods or None,
                as_published=published_grid,
            )
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if out is not None:  # whoever reads the tables may leave before their end
        _save(study, out, world.network.bandwidth / 1e9)
    if as_json:
        print_json(study.to_dict())
    else:
        show_bandwidth(study)


def _save(study: "BandwidthStudy", folder: Path, given: float) -> None:
    """Write the document, both tables and the figure."""
    from ddsim.figures import bandwidth
    from ddsim.figures.gallery import write_figure
    from ddsim.files import write_whole

    texts = {
        "bandwidth.json": json.dumps(study.to_dict(), indent=2, allow_nan=False) + "\n",
        "required.csv": study.to_frame().to_csv(index=False),
        "utilization.csv": study.curve_frame().to_csv(index=False),
    }
    for name, text in texts.items():
        write_whole(folder / name, text.encode())
    write_figure(bandwidth(study, given=given), folder / "bandwidth.png")
    talk().say(f"saved in {folder}: bandwidth.json, required.csv, utilization.csv, bandwidth.png")


def show_bandwidth(study: "BandwidthStudy") -> None:
    """Print both tables, and what they count."""
    from ddsim.cli.tables import show, tell
    from ddsim.cli.words import fraction, plain_number

    targets = list(study.results[0].required_gbps) if study.results else []
    show(
        ["Gbit/s needed for a utilization of", *(f"{target:g}" for target in targets)],
        [
            [item.method, *(_needed(item.required_gbps[target]) for target in targets)]
            for item in study.results
        ],
    )
    _show_streams(study, targets)
    click.echo()
    points = study.results[0].gbps.tolist() if study.results else []
    step = max(1, len(points) // _ROWS)
    show(
        ["utilization at Gbit/s", *(item.method for item in study.results)],
        [
            [
                plain_number(points[index], 3),
                *(fraction(float(item.utilization[index])) for item in study.results),
            ]
            for index in range(0, len(points), step)
        ],
    )
    click.echo()
    tell(study.convention)


def _show_streams(study: "BandwidthStudy", targets: list[float]) -> None:
    """Print what the required bandwidths have in flight, and how many streams that takes."""
    from ddsim.bandwidth.flight import in_words, windows
    from ddsim.cli.tables import show, tell
    from ddsim.cli.words import plain_number

    flown = [item for item in study.results if item.flights]
    if not flown:
        return
    window = windows(flight for item in flown for flight in item.flights.values())
    model = flown[0].model
    whose = "Linux's default" if model.streams is None else "the scenario's"
    each = f", of {whose} {plain_number(window / 8e6, 3)} MB a stream" if window < math.inf else ""
    click.echo()
    show(
        ["in flight, and streams that takes", *(f"{target:g}" for target in targets)],
        [[item.method, *(in_words(item.flights[target]) for target in targets)] for item in flown],
    )
    tell(f"at {plain_number(model.round_trip * 1e3, 3)} ms there and back{each}")


def _needed(gbps: float) -> str:
    from ddsim.cli.words import plain_number

    return plain_number(gbps, 3) if math.isfinite(gbps) else "out of reach"
