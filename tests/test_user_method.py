"""A way of training that a user writes in a file of theirs runs beside the built-in ones."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ddsim as command

import ddsim
from ddsim.scenario import ScenarioError

SCENARIO = """\
python: [patient.py]
methods: [patient, diloco, data_parallel]
duration: 30 min
model: {parameters: 1e9, layers: 8}
training: {step_time: 1 s, payload_bits: 16, inner_steps: 24}
cluster: {chips: 32, chips_per_slice: 4, learners: 2}
network: {bandwidth: 2 Gbit/s, latency: 10 ms}
failures: {chip_mtbi: 10 h, repair: 2 min}
"""
CODE = '''\
"""DiLoCo whose rounds are as many times longer as its class says."""

from ddsim import method
from ddsim.methods.diloco import DiLoCo


@method("patient")
class Patient(DiLoCo):
    summary = "DiLoCo with rounds of three times as many steps"

    patience = 3

    def settings(self):
        said = super().settings()
        return said._replace(inner_steps=self.patience * said.inner_steps)
'''


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A scenario that names a method of the file beside it."""
    (tmp_path / "patient.py").write_text(CODE, encoding="utf-8")
    file = tmp_path / "own.yaml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def test_it_runs_beside_the_others(path: Path) -> None:
    """It stands behind the built-in methods, keeps its accounts, and does what it was written for:
    fewer synchronizations, so that less crosses the network and more is trained.
    """
    results = ddsim.run(ddsim.load(path))
    assert results.methods == ("data_parallel", "diloco", "patient")
    diloco, patient = results["diloco"], results["patient"]
    assert sum(patient.accounts.values()) == pytest.approx(1.0, abs=1e-9)
    assert patient.failures == diloco.failures > 0
    assert 0 < len(patient.merges) < len(diloco.merges)
    assert patient.wan["total_bytes"] < diloco.wan["total_bytes"]
    assert patient.tokens > diloco.tokens


def test_it_changes_no_others_numbers(path: Path) -> None:
    """The built-in methods do what they do without it."""
    scenario = ddsim.load(path)
    beside, alone = ddsim.run(scenario), ddsim.run(scenario, ["diloco"])
    assert beside["diloco"].accounts == alone["diloco"].accounts
    assert beside["diloco"].tokens == alone["diloco"].tokens


def test_it_takes_settings_of_its_own(path: Path) -> None:
    """As for any method, a scenario can set values for it alone."""
    settings = {"patient": {"training.payload_bits": 4}}
    results = ddsim.run(ddsim.load(path, {"methods": [settings, "diloco"]}))
    plain = ddsim.run(ddsim.load(path))
    assert results["patient"].wan["total_bytes"] < plain["patient"].wan["total_bytes"]
    assert results["diloco"].accounts == plain["diloco"].accounts


def test_the_command_line_runs_it(path: Path) -> None:
    """By name, with `--method`, and from whatever folder."""
    ran = command("run", path, "--method", "patient", "--method", "data_parallel", "--json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert [item["method"] for item in document["results"]] == ["data_parallel", "patient"]


def test_an_unknown_method_is_said_with_those_that_there_are(path: Path) -> None:
    """A near miss names the user's method too."""
    ran = command("run", path, "--set", "methods=[patent]")
    assert ran.code == 2
    assert 'unknown method "patent"' in ran.err
    assert "patient" in ran.err


WORKERS = """\
import multiprocessing, sys
import ddsim

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    results = ddsim.run(ddsim.load(sys.argv[1]), replications=2, jobs=2)
    print(results.to_json())
"""


@pytest.mark.slow
def test_worker_processes_know_it_however_they_start(path: Path, tmp_path: Path) -> None:
    """Workers that begin with a fresh interpreter find the user's file as well."""
    script = tmp_path / "workers.py"
    script.write_text(WORKERS, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, str(script), str(path)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)["results"]
    expected = ddsim.run(ddsim.load(path), replications=2)
    assert [item["goodput"] for item in found] == [item.goodput for item in expected.results]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "class Patient",
            "clas Patient",
            "python: SyntaxError: invalid syntax; a file that runs to its end",
        ),
        (
            "class Patient(DiLoCo):",
            "class Patient:",
            "python: TypeError: method 'patient': Patient derives from no",
        ),
    ],
)
def test_a_file_that_registers_no_method_is_said_with_its_line(
    path: Path, old: str, new: str, said: str
) -> None:
    """What is wrong, once, whether or not it is Python."""
    (path.parent / "patient.py").write_text(CODE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ScenarioError) as wrong:
        ddsim.load(path)
    assert re.search(rf"patient\.py:\d+:1: {re.escape(said)}", str(wrong.value))


def test_built_in_names_are_taken(tmp_path: Path) -> None:
    """A user's class cannot take the place of a built-in method unnoticed."""
    (tmp_path / "own.py").write_text(CODE.replace('"patient"', '"diloco"'), encoding="utf-8")
    file = tmp_path / "own.yaml"
    file.write_text(SCENARIO.replace("patient", "own"), encoding="utf-8")
    with pytest.raises(ScenarioError, match="already registered"):
        ddsim.load(file)


ALONE = """\
from ddsim import method
from ddsim.methods.stepping import SteppingMethod


class Own(SteppingMethod):
    def start(self):
        hardware = self.make_learners(quorum=1)
        for learner in self.learners:
            self.leg_over(learner)
        return hardware

    def ready(self, learner):
        self.leg_over(learner)

    def close(self, horizon):
        self.close_learners(horizon)
        steps = sum(learner.steps for learner in self.learners)
        return self.outcome(tokens_merged=0.0, participation=None, merged=0.0, overwritten=steps)


@method("in_legs")
class InLegs(Own):
    summary = "each takes legs of 100 steps and says nothing of merges"

    def leg_over(self, learner):
        self.take_steps(learner, 100)


@method("overwrites")
class Overwrites(InLegs):
    summary = "says that all is overwritten"

    def merged_so_far(self):
        return 0.0, 1.0


@method("idle")
class Idle(Own):
    summary = "does nothing, and does not say so"

    def leg_over(self, learner):
        pass


@method("no_step")
class NoStep(Own):
    summary = "takes legs of no step"

    def leg_over(self, learner):
        self.take_steps(learner, 0)


@method("endless")
class Endless(Own):
    summary = "takes one leg of all steps"

    def leg_over(self, learner):
        self.take_steps(learner, 10**30)
"""


def run_own(folder: Path, name: str, **settings: object) -> ddsim.results.MethodResult:
    """One of these methods, of two units, as long as it goes."""
    (folder / "patient.py").write_text(ALONE, encoding="utf-8")
    file = folder / "own.yaml"
    file.write_text(SCENARIO.replace("methods: [patient", f"methods: [{name}"), encoding="utf-8")
    given: dict[str, object] = {"duration": "never", "failures.chip_mtbi": "never"}
    given |= {path.replace("__", "."): value for path, value in settings.items()}
    return ddsim.run(ddsim.load(file, given), [name])[name]


@pytest.mark.parametrize("name", ["in_legs", "endless"])
def test_a_goal_of_tokens_ends_a_run_of_legs_of_any_length(tmp_path: Path, name: str) -> None:
    """At the step that comes to it, though the method knows of no goal."""
    result = run_own(tmp_path, name, training__tokens=250, training__tokens_per_step=1)
    assert result.goal == "reached"
    assert (result.tokens, result.wall_clock_s) == (250, 250)


def test_a_goal_of_loss_counts_what_the_method_says_is_merged(tmp_path: Path) -> None:
    """What is overwritten counts for half."""
    loss = {"quality__law": "chinchilla_besiroglu", "training__loss": 4.0}
    wanted = loss | {"training__tokens_per_step": 1e6}
    half, result = (run_own(tmp_path, name, **wanted) for name in ("in_legs", "overwrites"))
    assert result.goal == "reached"
    assert result.tokens == pytest.approx(2 * half.tokens, rel=0.01)


def test_one_that_does_nothing_waits(tmp_path: Path) -> None:
    """That is no productive time, so that the run is ended after a year of it."""
    result = run_own(tmp_path, "idle", training__tokens=250)
    assert isinstance(result.goal, dict)
    assert "waits for others who do not come" in result.goal["unreachable"]
    assert result.goodput == 0.0


def test_a_leg_of_no_step_is_refused(tmp_path: Path) -> None:
    """In words, with the method that asked for it."""
    with pytest.raises(ScenarioError, match=r"no_step raised ValueError: take_steps with a count"):
        run_own(tmp_path, "no_step", duration="1 min")


STILL = """\
from ddsim import method
from ddsim.engine.clock import Rank
from ddsim.methods.{module} import {base}


@method("patient")
class Patient({base}):
    summary = "Comes again at once, for ever"

    def start(self):
        self.run.clock.after(5 * 10**9, Rank.NEXT, self.again)
        return super().start()

    def again(self, wake):
        self.run.clock.after(0, Rank.NEXT, self.again)
"""


@pytest.mark.parametrize("base", ["DataParallel", "DiLoCo"])
def test_one_that_stands_still_is_told_so(
    path: Path, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which method, at which simulated time, and where it is written."""
    monkeypatch.setattr("ddsim.engine.clock.STILL", 1000)
    module = {"DataParallel": "data_parallel", "DiLoCo": "diloco"}[base]
    (path.parent / "patient.py").write_text(STILL.format(module=module, base=base))
    ran = command("run", path, "--method", "patient")
    assert ran.code == 2
    assert "method patient raised StandstillError: 1,000 events at 5 s of simulated" in ran.err
    assert "patient.py" in ran.err
