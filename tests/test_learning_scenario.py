"""The `learning` section: read, checked, run, and what comes out of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import ddsim as run_command

import ddsim
from ddsim import plot, sources
from ddsim.learning.setup import config_of, seeds_of
from ddsim.scenario import ScenarioError

TEXT = """\
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s, payload_bits: 4, inner_steps: 4, fragments: 4}
duration: 60 s
cluster: {chips: 64, chips_per_slice: 8, learners: 4}
learning:
  problem: mlp
  batch_size: 8
  options: {width: 16}
  evaluations: 10
"""
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a scenario and return its file."""

    def to_file(text: str) -> Path:
        file = tmp_path / "learning.yaml"
        file.write_text(text)
        return file

    return to_file


def test_a_learning_section_survives_being_written_out(write: Write) -> None:
    """`--resolved` loads to the same scenario; without a problem there is no section in it."""
    scenario = ddsim.load(write(TEXT))
    assert ddsim.load(write(scenario.resolved())) == scenario
    quiet = ddsim.load("four_regions_12b")
    assert "learning" not in quiet.resolved()


def test_options_of_a_problem_take_set(write: Write) -> None:
    """Each by its own path, numbers as numbers."""
    scenario = ddsim.load(write(TEXT), ["learning.options.width=1e2", "learning.seeds=3"])
    assert scenario.learning.options == {"width": 100}
    assert isinstance(scenario.learning.options["width"], int)
    assert seeds_of(scenario, 1) == [3, 4, 5]


def test_a_method_has_its_own_merge_unless_the_scenario_says(write: Write) -> None:
    """Radial-directional for decoupled_diloco; bits are the payload's."""
    scenario = ddsim.load(write(TEXT))
    rules = {
        name: config_of(scenario.for_method(name), name).outer.merge
        for name in ("diloco", "decoupled_diloco")
    }
    assert rules == {"diloco": "mean", "decoupled_diloco": "radial_directional"}
    assert config_of(scenario, "diloco").outer.bits == 4
    plain = scenario.with_({"learning.merge": "mean", "learning.quantization.bits": 2})
    assert config_of(plain, "decoupled_diloco").outer.merge == "mean"
    assert config_of(plain, "decoupled_diloco").outer.bits == 2


def test_tokens_and_examples_are_shared_by_chips(write: Write) -> None:
    """A unit of three times the chips sees three times the examples."""
    units = [{"name": "a", "chips": 48}, {"name": "b", "chips": 16}]
    changes = {"cluster": {"units": units, "chips_per_slice": 8}, "training.tokens_per_step": 80}
    config = config_of(ddsim.load(write(TEXT), changes), "diloco")
    assert config.batches == (12, 4)
    assert config.tokens == (60.0, 20.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("learning.problem=mlq", 'unknown problem "mlq"; did you mean "mlp"?'),
        ("learning.options.widht=3", 'unknown option "widht" of mlp; did you mean "width"?'),
    ],
)
def test_what_no_problem_knows_is_refused_when_loading(
    write: Write, change: str, message: str
) -> None:
    """With the nearest that there is."""
    with pytest.raises(ScenarioError, match=message.replace("?", r"\?")):
        ddsim.load(write(TEXT), [change])


OWN = '''\
import numpy as np
from ddsim.learning import Problem, problem


@problem("mean_of_numbers")
class MeanOfNumbers(Problem):
    """The mean of normal numbers around 3."""

    def __init__(self, rng, spread=1.0, broken=False):
        self.spread, self.broken = spread, broken

    def initial(self, rng):
        return {"mean": np.zeros(1)}

    def batch(self, rng, size, shard):
        return rng.normal(3.0, self.spread, size)

    def gradient(self, parameters, batch):
        error = parameters["mean"] - batch.mean()
        return float(0.5 * error[0] ** 2), {"mean": error[None] if self.broken else error}

    def evaluate(self, parameters):
        return float(0.5 * (parameters["mean"][0] - 3.0) ** 2)
'''


def own(write: Write, more: str = "") -> Path:
    """A scenario with a problem of its own."""
    file = write(TEXT.partition("learning:")[0] + "python: [own.py]\n" + more)
    (file.parent / "own.py").write_text(OWN)
    return file


def test_a_problem_of_one_s_own_is_trained_by_every_method(write: Write) -> None:
    """It stands in a file that the scenario names."""
    learning = "learning: {problem: mean_of_numbers, options: {spread: 0.5}, batch_size: 4}\n"
    changes = {"learning.inner.learning_rate": 0.2, "learning.outer.momentum": 0.0}
    results = ddsim.run(ddsim.load(own(write, learning), changes))
    for item in results.results:
        assert item.learning is not None
        assert item.learning["initial_loss"] == 4.5
        assert item.learning["final_loss"] < 1.0


def test_a_problem_that_fails_is_the_user_s_error(write: Write) -> None:
    """Exit code 2 and one line that names learner and step."""
    file = own(write, "learning: {problem: mean_of_numbers, options: {broken: true}}\n")
    done = run_command("run", str(file), "--method", "diloco")
    assert done.code == 2
    assert "learner 0 at step 1" in done.err
    assert 'for "mean", whose shape is (1,)' in done.err


def document(file: Path, *arguments: str) -> Any:
    """What `--json` prints."""
    done = run_command("run", str(file), "--json", *arguments)
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.mark.slow
def test_json_has_the_curve(write: Write) -> None:
    """[wall-clock, tokens, loss] from the first step to the end, for every method."""
    for item in document(write(TEXT))["results"]:
        learning = item["learning"]
        times, tokens, losses = zip(*learning["curve"], strict=True)
        assert list(times) == pytest.approx([6.0 * index for index in range(11)])
        assert tokens[-1] == pytest.approx(item["tokens"])
        assert losses[0] == learning["initial_loss"] > learning["final_loss"] == losses[-1]
        assert len(learning["steps"]) == len(learning["tokens_merged"]) == 11
        assert learning["diverged"] == []


@pytest.mark.slow
def test_several_seeds_have_an_interval(write: Write) -> None:
    """One loss for each seed and replication, their mean inside its interval."""
    file = write(TEXT)
    done = document(
        file,
        "--set",
        "learning.seeds=2",
        "--set",
        "duration=20 s",
        "--replications",
        "2",
        "--method",
        "diloco",
    )
    (item,) = done["results"]
    learning = item["learning"]
    assert len(set(learning["final_losses"])) == 4
    low, high = learning["final_loss_ci95"]
    assert low < learning["final_loss"] < high


def test_a_diverged_training_is_marked(write: Write) -> None:
    """No final loss; who diverged, and at which step."""
    file = write(TEXT)
    changes = ["learning.inner.optimizer=sgd", "learning.inner.learning_rate=1e30"]
    options = [part for change in changes for part in ("--set", change)]
    (item,) = document(file, "--method", "diloco", *options)["results"]
    assert item["learning"]["final_loss"] is None
    (line,) = item["learning"]["diverged"]
    assert "learner" in line
    assert "at step" in line
    printed = run_command("run", str(file), "--method", "diloco", *options)
    assert "diloco diverged, seed" in printed.out


@pytest.mark.slow
def test_a_saved_result_keeps_its_curves(write: Write, tmp_path: Path) -> None:
    """And has a figure of them."""
    results = ddsim.run(ddsim.load(write(TEXT)), methods=["diloco", "data_parallel"])
    results.save(tmp_path / "saved")
    loaded = ddsim.Results.load(tmp_path / "saved")
    for before, after in zip(results.results, loaded.results, strict=True):
        assert before.learning == after.learning
    frame = loaded.learning()
    assert list(frame.columns[:3]) == ["method", "wall_clock_s", "tokens"]
    assert len(frame) == 22
    for by in ("wall_clock", "tokens", "tokens_merged", "steps"):
        assert len(plot.learning(loaded, by=by).lines) == 2


def test_a_figure_of_nothing_trained_is_refused(write: Write) -> None:
    """With the reason."""
    results = ddsim.run(ddsim.load(write(TEXT.partition("learning:")[0])), methods=["diloco"])
    assert results.results[0].learning is None
    with pytest.raises(ValueError, match="nothing was trained"):
        plot.learning(results)


def test_the_problems_are_listed() -> None:
    """`ddsim list problems` names each."""
    done = run_command("list", "problems")
    assert "language_model" in done.out
    assert "noisy_quadratic" in done.out


def test_checkpoints_go_where_the_scenario_says(write: Write, tmp_path: Path) -> None:
    """A second run of the same takes its curves from there."""
    file = write(TEXT)
    scenario = ddsim.load(file, {"learning.checkpoints": str(tmp_path / "kept")})
    first = ddsim.run(scenario, methods=["diloco"])
    assert len(list((tmp_path / "kept").iterdir())) == 1
    again = ddsim.run(scenario, methods=["diloco"])
    assert first.results[0].learning == again.results[0].learning


def trainings(folder: Path) -> list[str]:
    """The states that are kept, by name."""
    return sorted(file.name for file in folder.glob("*.npz"))


def test_an_edited_problem_is_trained_anew(write: Write, tmp_path: Path) -> None:
    """Its file, and one that it takes something from, are part of what a kept training is."""
    file = own(write, "learning: {problem: mean_of_numbers, batch_size: 4}\n")
    aim = file.parent / "aim_of_numbers.py"
    aim.write_text("AIM = 3.0\n\n\ndef aim():\n    return AIM\n")
    begin = f"import sys\n\nsys.path.insert(0, {str(file.parent)!r})\n"
    code = begin + "from aim_of_numbers import aim\n" + OWN.replace("3.0", "aim()")
    kept = tmp_path / "kept"

    def final(code: str) -> float:
        (file.parent / "own.py").write_text(code)
        scenario = ddsim.load(file, {"learning.checkpoints": str(kept)})
        learning = ddsim.run(scenario, methods=["diloco"]).results[0].learning
        assert learning is not None
        return learning["final_loss"]

    first = final(code)
    assert final(code) == first
    assert len(trainings(kept)) == 1
    assert final(code.replace("0.5 * (", "0.25 * (")) == pytest.approx(first / 2)
    assert len(trainings(kept)) == 2
    aim.write_text("AIM = 3.0  # as before\n\n\ndef aim():\n    return AIM\n")
    assert final(code) == first
    assert len(trainings(kept)) == 3


@pytest.mark.slow
def test_other_sources_of_ddsim_train_anew(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same version, too."""
    scenario = ddsim.load(write(TEXT), {"learning.checkpoints": str(tmp_path / "kept")})
    ddsim.run(scenario, methods=["diloco"])
    monkeypatch.setattr(sources, "digest", lambda: "edited")
    ddsim.run(scenario, methods=["diloco"])
    assert len(trainings(tmp_path / "kept")) == 2


def test_the_documented_problem_is_trained(write: Write) -> None:
    """What docs/learning.md shows of a problem of one's own runs as it stands."""
    page = (Path(__file__).parent.parent / "docs" / "learning.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    section = page.rpartition("```yaml\n")[2].partition("```")[0]
    assert len(code.splitlines()) <= 30
    file = write(TEXT.partition("learning:")[0] + section)
    (file.parent / "line.py").write_text(code)
    for item in ddsim.run(ddsim.load(file)).results:
        assert item.learning is not None
        assert item.learning["final_loss"] < item.learning["initial_loss"] == 5.0
