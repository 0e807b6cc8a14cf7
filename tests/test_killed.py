"""What was killed and run again leaves what it leaves at peace."""

from __future__ import annotations

from pathlib import Path

import pytest
from killed import left, rounds
from study_case import small

import ddsim
from ddsim.figures.gallery import save_figures


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_a_figure_drawn_again_has_the_same_bytes(suffix: str, tmp_path: Path) -> None:
    """Neither the day nor a number drawn for a name is in it."""
    results = ddsim.run(small(tmp_path), replications=1)
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        assert save_figures(results, folder, suffix)
    assert left(first) == left(second)


@pytest.mark.slow
def test_a_killed_sweep_plan_and_reproduction_end_with_the_same_bytes(tmp_path: Path) -> None:
    """Twice each here; `killed.py` does as many as it is told to."""
    found = rounds(6, 3, tmp_path)
    assert {item.command for item in found if item.kills} == {"sweep", "plan", "reproduce"}
    assert not [item for item in found if item.wrong]
