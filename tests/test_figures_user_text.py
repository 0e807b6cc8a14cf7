"""What users wrote stands in figures and reports as they wrote it."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sample_figures import losses, study_of
from sample_results import comparison

from ddsim.figures import save_figures
from ddsim.figures.exchange import exchange
from ddsim.figures.heatmap import heatmap
from ddsim.figures.learning import learning
from ddsim.figures.study import sweep
from ddsim.figures.style import plain
from ddsim.figures.timeline import timeline
from ddsim.report import run_report
from ddsim.results import Results

HOSTILE = ["$5 # $6", r"$\undefined$", r"\$1 and $2_{", "$", r"a\$", "<b>&amp;", "a\0\x1b[31mb"]


def drawn(ax: Axes) -> list[str]:
    """Draw the figure; the names on its second axis."""
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    figure.savefig(BytesIO(), format="svg")
    return [label.get_text() for label in ax.get_yticklabels()]


def called(results: Results, name: str) -> Results:
    """The results with this name for scenario, units and one method."""
    items = [
        replace(
            item,
            method=name if item.method == "data_parallel" else item.method,
            timeline=[replace(span, unit=f"{span.unit} {name}") for span in item.timeline],
        )
        for item in results.results
    ]
    return replace(results, scenario=name, results=items)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        HOSTILE[1],
        *(pytest.param(name, marks=pytest.mark.slow) for name in HOSTILE if name != HOSTILE[1]),
    ],
)
def test_names_are_no_mathematics(name: str, tmp_path: Path) -> None:
    """Every figure of a result is drawn, whatever its scenario, units and methods are called."""
    hostile = called(comparison(), name)
    assert drawn(timeline(hostile)) == [plain(f"{u} {name}") for u in ("east", "west")] * 2
    drawn(exchange(hostile, "decoupled_diloco"))
    save_figures(hostile, tmp_path, suffix="svg")
    drawn(learning(called(losses(), name)))


def test_a_failure_is_marked_at_its_unit_whatever_that_is_called() -> None:
    """The triangles of `exchange` are as many as with other names."""
    marks = [
        np.size(exchange(results, "decoupled_diloco").lines[-1].get_xdata())
        for results in (comparison(), called(comparison(), "$5 # $6"))
    ]
    assert marks[0] == marks[1] > 0


def test_names_in_a_study_are_no_mathematics() -> None:
    """Neither those of the scenario nor the values that vary."""
    begun = study_of()
    cells = [
        replace(cell, settings={**cell.settings, "training.payload_bits": f"$5 # ${index % 2}"})
        for index, cell in enumerate(begun.cells)
    ]
    hostile = replace(begun, scenario="$5 # $6", cells=tuple(cells))
    drawn(sweep(hostile))
    drawn(heatmap(hostile))


@pytest.mark.slow
def test_a_report_escapes_names() -> None:
    """A name is text on the page, never markup."""
    page = run_report(called(comparison(), "<script>$5 # $6"))
    assert "<script>" not in page
    assert "&lt;script&gt;$5 # $6" in page
