"""Merged goodput and goodput by method, and where the rest of the time went."""

import math

from matplotlib.axes import Axes

from ddsim.figures import style
from ddsim.figures.inside import write_inside
from ddsim.figures.registry import figure
from ddsim.results import MethodResult, Results

_BAR = 0.62
# where merged goodput and goodput stand, in points from the end of the bars
_COLUMNS = (5, 47)
_WIDE_COLUMNS = (5, 66)  # with both ends of an interval
_ENTRY = 0.17  # height of a row of the legend, in inches
_ACROSS = 3  # accounts in a row of the legend
_LABELLED = 0.13  # a share of at least this much has room for its number
_VISIBLE = 0.0005  # a share below it is not in the legend


@figure("goodput")
def goodput(results: Results, ax: Axes | None = None) -> Axes:
    """Draw one bar a method, 100% of its chip-time, divided into accounts.

    What trained stands first, in the method's colour, with its share of all chip-time; hatched in
    it is what was overwritten before any merge. Merged goodput and goodput, whose denominator
    leaves out `unallocated`, stand at the end of the bar, each with half its 95% interval, or with
    both ends where it is lopsided.
    """
    records = list(results.results)
    visible = {
        account
        for record in records
        for account, share in record.accounts.items()
        if share >= _VISIBLE
    }
    numbers = [_numbers(record) for record in records]
    said = "\n".join(text for both in numbers for text in both)
    columns = _WIDE_COLUMNS if " to " in said else _COLUMNS
    raised = 0.15 * ("%\n" in said)  # the headings, above numbers of two lines
    outside = "unallocated" in visible
    if ax is None:
        entries = math.ceil(len(visible - style.PROGRESS) / _ACROSS) + outside
        ax = style.own_axes(1.58 + 0.36 * (len(records) + raised) + _ENTRY * entries)
    for row, record in enumerate(records):
        _bar(ax, row, record)
        for place, words, weight in zip(columns, numbers[row], ("bold", "normal"), strict=True):
            _beside(ax, row, place, words, weight)
    style.name_places(ax.yaxis, range(len(records)), [style.words(r.method) for r in records])
    ax.set_ylim(len(records) - 0.5, -0.85 - raised)
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1.0], ["0", "20", "40", "60", "80", "100"])
    ax.set_xlabel("share of all chip-time (%)")
    style.dress(ax, f"Where the chip-time goes: {results.scenario}")
    for place, name in zip(columns, ("merged\ngoodput", "goodput"), strict=True):
        _beside(ax, -0.6 - raised, place, name)
    hatched = any(_overwritten(record) >= _VISIBLE for record in records)
    own = "productive" + ", hatched: overwritten" * hatched
    if outside:
        own += "\non the right: of the chip-time in the job, without unallocated"
    style.account_legend(ax, visible, own=own)
    return ax


def _overwritten(record: MethodResult) -> float:
    """The share of all chip-time that is productive and was not merged."""
    share = record.merged_goodput / record.goodput if record.goodput > 0 else 1.0
    return record.accounts.get("productive", 0.0) * max(0.0, 1.0 - share)


def _segments(record: MethodResult) -> list[tuple[float, style.Fill]]:
    """The parts of a bar in order, what was overwritten apart from what was merged."""
    parts: list[tuple[float, style.Fill]] = []
    for account in style.in_order(record.accounts):
        share = record.accounts[account]
        fill = style.account_fill(account, record.method)
        lost = _overwritten(record) if account == "productive" else 0.0
        if lost >= _VISIBLE:
            parts.append((share - lost, fill))
            share, fill = lost, style.overwritten_fill(record.method)
        parts.append((share, fill))
    return [(share, fill) for share, fill in parts if share > 0]


def _bar(ax: Axes, row: int, record: MethodResult) -> None:
    left = 0.0
    for share, fill in _segments(record):
        (bar,) = ax.barh(
            row,
            share,
            _BAR,
            left=left,
            color=fill.colour,
            hatch=fill.hatch or None,
            edgecolor=fill.edge,
            linewidth=0.6,
        )
        if share >= _LABELLED:
            write_inside(ax, bar, f"{100 * share:.1f}", (left + share / 2, row))
        left += share


def _beside(ax: Axes, row: float, points: float, words: str, weight: str = "normal") -> None:
    """Write words so many points to the right of the bars."""
    ax.annotate(
        words,
        (1.0, row),
        xytext=(points, 0),
        textcoords="offset points",
        va="center",
        color=style.INK,
        fontsize=style.SMALL,
        fontweight=weight,
        linespacing=1.0,
        annotation_clip=False,
    )


def _numbers(record: MethodResult) -> list[str]:
    """Merged goodput and goodput as they stand at the end of a bar."""
    return [
        _percent(record.merged_goodput, record.merged_goodput_ci95),
        _percent(record.goodput, record.goodput_ci95),
    ]


def _percent(share: float, interval: tuple[float, float] | None) -> str:
    text = f"{100 * share:.1f}%"
    if interval is None:
        return text
    low, high = interval
    below, above = f"{100 * (share - low):.1f}", f"{100 * (high - share):.1f}"
    if below == above:
        return f"{text}\n\N{PLUS-MINUS SIGN} {below}"
    return f"{text}\n{100 * low:.1f} to {100 * high:.1f}"
