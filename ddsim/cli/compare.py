"""`ddsim compare`: two saved results or studies side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ddsim.cli import study_options as options
from ddsim.cli.base import talk_options

if TYPE_CHECKING:
    from ddsim.study import Comparison
    from ddsim.study.changes import Change

EXAMPLE = """Example:

\b
  ddsim run four_regions_12b --out out/a
  ddsim run four_regions_12b --out out/b --set "network.bandwidth=2 Gbit/s"
  ddsim compare out/a out/b
"""
_MANY_ALIKE = 3
_ALIKE = " alike in "
_BASES = {
    "paired": "paired, replication by replication, over the {histories} histories that both met",
    "apart": "Welch's: each met histories of its own",
    "intervals": "from the intervals of the two means, as if their histories were apart",
    "none": "none: one history says nothing about others, a ratio is of sums over all of them",
}


@click.command(name="compare", short_help="Compare two saved results or studies.", epilog=EXAMPLE)
@click.argument("a", type=click.Path(exists=True, path_type=Path))
@click.argument("b", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--metric",
    metavar="NAME",
    help="What is compared (`ddsim list metrics`); merged goodput, ratio and goodput unless given.",
)
@options.as_json
@talk_options
def command(a: Path, b: Path, metric: str | None, as_json: bool) -> None:
    """Compare B with A: what changed in the scenario, and what changed in the outcome.

    A and B are folders that `run --out` or `sweep --out` left.
    """
    from ddsim import study
    from ddsim.cli.saved import shown

    with shown(a, b):
        found = study.compare(a, b, metric)
    if as_json:
        from ddsim.cli.documents import print_json

        print_json(_document(found))
    else:
        show_comparison(found)


def _document(found: "Comparison") -> dict[str, Any]:
    from ddsim.study.words import records

    return {
        "a": found.a,
        "b": found.b,
        "changes": [{"path": item.path, "a": item.one, "b": item.other} for item in found.changes],
        "outcomes": records(found.outcomes),
        "only_a": list(found.only_a),
        "only_b": list(found.only_b),
    }


def together(changes: "Sequence[Change]") -> list[tuple[str, tuple[str, str]]]:
    """The changes, those from the same to the same within a section as one: mostly what follows."""
    alike: dict[tuple[str, str | None, str | None], list[Change]] = {}
    for item in changes:
        section = item.path.split(".")[0]
        alike.setdefault((section, item.one, item.other), []).append(item)
    found = []
    for (section, one, other), items in alike.items():
        ends = one or "-", other or "-"
        if len(items) < _MANY_ALIKE:
            found += [(item.path, ends) for item in items]
        else:
            found.append((f"{items[0].path}, {len(items) - 1}{_ALIKE}{section}", ends))
    return found


def show_comparison(found: "Comparison") -> None:
    """Print what changed in the scenario and in the outcome."""
    from ddsim.cli.tables import show, tell
    from ddsim.study.words import records

    if found.changes:
        rows = [[path, *ends] for path, ends in together(found.changes)]
        show(["changed in the scenario", "A", "B"], rows, left=3)
        if any(_ALIKE in path for path, *_ in rows):
            tell(
                "alike: paths that changed from the same to the same, as those do that follow from "
                "one setting; --json names each"
            )
    else:
        tell("the scenarios are the same")
    click.echo()
    outcomes = records(found.outcomes)
    settings = found.outcomes.columns[: found.outcomes.columns.index("method")]
    for metric in dict.fromkeys(row["metric"] for row in outcomes):
        lines = [
            [
                *(str(row[name]) for name in settings),
                row["method"],
                f"{row['a']:.5g}",
                f"{row['b']:.5g}",
                f"{row['difference']:+.4g}",
                "-" if row["low"] is None else f"{row['low']:+.4g} to {row['high']:+.4g}",
                "-" if row["change"] is None else f"{row['change']:+.2%}",
            ]
            for row in outcomes
            if row["metric"] == metric
        ]
        header = [*settings, "method", f"{metric} of A", "of B", "B - A", "95%", "change"]
        show(header, lines, left=len(settings) + 1)
        click.echo()
    for basis in dict.fromkeys(row["basis"] for row in outcomes):
        counts = sorted({row["histories"] for row in outcomes if row["basis"] == basis} - {None})
        of = " to ".join(str(n) for n in dict.fromkeys([*counts[:1], *counts[-1:]]))
        tell(f"interval: {_BASES[basis].format(histories=of)}")
    for name, only in (("A", found.only_a), ("B", found.only_b)):
        if only:
            tell(f"only in {name}: {'; '.join(only)}")
