"""The figures of a study."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import ddsim
from study_case import small

import ddsim as package
from ddsim.figures.study import sweep, tornado


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
