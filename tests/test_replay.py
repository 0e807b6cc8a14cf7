"""A run whose tape was kept is trained on again, without the engine."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import ddsim as run_command

import ddsim
from ddsim import simulation
from ddsim.replaying import ReplayError
from ddsim.results.files import TAPE

WORLD = """\
name: failing
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s, payload_bits: 4, inner_steps: 6, fragments: 6}
duration: 60 s
cluster: {chips: 64, chips_per_slice: 8, learners: 4, jitter: 0.05}
failures: {chip_mtbi: 1 h, repair: 10 s, detection: 1 s}
elastic: {downscale: 1 s, upscale: 1 s}
restart: {time: 5 s}
chaos: [{at: 20 s, fault: kill, target: unit 1, for: 10 s}]
"""
LEARNING = """\
learning:
  {problem: mlp, options: {width: 8}, batch_size: 8, evaluations: 6, inner: {learning_rate: 0.01}}
"""
TRAINED = [
    "data_parallel",
    "elastic_data_parallel",
    "diloco",
    "streaming_diloco",
    "decoupled_diloco",
]
World = Callable[[str], Path]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Write a scenario with failures, with or without more sections."""

    def to_file(more: str = "") -> Path:
        file = tmp_path / "failing.yaml"
        file.write_text(WORLD + more)
        return file

    return to_file


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Once called, nothing can be simulated any more."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("simulated")

    return lambda: monkeypatch.setattr(simulation, "Run", refuse)


def curves(results: ddsim.Results) -> dict[str, Any]:
    """What was learnt, by method."""
    return {item.method: item.learning for item in results.results}


@pytest.mark.slow
def test_a_replay_is_the_run_to_the_last_bit(
    world: World, no_engine: Callable[[], None], tmp_path: Path
) -> None:
    """Every method, two seeds, two histories, from the disk, without the engine."""
    scenario = ddsim.load(world(LEARNING), {"learning.seeds": 2})
    ran = ddsim.run(scenario, replications=2, jobs=2, tape=True)
    ran.save(tmp_path / "saved")
    no_engine()
    again = ddsim.replay(tmp_path / "saved")
    assert list(curves(again)) == TRAINED
    assert curves(again) == curves(ran)
    assert [item.goodput for item in again.results] == [item.goodput for item in ran.results]
    assert curves(ddsim.replay(ran)) == curves(ran)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"learning.outer.momentum": 0.3, "learning.outer.learning_rate": 1.0},
        {"learning.seed": 7},
        {"learning": {"problem": "noisy_quadratic", "inner": {"learning_rate": 0.02}}},
        {"learning.quantization.bits": 2, "learning.merge": "mean"},
    ],
)
def test_a_replay_with_changes_is_a_run_with_them(
    world: World, no_engine: Callable[[], None], changes: dict[str, Any]
) -> None:
    """Another outer optimizer, seed, problem or quantization; and the change changes something."""
    scenario = ddsim.load(world(LEARNING))
    kept = ddsim.run(scenario, TRAINED[2:], tape=True)
    fresh = ddsim.run(scenario.with_(changes), TRAINED[2:])
    no_engine()
    again = ddsim.replay(kept, changes)
    assert curves(again) == curves(fresh)
    assert curves(again) != curves(kept)
    assert ddsim.load(world(LEARNING), changes).choose(TRAINED[2:]).resolved() == again.resolved


@pytest.mark.slow
def test_a_run_that_trained_nothing_can_be_trained_on(world: World, tmp_path: Path) -> None:
    """With its tape kept, and the learning section of another scenario."""
    quiet = world("")
    out = tmp_path / "quiet"
    assert run_command("run", str(quiet), "--tape", "--out", str(out)).code == 0
    trained = ddsim.run(ddsim.load(world(LEARNING)))
    arguments = ("replay", str(out), "--learning", str(tmp_path / "failing.yaml"), "--json")
    done = run_command(*arguments, "--out", str(tmp_path / "trained"))
    assert done.code == 0, done.err
    found = {item["method"]: item["learning"] for item in json.loads(done.out)["results"]}
    assert found == json.loads(json.dumps(curves(trained)))
    assert curves(ddsim.replay(tmp_path / "trained")) == curves(trained)


@pytest.mark.slow
def test_a_run_that_trains_keeps_its_tape_where_it_is_saved(world: World, tmp_path: Path) -> None:
    """`ddsim replay` goes on from there; its seed is that of the trainings alone."""
    out = tmp_path / "out"
    assert run_command("run", str(world(LEARNING)), "--out", str(out)).code == 0
    documents = []
    for seed in ((), ("--seed", "0"), ("--seed", "2")):
        done = run_command("replay", str(out), "--method", "diloco", *seed, "--json")
        assert done.code == 0, done.err
        documents.append(json.loads(done.out))
    ran = json.loads((out / "results.json").read_text())
    (diloco,) = (item["learning"] for item in ran["results"] if item["method"] == "diloco")
    same, also, other = (document["results"][0]["learning"] for document in documents)
    assert same == also == diloco != other  # the scenario has seed 0
    assert documents[2]["seed"] == 0


OWN = """\
import numpy as np
from ddsim.learning import Problem, problem


@problem("mean_of_normals")
class MeanOfNormals(Problem):
    def __init__(self, rng, center=3.0):
        self.center = center

    def initial(self, rng):
        return {"mean": np.zeros(1)}

    def batch(self, rng, size, shard):
        return rng.normal(self.center, 1.0, size)

    def gradient(self, parameters, batch):
        error = parameters["mean"] - batch.mean()
        return float(0.5 * error[0] ** 2), {"mean": error}

    def evaluate(self, parameters):
        return float(0.5 * (parameters["mean"][0] - self.center) ** 2)
"""


@pytest.mark.parametrize("field", ["seeds", "batch_size"])
def test_a_training_that_takes_too_long_wants_consent(
    world: World, tmp_path: Path, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of a run does, before anything is trained; with `--yes` it begins."""
    saved = tmp_path / "saved"
    ddsim.run(ddsim.load(world(LEARNING)), ["diloco"], tape=True).save(saved)
    many = ["--set", f"learning.{field}=100000000"]
    ran = run_command("replay", saved, *many)
    assert ran.code == 2
    assert "this takes more than an hour" in ran.err
    assert f"the reason: learning.{field}: 100,000,000. Less: learning.{field} of " in ran.err
    monkeypatch.setattr("ddsim.cli.consent.HOUR", 0.0)
    assert run_command("replay", saved).code == 2
    ran = run_command("replay", saved, "--yes")
    assert (ran.code, "this takes more than an hour" in ran.err) == (0, True)


def test_a_problem_of_one_s_own_is_trained_on_a_tape(world: World, tmp_path: Path) -> None:
    """Its file is named with `python`, or comes with the scenario that `--learning` names."""
    ran = ddsim.run(ddsim.load(world("")), ["diloco"], tape=True)
    ran.save(tmp_path / "saved")
    (tmp_path / "own.py").write_text(OWN)
    section = {"problem": "mean_of_normals", "inner": {"learning_rate": 0.2}}
    changes = {"python": [str(tmp_path / "own.py")], "learning": section}
    given = ddsim.replay(tmp_path / "saved", changes)
    assert curves(ddsim.replay(ran, changes)) == curves(given)
    file = world(
        "python: [own.py]\nlearning: {problem: mean_of_normals, inner: {learning_rate: 0.2}}"
    )
    done = run_command("replay", str(tmp_path / "saved"), "--learning", str(file), "--json")
    assert done.code == 0, done.err
    (item,) = json.loads(done.out)["results"]
    assert item["learning"] == json.loads(json.dumps(curves(given)["diloco"]))


@pytest.mark.slow
def test_tapes_come_back_from_the_disk_as_they_were(world: World, tmp_path: Path) -> None:
    """Every number of every event, in order; saving them where they stand keeps them."""
    ran = ddsim.run(ddsim.load(world("")), replications=2, tape=True)
    ran.save(tmp_path)
    loaded = ddsim.Results.load(tmp_path)
    loaded.save(tmp_path)
    for results in (loaded, ddsim.Results.load(tmp_path)):
        for before, after in zip(ran.results, results.results, strict=True):
            assert len(before.tapes) == 2
            assert list(before.tapes) == list(after.tapes)
            assert len(before.tapes[0].events) > 10
    assert "tapes" not in loaded.to_dict(beside=True)["results"][0]
    untaped = ddsim.run(ddsim.load(world("")), ["diloco"])
    untaped.save(tmp_path)
    assert not (tmp_path / TAPE).exists()


def test_a_tape_does_not_change_what_the_run_says(world: World) -> None:
    """Kept or not, the accounts are the same."""
    scenario = ddsim.load(world(""))
    kept, left = ddsim.run(scenario, tape=True), ddsim.run(scenario)
    for one, other in zip(kept.results, left.results, strict=True):
        assert one.accounts == pytest.approx(other.accounts, rel=1e-9, abs=1e-12)
        assert one.steps == pytest.approx(other.steps, rel=1e-9)


def test_a_run_without_a_tape_says_what_is_missing(world: World, tmp_path: Path) -> None:
    """Its merges were summed up; how to keep them."""
    ddsim.run(ddsim.load(world(LEARNING)), ["diloco"]).save(tmp_path / "saved")
    done = run_command("replay", str(tmp_path / "saved"))
    assert done.code == 2
    assert f"no tape ({TAPE})" in done.err
    assert "--tape" in done.err
    assert run_command("replay", str(tmp_path / "nothing")).code == 2


def test_a_method_without_a_tape_is_named(world: World) -> None:
    """One that keeps none, and one that was not run."""
    scenario = ddsim.load(world(""))
    ran = ddsim.run(scenario, ["diloco", "async_local_sgd"], tape=True)
    learning = {"learning": {"problem": "mlp"}}
    with pytest.raises(
        ReplayError, match="async_local_sgd kept no tape; there are tapes of diloco"
    ):
        ddsim.replay(ran, learning, ["async_local_sgd"])
    with pytest.raises(ReplayError, match="data_parallel was not run"):
        ddsim.replay(ran, learning, ["data_parallel"])
    assert list(curves(ddsim.replay(ran, learning))) == ["diloco"]


def test_what_the_schedule_depends_on_stands(world: World) -> None:
    """A change beside learning would be of a run that there was not."""
    ran = ddsim.run(ddsim.load(world(LEARNING)), ["diloco"], tape=True)
    for change in ("training.inner_steps=3", "seed=2", "duration=1 h"):
        with pytest.raises(ReplayError, match=f"{change.partition('=')[0]}: not for a replay"):
            ddsim.replay(ran, [change])


def test_nothing_to_train_is_an_error(world: World) -> None:
    """It says which section is missing."""
    ran = ddsim.run(ddsim.load(world("")), ["diloco"], tape=True)
    with pytest.raises(ReplayError, match="the run had no learning section"):
        ddsim.replay(ran)


@pytest.mark.parametrize("damage", ["cut", "short", "other"])
def test_a_damaged_tape_is_an_error_that_names_the_file(
    world: World, tmp_path: Path, damage: str
) -> None:
    """Half a packed file, events that are missing, something else altogether."""
    ddsim.run(ddsim.load(world(LEARNING)), ["diloco"], tape=True).save(tmp_path)
    file = tmp_path / TAPE
    whole = file.read_bytes()
    lines = gzip.decompress(whole).splitlines(keepends=True)
    file.write_bytes(
        {
            "cut": whole[: len(whole) // 2],
            "short": gzip.compress(b"".join(lines[:-3])),
            "other": gzip.compress(b"[1]\n"),
        }[damage]
    )
    done = run_command("replay", str(tmp_path))
    assert done.code == 2
    assert f"{file}: not the tape of a run, or only a part of it" in done.err
    assert "Traceback" not in done.err


def test_a_tape_for_nobody_is_refused(world: World) -> None:
    """`--tape` is a file in the folder of `--out`."""
    done = run_command("run", str(world("")), "--tape")
    assert done.code == 2
    assert "--out" in done.err
