"""`ddsim trace`: what an availability, preemption or failure log says."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ddsim.cli import options
from ddsim.cli.base import Talk, talk, talk_options
from ddsim.cli.progress import progress_bar

if TYPE_CHECKING:
    from ddsim.logs import Fit, FitReport, Pattern, Summary
    from ddsim.logs.forms import Unit

EXAMPLE = """Example:

\b
  ddsim trace preemptions.csv
  ddsim trace lifetimes.csv --column lifetime_s --json
  ddsim trace sacct.txt --format slurm --timezone Europe/Berlin
  ddsim trace dmesg.txt --format xid --nodes 128
  ddsim trace slurm_month --timezone Europe/Berlin
  ddsim run spot_trace --set trace.file=preemptions.csv
"""
KINDS = ("node_events", "node_counts", "lifetimes")


@click.command(name="trace", short_help="Sum up and fit a log of failures.", epilog=EXAMPLE)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--kind", type=click.Choice(KINDS), help="What the file holds; else found from it.")
@click.option(
    "--column",
    help="Column of a table of lifetimes that holds them; its name ends in its unit: _s, _ms, "
    "_min, _h or _d.",
)
@click.option(
    "--format",
    "form",
    metavar="NAME",
    help="What has written the file, as `ddsim list formats` names it, or a YAML file that says "
    "which column is what; else found from the file.",
)
@click.option(
    "--timezone",
    "zone",
    metavar="TZ",
    help="Whose clock shows the times that name no zone, such as Europe/Berlin; sacct's are local.",
)
@click.option(
    "--unit",
    type=click.Choice(("s", "ms", "us", "ns")),
    help="Unit of times that are numbers, where their size does not tell it.",
)
@click.option(
    "--nodes", type=click.IntRange(1), help="How many nodes there are, those without a failure too."
)
@options.as_json
@talk_options
def command(
    file: Path,
    kind: str | None,
    column: str | None,
    form: str | None,
    zone: str | None,
    unit: "Unit | None",
    nodes: int | None,
    as_json: bool,
) -> None:
    """Read an availability, preemption or failure log, or a table of jobs.

    FILE is a log of one of the formats that `ddsim list formats` names: what Slurm, Kubernetes,
    NVIDIA's driver or a cloud has written, rows `time_ms,add|remove,node`, rows of a time and a
    number of nodes, or a table with a column of lifetimes. Prints what is in it, how often each
    cause strikes, the distributions that fit the lives in it best, and a piece of scenario.
    """
    from ddsim.logs import read_log

    if kind is not None and form is not None:
        raise click.UsageError("--kind is the same as --format: one of them is enough")
    file = options.through_stdin(file)
    voice = talk()
    bar_words = (f"reading {file.name}", "{label}: {done} of {total} MB")
    with progress_bar(voice, *bar_words) as bar, _without_collection():
        report = read_log(
            file,
            kind or form,
            column=column,
            timezone=zone,
            unit=unit,
            nodes=nodes,
            progress=bar and (lambda done, of, label: bar(done // 10**6, -(-of // 10**6), label)),
        )
    if as_json:
        from ddsim.results.document import plain, to_json

        click.echo(to_json(plain(report.to_dict())))
        return
    _say_notices(report.summary, voice)
    _show_summary(report.summary)
    if report.failures is not None:
        _show_rates(report.failures)
    _show_fits(report.fit)
    click.echo(report.snippet, nl=False)


@contextmanager
def _without_collection() -> Iterator[None]:
    """No search for circles: of millions of things made and kept none is in one, and it costs."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _say_notices(summary: "Summary", voice: Talk) -> None:
    for said in (*summary.remarks, *map(str, summary.notices)):
        voice.say(said)


def _show_summary(summary: "Summary") -> None:
    from ddsim.cli.tables import show

    times = {"span", "node_mtbf", "job_mtbf", "mttr", "median_life"}
    rows = []
    for name, value in summary.to_dict().items():
        if value is None or name in ("file", "notices", "remarks"):
            continue
        rows.append([name.replace("_", " "), _text(value, is_time=name in times)])
    show([summary.file, ""], rows)
    click.echo()


def _text(value: object, *, is_time: bool) -> str:
    from ddsim.cli.words import plain_number
    from ddsim.world.distributions import duration_text

    if isinstance(value, float):
        return duration_text(value, 4) if is_time else plain_number(value)
    return str(value)


def _show_rates(found: "Pattern") -> None:
    from ddsim.cli.tables import show
    from ddsim.world.distributions import duration_text

    rows = []
    for rate in (*found.rates, found.total):
        low, high = duration_text(rate.low, 3), duration_text(rate.high, 3)
        mean = duration_text(rate.mtbf, 4)
        rows.append([rate.cause, rate.of, str(rate.failures), mean, f"{low} to {high}"])
    show(["cause", "of", "failures", "mean time between", "95%"], rows, left=2)
    for remark in found.remarks:
        click.echo(remark)
    click.echo()


def _parameters(fit: "Fit") -> str:
    return fit.distribution.describe().removeprefix(f"{fit.kind}: ")


def _show_fits(report: "FitReport") -> None:
    from ddsim.cli.tables import show, tell

    tell(f"{report.quantity}: {report.ended} ended, {report.unended} not")
    if report.fits:
        rows = [
            [item.kind, _parameters(item), f"{item.aic:.1f}", f"{item.ks:.3f}"]
            for item in report.fits
        ]
        show(["best first", "parameters", "AIC", "KS distance"], rows, left=2)
    for remark in report.remarks:
        tell(remark)
    click.echo()
