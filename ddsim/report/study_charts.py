"""Charts of a study to work with: its metric over what varies, and what matters most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ddsim.figures import style
from ddsim.figures.units import is_share, metric_label
from ddsim.report.cells import base_cells, labels_of, varied
from ddsim.report.charts import Row, chart_of, dressed, keys_of_methods, specification
from ddsim.report.parts import Chart
from ddsim.study.results import Study
from ddsim.study.words import records

_HEIGHT = 260
_BAR = 34
_DASHES = ([1, 0], [8, 5], [2, 4], [8, 3, 2, 3])
_SIZES = (170, 80, 40, 16)
"""Of points: the later lies upon the earlier and leaves a ring of it."""


def sweep_chart(study: Study) -> Chart:
    """The metric over the first path that varies, a line a method, with intervals.

    What else varies stands at what the controls of the page have chosen.
    """
    import altair as alt

    names = varied(study)
    cells = base_cells(study)
    x = names[0] if names else ""
    labels = [str(label) for label in labels_of(cells, x)] if x else ["as it is"]
    rows: list[Row] = []
    for cell in cells:
        it = study.measured.get(cell.index)
        if it is None or not math.isfinite(it.value):
            continue
        places = [str(cell.settings[x])] if x in cell.settings else labels
        row: Row = {"m": style.words(cell.method), "v": it.value}
        row |= {"l": it.low, "h": it.high} if it.enough else {}
        row |= {f"c{at}": str(cell.settings.get(name, "")) for at, name in enumerate(names)}
        rows += [{**row, "x": place} for place in places]
    tests = ["indexof(off, datum.m) < 0"]
    params = [alt.param(name="off", value=[])]
    for at, name in enumerate(names[1:], 1):
        first = next(iter(map(str, labels_of(cells, name))), "")
        params.append(alt.param(name=f"choice_{at}", value=first))
        tests.append(f"(datum.c{at} === '' || datum.c{at} === choice_{at})")
    methods = list(dict.fromkeys(cell.method for cell in cells))
    names_of = [style.words(method) for method in methods]
    form = ".2%" if is_share(study.metric) else ",.4~g"
    hints = [
        alt.Tooltip("m:N", title="method"),
        alt.Tooltip("x:N", title=x or "setting"),
        alt.Tooltip("v:Q", title=metric_label(study.metric), format=form),
        alt.Tooltip("l:Q", title="95% from", format=form),
        alt.Tooltip("h:Q", title="95% to", format=form),
    ]
    axis = alt.Axis(format=".0%") if is_share(study.metric) else alt.Axis(format="~s")
    base = (
        chart_of()
        .transform_filter(" && ".join(tests))
        .encode(
            x=alt.X("x:O", sort=labels, title=x or None).axis(labelAngle=0, labelOverlap=True),
            color=alt.Color("m:N", legend=None).scale(
                domain=names_of,
                range=[style.method_colour(method) for method in methods],
            ),
        )
    )
    y = alt.Y("v:Q", title=metric_label(study.metric), axis=axis, scale=alt.Scale(zero=False))
    chart = alt.layer(
        base.mark_rule(aria=False, strokeWidth=1.5).encode(y=alt.Y("l:Q"), y2="h:Q"),
        base.mark_line(aria=False).encode(y=y, strokeDash=_each(names_of, _DASHES)),
        base.mark_point(aria=False, filled=True, opacity=1).encode(
            y=y, size=_each(names_of, _SIZES), tooltip=hints
        ),
    ).add_params(*params)
    of = f"{style.words(study.metric)} over {x or 'nothing'}, a line a method; numbers in the table"
    fitted = dressed(chart.properties(height=_HEIGHT))
    return Chart(specification(fitted, rows), of, keys_of_methods(methods))


def _each(names: list[str], looks: Sequence[Any]) -> Any:
    """A look for each method, so that one that lies under another shows."""
    import altair as alt

    kind = alt.StrokeDash if isinstance(looks[0], list) else alt.Size
    if len(names) == 1:  # a scale of one value has no end to draw to
        return (alt.StrokeDashValue if kind is alt.StrokeDash else alt.SizeValue)(looks[0])
    found = [looks[at % len(looks)] for at in range(len(names))]
    return kind("m:O", legend=None, sort=names).scale(domain=names, range=found)


def tornado_chart(study: Study, table: Any) -> Chart:
    """A bar an uncertain input, from the metric at its one end to that at its other."""
    import altair as alt

    found = records(table)
    found = [row for row in found if row["cell"] == found[0]["cell"]]
    rows = [
        {
            "i": row["input"],
            "r": f"{row['low']} to {row['high']}",
            "a": min(row["at_low"], row["at_high"]),
            "b": max(row["at_low"], row["at_high"]),
        }
        for row in found
    ]
    axis = alt.Axis(format=".1%") if is_share(study.metric) else alt.Axis(format="~s")
    chart = (
        chart_of()
        .mark_bar(aria=False, color=style.method_colour(found[0]["method"]))
        .encode(
            x=alt.X(
                "a:Q", title=metric_label(study.metric), axis=axis, scale=alt.Scale(zero=False)
            ),
            x2="b:Q",
            y=alt.Y("i:N", sort=[row["i"] for row in rows], title=None),
            tooltip=[
                alt.Tooltip("i:N", title="input"),
                alt.Tooltip("r:N", title="between"),
                alt.Tooltip("a:Q", title="lowest", format=",.4~g"),
                alt.Tooltip("b:Q", title="highest", format=",.4~g"),
            ],
        )
        .properties(height=_BAR * len(rows))
    )
    return Chart(specification(dressed(chart), rows), "A bar an input, widest swing first")
