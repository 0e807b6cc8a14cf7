"""A study goes on with what it began with: the files that it names, and ddsim's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from study_case import small

import ddsim
from ddsim import sources
from ddsim.study import StudyError, identity, store

OWN = """
from ddsim import method
from ddsim.methods.elastic_data_parallel import ElasticDataParallel

@method("own")
class Own(ElasticDataParallel):
    pass
"""
MORE = """\
python: [more/own.py]
network: {trace: wan.csv, repeat: 2 min}
"""


def begin(folder: Path, replications: int = 1) -> ddsim.Study:
    """A study of a scenario with a link's trace and a method of its own, begun or gone on with."""
    (folder / "more").mkdir(exist_ok=True)
    if not (folder / "wan.csv").exists():
        (folder / "wan.csv").write_text("time_s,bit_per_s\n0,2e9\n60,4e9\n")
        (folder / "more" / "own.py").write_text(OWN)
    scenario = small(folder, MORE).choose(["own"])
    return ddsim.sweep(scenario, replications=replications, out=folder / "out")


def kept(folder: Path) -> dict[str, bytes]:
    """What stands in the study's folder."""
    return {str(p): p.read_bytes() for p in (folder / "out").rglob("*") if p.is_file()}


def test_unchanged_it_goes_on(tmp_path: Path) -> None:
    """More replications beside the old ones."""
    begin(tmp_path)
    assert len(begin(tmp_path, replications=2).rows[0]) == 2


@pytest.mark.parametrize("name", ["wan.csv", "more/own.py"])
def test_a_changed_file_is_refused_by_name(tmp_path: Path, name: str) -> None:
    """Rows of before and after would stand in one mean."""
    begin(tmp_path)
    with (tmp_path / name).open("a") as file:
        file.write("120,5e9\n" if name == "wan.csv" else "# faster\n")
    before = kept(tmp_path)
    with pytest.raises(StudyError, match=f"the scenario names: {name} changed since it began"):
        begin(tmp_path, replications=2)
    assert kept(tmp_path) == before


def test_a_changed_ddsim_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same version: that stays while sources change."""
    begin(tmp_path)
    other = sources.of_ddsim() | {"engine/clock.py": "0" * 16}
    monkeypatch.setattr(sources, "of_ddsim", lambda: other)
    with pytest.raises(StudyError, match=r"own sources: ddsim/engine/clock\.py changed"):
        begin(tmp_path, replications=2)


def test_every_source_file_counts() -> None:
    """By its content."""
    assert sources.of_ddsim()["study/identity.py"]
    assert sources.hashes_of({"a": Path(__file__)}) != sources.hashes_of(
        {"a": sources.HOME / "cli/plan.py"}
    )
    assert identity.differing({"a": "1", "b": "2"}, {"a": "1", "c": "2"}) == ["b", "c"]


def test_a_worker_with_other_sources_does_no_work() -> None:
    """One that joined after all were asked."""
    assert identity.only_with(sources.digest(), int, "1") == 1
    with pytest.raises(StudyError, match="has other sources of ddsim"):
        identity.only_with("0" * 16, int, "1")


def test_old_rows_keep_their_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a newer numpy a study goes on, and says which cells were made with which."""
    begin(tmp_path)
    newer = store.environment() | {"numpy": "99.0"}
    monkeypatch.setattr(store, "environment", lambda: newer)
    begin(tmp_path, replications=2)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert [item["numpy"] == "99.0" for item in manifest["environments"]] == [False, True]
    lines = (tmp_path / "out" / "timings.csv").read_text().splitlines()
    assert [line.rpartition(",")[2] for line in lines] == ["environment", "0", "1"]
