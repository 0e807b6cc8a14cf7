"""The figures of a study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from command_line import ddsim
from figure_checks import assert_words_are_whole_and_apart, legend_names
from sample_figures import study_of, uncertain
from study_case import small

import ddsim as package
from ddsim.figures.heatmap import heatmap
from ddsim.figures.study import sweep, tornado
from ddsim.figures.units import metric_label
from ddsim.study.grid import build
from ddsim.study.vary import axes_of
from ddsim.study.work import METRICS, Row


def test_a_line_a_method_over_what_varies(tmp_path: Path) -> None:
    """Ticks stand at the values and are spelled as given; a wide range is logarithmic."""
    vary = {"failures.chip_mtbi": ["5 day", "50 day", "500 day"]}
    study = package.sweep(small(tmp_path), vary, replications=3)
    ax = sweep(study)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["5 day", "50 day", "500 day"]
    assert ax.get_xscale() == "log"
    lines = [container.lines[0] for container in ax.containers]  # type: ignore[attr-defined]
    assert len(lines) == 2
    assert list(lines[0].get_ydata()) == pytest.approx(study.summary()["goodput"][::2].tolist())


def test_values_that_are_no_numbers_stand_one_after_another(tmp_path: Path) -> None:
    """Words have no place of their own."""
    study = package.sweep(
        small(tmp_path), {"elastic.stall_rule": ["absorb", "extend"]}, replications=1
    )
    assert list(sweep(study).get_xticks()) == [1.0, 2.0]


@pytest.mark.slow
def test_plot_draws_a_saved_study(tmp_path: Path) -> None:
    """The sweep, and a tornado where inputs are uncertain; a bar an input."""
    scenario = small(tmp_path).with_(
        {
            "failures.detection": {"low": "1 s", "high": "60 s"},
            "restart.time": {"low": "10 s", "high": "90 s"},
        }
    )
    out = tmp_path / "out"
    study = package.sweep(scenario, replications=2, out=out)
    ran = ddsim("plot", out, "--format", "svg")
    assert ran.code == 0, ran.err
    assert [Path(line).name for line in ran.out.splitlines()] == ["sweep.svg", "tornado.svg"]
    assert len(tornado(study).patches) == 2


def test_each_other_value_has_a_line_of_its_own() -> None:
    """In its method's colour; a long legend has one column, so that all of it is seen."""
    ax = sweep(study_of())
    assert legend_names(ax) == [
        "diloco, training.payload_bits = 4",
        "diloco, training.payload_bits = 16",
        "decoupled diloco, training.payload_bits = 4",
        "decoupled diloco, training.payload_bits = 16",
    ]
    lines = [container.lines[0] for container in ax.containers]  # type: ignore[attr-defined]
    assert list(lines[0].get_ydata()) == pytest.approx([0.15, 0.3, 0.45, 0.6])
    assert list(lines[3].get_ydata()) == pytest.approx([0.1425, 0.285, 0.4275, 0.57])
    assert list(lines[0].get_xdata()) == [1e9, 2e9, 5e9, 40e9]
    assert ax.get_ylabel() == "goodput (share)"


def test_intervals_do_not_stretch_a_share_beyond_what_it_can_be() -> None:
    """The axis ends at 0 and 1, whatever an interval of few histories reaches."""
    study = study_of()
    wide: dict[int, list[Row]] = {
        index: [{"goodput": 0.1}, {"goodput": 0.9}] for index in study.rows
    }
    low, high = sweep(replace(study, rows=wide)).get_ylim()
    assert low >= -0.03
    assert high <= 1.03


def test_names_that_have_no_room_are_turned() -> None:
    """Rather than laid on each other."""
    study = study_of((4,))
    near = ("100 Gbit/s", "102 Gbit/s", "104 Gbit/s", "200 Gbit/s")
    rates = dict(zip(("1 Gbit/s", "2 Gbit/s", "5 Gbit/s", "40 Gbit/s"), near, strict=True))
    cells = [
        replace(
            cell, settings={"network.bandwidth": rates[str(cell.settings["network.bandwidth"])]}
        )
        for cell in study.cells
    ]
    ax = sweep(replace(study, cells=tuple(cells)))
    assert all(tick.get_rotation() == 35 for tick in ax.get_xticklabels())


def test_a_tornado_has_the_widest_swing_on_top() -> None:
    """A bar an input from its lower to its higher mean; its ends are named with it."""
    ax = tornado(uncertain())
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [
        "failures.detection\n1 to 600 s",
        "restart.time\n10 to 90 s",
    ]
    spans = [(bar.get_x(), bar.get_width()) for bar in ax.patches]  # type: ignore[attr-defined]
    assert spans == [pytest.approx((0.2, 0.5)), pytest.approx((0.48, 0.04))]
    assert ax.get_xlabel() == "goodput (share)"
    low, high = ax.get_xlim()
    assert low < 0.2
    assert high > 0.7


@pytest.mark.parametrize(
    ("metric", "label"),
    [
        ("wan_peak_gbps", "WAN, peak (Gbit/s)"),
        ("tokens_per_hour", "tokens (1/h)"),
        ("failures", "failures"),
    ],
)
def test_a_metric_has_its_unit(metric: str, label: str) -> None:
    """Beside its name in words; counts have none."""
    assert metric_label(metric) == label


@pytest.mark.slow
def test_every_metric_has_a_label_that_fits() -> None:
    """Whatever a study measures, the words of its map are whole and apart."""
    for metric in METRICS:
        study = study_of()
        rows: dict[int, list[Row]] = {n: [{metric: 0.5}, {metric: 0.6}] for n in study.rows}
        assert_words_are_whole_and_apart(heatmap(replace(study, metric=metric, rows=rows)))


@pytest.mark.slow
def test_a_map_of_many_cells_has_no_numbers(tmp_path: Path) -> None:
    """Nobody could read them, and they take most of the time of a report."""
    vary = {
        "elastic.upscale": [f"{seconds} s" for seconds in range(1, 18)],
        "elastic.downscale": [f"{seconds} s" for seconds in range(1, 14)],
    }
    grid = build(small(tmp_path).choose(["elastic_data_parallel"]), axes_of(small(tmp_path), vary))
    rows: dict[int, list[Row]] = {cell.index: [{"goodput": 0.5}] for cell in grid.cells}
    many = package.Study("small", 0, "0", "goodput", grid.names, grid.cells, rows)
    few = replace(many, rows={index: rows[index] for index in range(13 * 15)})
    assert not heatmap(many).texts
    assert len(heatmap(few).texts) == 13 * 15
