"""The figure of utilization against bandwidth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import ddsim
from matplotlib.colors import to_hex

from ddsim import plot
from ddsim.bandwidth import BandwidthStudy, StepModel, bandwidth_study, every_method
from ddsim.figures import style


def study(*, as_published: bool = False) -> BandwidthStudy:
    """Every method on a 12B model at four sites."""
    model = StepModel(12e9, 48, 0.87, 24, 24, 2, 16, 4, 4)
    return bandwidth_study(every_method(model), (0.5, 0.9), as_published=as_published)


def test_each_method_has_its_curve_in_its_colour() -> None:
    """Through the points of the study and its roots, and a dot at each root."""
    made = study()
    lines = plot.bandwidth(made).get_lines()
    for item, curve, dots in zip(made.results, lines[::2], lines[1::2], strict=True):
        assert to_hex(curve.get_color()) == style.METHOD_COLOURS[item.method]
        assert len(np.asarray(curve.get_xdata())) == len(item.gbps) + 2
        shares, gbps = np.asarray(dots.get_ydata()), np.asarray(dots.get_xdata())
        assert dict(zip(shares.tolist(), gbps.tolist(), strict=True)) == item.required_gbps
        assert np.all(np.diff(np.asarray(curve.get_ydata())) >= -1e-9)


def test_what_is_read_off_a_grid_is_no_part_of_the_curve() -> None:
    """It lies below the target by up to a grid step."""
    made = study(as_published=True)
    curve = plot.bandwidth(made).get_lines()[0]
    assert len(np.asarray(curve.get_xdata())) == len(made.results[0].gbps)


def test_curves_on_one_another_are_dashed() -> None:
    """data_parallel and elastic_data_parallel need the same."""
    lines = plot.bandwidth(study()).get_lines()[::2]
    assert [line.get_linestyle() for line in lines[:3]] == ["-", "--", "-"]


def test_the_bandwidth_that_there_is_can_be_marked() -> None:
    """By a line at it; unlimited has no place on the axis."""
    marked = plot.bandwidth(study(), given=5.0)
    assert len(marked.get_lines()) == len(plot.bandwidth(study()).get_lines()) + 1
    assert len(plot.bandwidth(study(), given=float("inf")).get_lines()) == 10


def test_the_command_saves_document_tables_and_figure(tmp_path: Path) -> None:
    """With `--out`; and `--published-grid` prints numbers of the published grid."""
    ran = ddsim("bandwidth", "four_regions_12b", "--published-grid", "--out", tmp_path / "out")
    assert ran.code == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"bandwidth.json", "required.csv", "utilization.csv", "bandwidth.png"}
    assert "read off the published tables' grid" in ran.out


@pytest.mark.parametrize("collective", ["ring", "hierarchical", "parameter_server"])
def test_the_command_names_the_collective(collective: str) -> None:
    """And what its busiest site carries."""
    ran = ddsim(
        "bandwidth",
        "four_regions_12b",
        "--set",
        f"network.collective={collective}",
        "--set",
        "network.sync_cost=1 s",
        "--method",
        "diloco",
    )
    words = (
        "parameter server at one of 4" if collective == "parameter_server" else "ring all-reduce"
    )
    assert words in ran.out.splitlines()[-1]
    assert "1 s of fixed cost" in ran.out.splitlines()[-1]
