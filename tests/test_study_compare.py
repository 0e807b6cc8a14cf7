"""Two results or studies side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import ddsim
from study_case import small

import ddsim as package
from ddsim.cli.compare import together
from ddsim.study import StudyError, compare
from ddsim.study.changes import Change
from ddsim.study.verdict import verdict

CHANGED = {"elastic.downscale": "60 s"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Studies and results of a scenario, as it is and changed."""
    root = tmp_path_factory.mktemp("compare")
    scenario = small(root)
    made = {
        name: root / name for name in ("study", "changed", "seed", "grid", "run", "run_changed")
    }
    package.sweep(scenario, replications=10, out=made["study"])
    package.sweep(scenario.with_(CHANGED), replications=10, out=made["changed"])
    package.sweep(scenario.with_(CHANGED), replications=10, seed=5, out=made["seed"])
    package.sweep(scenario, {"restart.spares": [0, 2]}, replications=2, out=made["grid"])
    package.run(scenario, replications=3).save(made["run"])
    package.run(scenario.with_(CHANGED), replications=3).save(made["run_changed"])
    return made


def test_what_follows_from_one_change_is_one_row() -> None:
    """The same change at three paths of a section or more; fewer, and others, stand alone."""
    alike = [Change(f"network.{name}", "5", "2") for name in ("bandwidth", "upload", "download")]
    others = [Change("seed", "1", "2"), Change("network.a", "5", "3"), Change("model.a", "5", "2")]
    assert together([*alike, *others]) == [
        ("network.bandwidth, 2 alike in network", ("5", "2")),
        ("seed", ("1", "2")),
        ("network.a", ("5", "3")),
        ("model.a", ("5", "2")),
    ]


@pytest.mark.slow
def test_one_method_is_first_of_nobody(folders: dict[str, Path], tmp_path: Path) -> None:
    """Its best setting is said, and not that it is first at so many."""
    vary = {"elastic.downscale": ["1 s", "10 s"]}
    alone = package.sweep(small(tmp_path), vary, methods=["elastic_data_parallel"], replications=2)
    assert verdict(alone).startswith("The best merged goodput is ")
    assert verdict(package.Study.load(folders["study"])).startswith("By merged goodput: ")


@pytest.mark.slow
def test_what_changed_in_the_scenario_is_listed(folders: dict[str, Path]) -> None:
    """Paths, and both values."""
    (change,) = compare(folders["study"], folders["changed"]).changes
    assert (change.path, change.one, change.other) == ("elastic.downscale", "10 s", "1 min")


def test_the_same_histories_are_paired(folders: dict[str, Path]) -> None:
    """What the change does not touch differs by nothing in any history, which is no interval."""
    found = compare(folders["study"], folders["changed"], "goodput").outcomes
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    assert [row["basis"] for row in rows] == ["paired", "paired"]
    assert (rows[0]["difference"], rows[0]["low"], rows[0]["high"]) == (0.0, None, None)
    assert rows[1]["high"] < 0.0
    assert rows[1]["difference"] == pytest.approx(rows[1]["b"] - rows[1]["a"], abs=1e-12)


def test_other_histories_are_compared_apart(folders: dict[str, Path]) -> None:
    """Another seed: the interval is wider for it."""
    pair = compare(folders["study"], folders["changed"]).outcomes.rows[1]
    single = compare(folders["study"], folders["seed"]).outcomes.rows[1]
    assert (pair[-1], single[-1]) == ("paired", "apart")
    assert single[6] - single[5] > pair[6] - pair[5]


def test_results_have_the_intervals_of_their_means(folders: dict[str, Path]) -> None:
    """`run --out` keeps no replications."""
    rows = compare(folders["run"], folders["run_changed"], "goodput").outcomes.rows
    assert [row[-1] for row in rows] == ["intervals", "intervals"]
    assert compare(folders["run"], folders["study"]).changes == []


def test_cells_that_only_one_varies_are_left_aside(folders: dict[str, Path]) -> None:
    """Two settings against one: nothing says which is meant."""
    with pytest.raises(StudyError, match="share no method"):
        compare(folders["study"], folders["grid"])
    assert len(compare(folders["grid"], folders["grid"], "goodput").outcomes.rows) == 4


def test_what_methods_are_ranked_by_comes_first(folders: dict[str, Path]) -> None:
    """Merged goodput, the ratio, goodput; the ratio of a run is that of its results."""
    for one, other in (("study", "changed"), ("run", "run_changed")):
        found = compare(folders[one], folders[other]).outcomes
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
        metrics = ["merged_goodput", "ratio", "goodput"]
        assert [row["metric"] for row in rows] == [name for name in metrics for _ in range(2)]
    ratio = package.Results.load(folders["run"]).ratio("elastic_data_parallel")
    assert rows[3]["a"] == ratio


def test_the_command_prints_both_parts(folders: dict[str, Path]) -> None:
    """Changes, outcomes, and what the interval is; or one JSON document."""
    ran = ddsim("compare", folders["study"], folders["changed"])
    assert ran.code == 0, ran.err
    assert "elastic.downscale" in ran.out
    assert "paired, replication by replication" in ran.out
    document = json.loads(ddsim("compare", folders["study"], folders["changed"], "--json").out)
    assert document["outcomes"][1]["method"] == "elastic_data_parallel"


def test_a_folder_that_is_neither_is_an_error(folders: dict[str, Path], tmp_path: Path) -> None:
    """Exit 2, with what makes one."""
    ran = ddsim("compare", folders["study"], tmp_path)
    assert ran.code == 2
    assert "ddsim sweep --out" in ran.err
