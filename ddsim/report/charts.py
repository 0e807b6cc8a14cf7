"""Charts to work with, as specifications of Vega-Lite that altair makes and the page draws.

altair and vl-convert are an extra: without them a page has its static figures alone. Charts take
the width of their box; what is switched off, and which part of the time is shown, are parameters
that controls of the page set.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ddsim.figures import style
from ddsim.figures.stretches import COMPUTING, stretches_of
from ddsim.figures.units import time_unit

if TYPE_CHECKING:
    from ddsim.results import MethodResult, Results

Row = dict[str, Any]
_MOST_ROWS = 8000  # of the timelines of a page, so that it stays small
_COLUMNS = (300, 200, 120, 80, 40)  # parts of the time, the most for which there is room
_MERGED, _OVERWRITTEN = "merged", "productive, overwritten"
_MERGED_COLOURS = {_MERGED: "#009e73", _OVERWRITTEN: "#8fd3bd"}
_LEAST = 1e-5  # a share that is worth a row
_BAR, _UNIT = 26, 22  # pixels of a row
_DIGITS = 5


def available() -> bool:
    """Whether the libraries of the extra are there."""
    return all(find_spec(name) is not None for name in ("altair", "vl_convert"))


@cache
def library() -> str:
    """The script that draws specifications, for within a page."""
    import vl_convert

    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return str(script).replace("</script", r"<\/script")


def chart_of() -> Any:
    """A chart whose rows `specification` puts in: to check each of them would take minutes."""
    import altair

    make: Any = altair.Data  # whose constructor has no types
    return altair.Chart(make(values=[]))


def specification(chart: Any, rows: Sequence[Row]) -> str:
    """A chart of these rows as JSON that may stand within a page."""
    found = chart.to_dict()
    found.pop("$schema", None)
    found["data"] = {"values": list(rows)}
    return in_page(found)


def in_page(value: Any) -> str:
    """JSON that does not end the script that it stands in."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", r"\u003c")


def keys_of(names: Iterable[str], method: str | None = None) -> list[tuple[str, str]]:
    """What colours mean: each with its words."""
    return [(colour_of(name, method), _say(name)) for name in names]


def keys_of_methods(methods: Iterable[str]) -> list[tuple[str, str]]:
    """The colours of methods."""
    return [(style.method_colour(method), style.words(method)) for method in methods]


def _say(state: str) -> str:
    return "computing" if state == COMPUTING else style.words(state)


def colour_of(name: str, method: str | None = None) -> str:
    """The colour of an account or state; a pattern's own where the ground is white."""
    if name in _MERGED_COLOURS:
        return _MERGED_COLOURS[name]
    fill = style.account_fill(name, method)
    return fill.edge if fill.hatch and fill.colour == "#ffffff" else fill.colour


def shares_of(item: MethodResult) -> dict[str, float]:
    """The accounts of a method in the order of its bar, what was merged apart from the rest."""
    found: dict[str, float] = {}
    for name in style.in_order(item.accounts):
        share = item.accounts[name]
        if name == "productive":
            kept = item.merged_goodput / item.goodput if item.goodput > 0 else 1.0
            found[_MERGED] = share * min(1.0, kept)
            found[_OVERWRITTEN] = share * max(0.0, 1.0 - kept)
        else:
            found[name] = share
    return {name: share for name, share in found.items() if share >= _LEAST}


def accounts_chart(results: Results) -> tuple[str, list[tuple[str, str]]]:
    """A bar a method, divided into accounts; the specification, and what the colours mean."""
    import altair as alt

    rows: list[Row] = []
    names: dict[str, None] = {}
    for item in results.results:
        shares = shares_of(item)
        names.update(dict.fromkeys(shares))
        rows += [
            {"m": style.words(item.method), "a": style.words(name), "s": round(share, 6), "o": at}
            for at, (name, share) in enumerate(shares.items())
        ]
    order = [_MERGED, _OVERWRITTEN, *style.in_order(n for n in names if n not in _MERGED_COLOURS)]
    chosen = [name for name in order if name in names]
    off = alt.param(name="off", value=[])
    chart = (
        chart_of()
        .transform_filter("indexof(off, datum.m) < 0")
        .mark_bar(stroke="white", strokeWidth=0.6, aria=False)
        .encode(
            x=alt.X("s:Q", stack="zero", scale=alt.Scale(domain=[0, 1], nice=False)).axis(
                format=".0%", tickCount=5, title="share of all chip-time"
            ),
            y=alt.Y("m:N", sort=[style.words(name) for name in results.methods], title=None),
            color=alt.Color("a:N", legend=None).scale(
                domain=[style.words(name) for name in chosen],
                range=[colour_of(name) for name in chosen],
            ),
            order=alt.Order("o:Q"),
            tooltip=[
                alt.Tooltip("m:N", title="method"),
                alt.Tooltip("a:N", title="account"),
                alt.Tooltip("s:Q", title="share", format=".2%"),
            ],
        )
        .add_params(off)
        .properties(height=_BAR * len(results.results))
    )
    return specification(dressed(chart), rows), keys_of(chosen)


def timelines(results: Results) -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """For each method with a timeline its chart, and what the colours mean."""
    kept = [item for item in results.results if item.timeline]
    longest = max(span.end for item in kept for span in item.timeline)
    for columns in _COLUMNS:
        found = {item.method: stretches_of(item, longest, columns) for item in kept}
        drawn = {method: list(_boxes(units, longest)) for method, units in found.items()}
        if sum(map(len, drawn.values())) <= _MOST_ROWS:
            break
    return {
        item.method: (
            _timeline(item.method, list(found[item.method]), drawn[item.method], longest),
            keys_of(_states(drawn[item.method]), item.method),
        )
        for item in kept
    }


def _states(rows: Sequence[Row]) -> list[str]:
    return style.in_order({row["s"] for row in rows})


def _boxes(units: Mapping[str, Sequence[Any]], longest: float) -> Iterable[Row]:
    """A row a coloured box: unit, state, start and end, base and top, share of the chips."""
    scale, _ = time_unit(longest)
    for place, (unit, stretches) in enumerate(units.items()):
        for stretch in stretches:
            base = place + 0.9
            for state in style.in_order(stretch.parts):
                share = stretch.parts[state]
                yield {
                    "u": unit,
                    "s": state,
                    "a": round(stretch.start / scale, _DIGITS),
                    "b": round(stretch.end / scale, _DIGITS),
                    "y": round(base, 3),
                    "z": round(base - 0.8 * share, 3),
                    "p": round(share, 4),
                }
                base -= 0.8 * share


def _timeline(method: str, units: Sequence[str], rows: Sequence[Row], longest: float) -> str:
    import altair as alt

    scale, unit = time_unit(longest)
    whole = round(longest / scale, _DIGITS)
    states = _states(rows)
    colours = [colour_of(state, method) for state in states]
    names = json.dumps([*units, ""])
    chart = (
        chart_of()
        .mark_rect(clip=True, aria=False)
        .encode(
            x=alt.X("a:Q", title=f"time ({unit})")
            .axis(tickCount=alt.expr("width / 60"))
            .scale(
                domainMin=alt.expr("begin"), domainMax=alt.expr("finish"), nice=False, zero=False
            ),
            x2="b:Q",
            y=alt.Y("y:Q", title=None)
            .scale(domain=[0, len(units)], reverse=True, nice=False)
            .axis(
                values=[place + 0.5 for place in range(len(units))],
                labelExpr=f"{names}[floor(datum.value)]",
                grid=False,
                ticks=False,
                domain=False,
            ),
            y2="z:Q",
            color=alt.Color("s:N", legend=None).scale(
                domain=[_say(state) for state in states], range=colours
            ),
            tooltip=[
                alt.Tooltip("u:N", title="unit"),
                alt.Tooltip("s:N", title="state"),
                alt.Tooltip("p:Q", title="share of its chips", format=".1%"),
                alt.Tooltip("a:Q", title=f"from ({unit})"),
                alt.Tooltip("b:Q", title=f"to ({unit})"),
            ],
        )
        .add_params(alt.param(name="begin", value=0), alt.param(name="finish", value=whole))
        .properties(height=_UNIT * len(units) + 4)
    )
    said = [{**row, "s": _say(row["s"])} for row in rows]
    return specification(dressed(chart), said)


def dressed(chart: Any) -> Any:
    """A chart as wide as its box, in the look of the page."""
    import altair as alt

    axis = alt.AxisConfig(
        labelColor=style.INK,
        titleColor=style.INK,
        labelFontSize=12,
        titleFontSize=12,
        titleFontWeight="normal",
        gridColor=style.GRID,
        labelLimit=130,
    )
    fitted = chart.properties(
        width="container", autosize=alt.AutoSizeParams(type="fit-x", contains="padding")
    )
    return fitted.configure(
        font="system-ui, sans-serif",
        background="white",
        axis=axis,
        view=alt.ViewConfig(stroke=None),
    )
