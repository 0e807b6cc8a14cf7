"""Goodput by method, and where the rest of the time went."""

from matplotlib.axes import Axes

from ddsim.figures import style
from ddsim.figures.registry import figure
from ddsim.results import MethodResult, Results

_BAR = 0.62
_LABELLED = 0.13  # a share of at least this much has room for its number
_VISIBLE = 0.0005  # a share below it is not in the legend


@figure("goodput")
def goodput(results: Results, ax: Axes | None = None) -> Axes:
    """Draw one bar a method, 100% of its chip-time, divided into accounts.

    What trained stands first, in the method's colour, with its share of all chip-time; goodput,
    whose denominator leaves out `unallocated`, stands at the end of the bar with its 95% interval.
    """
    records = list(results.results)
    if ax is None:
        ax = style.own_axes(1.75 + 0.36 * len(records))
    for row, record in enumerate(records):
        _bar(ax, row, record)
        ax.text(
            1.015,
            row,
            _goodput_words(record),
            va="center",
            color=style.INK,
            fontsize=style.SMALL,
            fontweight="bold",
        )
    style.name_places(ax.yaxis, range(len(records)), [style.words(r.method) for r in records])
    ax.set_ylim(len(records) - 0.5, -0.85)
    ax.set_xlim(0, 1)
    ax.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1.0], ["0", "20", "40", "60", "80", "100"])
    ax.set_xlabel("share of chip-time (%)")
    style.dress(ax, f"Where the chip-time goes: {results.scenario}")
    ax.text(1.015, -0.55, "goodput", va="center", fontsize=style.SMALL, color=style.INK)
    visible = {
        account
        for record in records
        for account, share in record.accounts.items()
        if share >= _VISIBLE
    }
    style.account_legend(ax, visible, own="productive")
    return ax


def _bar(ax: Axes, row: int, record: MethodResult) -> None:
    left = 0.0
    for account in style.in_order(record.accounts):
        share = record.accounts[account]
        if share <= 0:
            continue
        fill = style.account_fill(account, record.method)
        ax.barh(
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
            ax.text(
                left + share / 2,
                row,
                f"{100 * share:.1f}",
                ha="center",
                va="center",
                fontsize=style.SMALL,
                color=style.ink_on(fill.colour),
                bbox={"facecolor": fill.colour, "edgecolor": "none", "pad": 1.0}
                if fill.hatch
                else None,
            )
        left += share


def _goodput_words(record: MethodResult) -> str:
    text = f"{100 * record.goodput:.1f}%"
    if record.goodput_ci95 is not None:
        low, high = record.goodput_ci95
        text += f" \N{PLUS-MINUS SIGN} {50 * (high - low):.1f}"
    return text
