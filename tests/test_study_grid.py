"""What varies: cells in order, values for one method, and what cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import ddsim
from study_case import small, small_file

from ddsim.scenario import ScenarioError
from ddsim.study.grid import build
from ddsim.study.vary import axes_of, in_base_unit


def words(folder: Path, vary: object, more: str = "") -> list[str]:
    """The cells in words."""
    scenario = small(folder, more)
    grid = build(scenario, axes_of(scenario, vary))  # type: ignore[arg-type]
    return [cell.words for cell in grid.cells]


def test_cells_are_all_combinations_methods_innermost(tmp_path: Path) -> None:
    """Axes stand in their order, methods in the registry's within each combination."""
    found = words(tmp_path, ["restart.spares=0,1", "elastic.upscale=5 s,10 s"])
    assert len(found) == 8
    assert found[0] == "data_parallel, restart.spares=0, elastic.upscale=5 s"
    assert found[1] == "elastic_data_parallel, restart.spares=0, elastic.upscale=5 s"
    assert found[2].endswith("restart.spares=0, elastic.upscale=10 s")


def test_values_of_one_method_multiply_that_method_alone(tmp_path: Path) -> None:
    """A mapping under a method's name varies for it; the others have one cell."""
    found = words(tmp_path, {"data_parallel": {"restart.spares": [0, 1, 2]}})
    assert [item.partition(",")[0] for item in found] == ["data_parallel"] * 3 + [
        "elastic_data_parallel"
    ]


def test_the_scenarios_own_study_is_the_default(tmp_path: Path) -> None:
    """Shared paths and a method's own, without --vary; other methods' are left aside."""
    more = """
study:
  elastic.upscale: [5 s, 10 s]
  data_parallel: {restart.spares: [0, 1]}
"""
    assert len(words(tmp_path, None, more)) == 6
    scenario = small(tmp_path, more).choose(["elastic_data_parallel"])
    assert len(build(scenario, axes_of(scenario)).cells) == 2


def test_values_may_be_mappings(tmp_path: Path) -> None:
    """A comma inside braces parts no values."""
    found = words(tmp_path, ["failures.repair=10 min,{lognormal: {median: 20 min, sigma: 0.5}}"])
    assert found[2].endswith("failures.repair={lognormal: {median: 20 min, sigma: 0.5}}")


def test_impossible_combinations_are_left_out_and_said(tmp_path: Path) -> None:
    """K = 4 exists for four learners and not for two."""
    scenario = small(tmp_path)
    axes = axes_of(scenario, ["cluster.learners=2,4", "training.quorum=1,4"])
    grid = build(scenario, axes)
    assert len(grid.cells) == 6
    assert [item[0] for item in grid.left_out] == [
        f"{name}, cluster.learners=2, training.quorum=4"
        for name in ("data_parallel", "elastic_data_parallel")
    ]
    assert "1 to 2" in grid.left_out[0][1]


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        ("network.bandwith=1 Gbit/s", 'did you mean "network.bandwidth"?'),
        ("elastic.upscale=5,10", "a number without a unit; a time in"),
        ("elastic.upscale=5 GB", "an amount of data; a time in"),
        ("elastic.upscale=5 s,10 Gs", 'unknown unit "Gs"'),
        ("elastic.upscale=", "an empty list"),
        ("elastic.upscale", "no ="),
        ("=5 s", "no path"),
        ("elastic.upscale=5 s,,7 s", "not a list of values"),
        ("elastic.upscale=5 s,5 s", "5 s a second time"),
        ("training.quorum=3", "1 to 2, the number of learners"),
        ("seed=1,2", "--replications"),
        ("methods=diloco", "--method"),
        ("elastic=1,2", "a mapping"),
    ],
)
def test_a_bad_vary_is_said_and_nothing_is_written(tmp_path: Path, vary: str, said: str) -> None:
    """Exit 2, one message with the option as given, no folder."""
    out = tmp_path / "out"
    ran = ddsim("sweep", small_file(tmp_path), "--vary", vary, "--out", out, "--jobs", 1)
    assert ran.code == 2
    assert f"--vary {vary}".partition("=")[0] in ran.err
    assert said in ran.err
    assert ran.out == ""
    assert not out.exists()


def test_a_path_varies_once(tmp_path: Path) -> None:
    """Twice, or for all and for one method, is a mistake."""
    scenario = small(tmp_path)
    with pytest.raises(ScenarioError, match="the same path again"):
        axes_of(scenario, ["restart.spares=1", "restart.spares=2"])
    both = {"restart.spares": [1], "data_parallel": {"restart.spares": [2]}}
    with pytest.raises(ScenarioError, match="one of the two"):
        axes_of(scenario, both)
    with pytest.raises(ScenarioError, match="elastic_data_parallel"):
        axes_of(scenario, {"elastic_data_paralel": {"restart.spares": [2]}})


def test_quantities_have_a_number_in_their_base_unit() -> None:
    """What tables show beside the text as given."""
    assert in_base_unit("network.bandwidth", "5 Gbit/s") == (5e9, "bit/s")
    assert in_base_unit("chaos.0.at", "2 h") == (7200.0, "s")
    assert in_base_unit("training.quorum", 2) is None
