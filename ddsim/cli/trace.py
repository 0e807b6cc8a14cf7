"""`ddsim trace`: what an availability, preemption or failure log says."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ddsim.cli import options
from ddsim.cli.base import Talk, talk, talk_options

if TYPE_CHECKING:
    from ddsim.logs import Fit, FitReport, Summary

EXAMPLE = """Example:

\b
  ddsim trace preemptions.csv
  ddsim trace lifetimes.csv --column lifetime_s --json
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
@options.as_json
@talk_options
def command(file: Path, kind: str | None, column: str | None, as_json: bool) -> None:
    """Read an availability, preemption or failure log.

    FILE holds rows `time_ms,add|remove,node`, rows of a time and a number of nodes, or a table
    with a column of lifetimes. Prints what is in it, the distributions that fit the lives in it
    best, and a piece of scenario with them.
    """
    from ddsim import logs

    voice = talk()
    trace = logs.read(file, kind, column=column)
    summary = logs.summarize(trace)
    report = logs.fit(trace)
    snippet = logs.scenario_snippet(trace, report)
    if as_json:
        from ddsim.results.document import plain, to_json

        document = {"summary": summary.to_dict(), "fit": report.to_dict(), "snippet": snippet}
        click.echo(to_json(plain(document)))
        return
    _say_notices(summary, voice)
    _show_summary(summary)
    _show_fits(report)
    click.echo(snippet, nl=False)


def _say_notices(summary: "Summary", voice: Talk) -> None:
    for notice in summary.notices:
        voice.say(str(notice))


def _show_summary(summary: "Summary") -> None:
    from ddsim.cli.tables import show

    times = {"span", "node_mtbf", "median_life"}
    rows = []
    for name, value in summary.to_dict().items():
        if value is None or name in ("file", "notices"):
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
