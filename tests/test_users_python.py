"""Python of users' own: what goes wrong in it is said with its line, what it prints stays aside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ddsim

import ddsim as package

SCENARIO = """\
python: [own.py]
methods: [{method}]
duration: 10 min
model: {{parameters: 1e9, layers: 8}}
training: {{step_time: 1 s, inner_steps: 24}}
cluster: {{chips: 32, chips_per_slice: 4, learners: 2}}
"""
METHOD = """\
from ddsim import method
from ddsim.methods.diloco import DiLoCo


@method("{name}")
class Own(DiLoCo):
    summary = "DiLoCo with a mistake"

    def start(self):
        {start}

    def close(self, horizon):
        {close}
"""
RIGHT = {"start": "return super().start()", "close": "return super().close(horizon)"}
MISTAKES = {
    "an_error": ({"start": "return self.nothing"}, 10, "no attribute 'nothing'"),
    "an_exit": ({"start": "raise SystemExit(0)"}, 10, "SystemExit: 0"),
    "a_late_exit": ({"close": "import sys; sys.exit()"}, 13, "SystemExit"),
    "a_base": ({"start": "raise BaseException('all of it')"}, 10, "BaseException: all of it"),
}


def write(folder: Path, name: str, **parts: str) -> Path:
    """Write a method and a scenario that names it; return the scenario's file."""
    text = METHOD.format(name=name, **(RIGHT | parts))
    (folder / "own.py").write_text(text, encoding="utf-8")
    file = folder / "own.yaml"
    file.write_text(SCENARIO.format(method=name), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_a_method_is_said_with_its_line(tmp_path: Path, name: str) -> None:
    """Whatever it raises: the file, the line, the method, and exit code 2."""
    parts, line, said = MISTAKES[name]
    ran = ddsim("run", write(tmp_path, name, **parts), "--json")
    assert (ran.code, ran.out) == (2, "")
    assert f"{tmp_path / 'own.py'}:{line}:1: " in ran.err
    assert f"method {name} raised" in ran.err
    assert said in ran.err


RETURNED = {
    "no_hardware": ({"start": "super().start()"}, 9, "start() returned None"),
    "no_outcome": ({"close": "return 7"}, 12, "close() returned something of type int"),
}


@pytest.mark.parametrize("name", RETURNED)
def test_what_a_method_does_not_return_is_said_where_it_should(tmp_path: Path, name: str) -> None:
    """At the line of the function that returned it, with what it has to be."""
    parts, line, said = RETURNED[name]
    ran = ddsim("run", write(tmp_path, name, **parts))
    assert ran.code == 2
    assert f"{tmp_path / 'own.py'}:{line}:1: python: method {name}, {said}; ddsim." in ran.err


SETTINGS = """\
from ddsim import method
from ddsim.methods.diloco import DiLoCo


@method("{name}")
class Own(DiLoCo):
    summary = "DiLoCo set to what cannot be"

    def settings(self):
        return {given}
"""
POLICY = """\
from ddsim.engine.policies import Policy, policy


@policy("{name}")
class Own(Policy):
    summary = "decides what cannot be"

    def __init__(self, bits=4):
        self.bits = bits

    def decide(self, sight):
        return {given}
"""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("None", "None; ddsim.methods.local.arrays.Settings expected"),
        ("super().settings()._replace(inner_steps=0)", "inner_steps=0; a whole number, at least 1"),
        ("super().settings()._replace(barrier=None)", "barrier=nothing; true or false"),
        (
            "super().settings()._replace(quorum=3)",
            "quorum=3; a whole number, at least 1 and at most 2",
        ),
    ],
)
def test_settings_that_cannot_be_are_said_at_settings(
    tmp_path: Path, given: str, said: str
) -> None:
    """With the field, what it was set to and what it may be."""
    file = write(tmp_path, "own_settings")
    (tmp_path / "own.py").write_text(SETTINGS.format(name="own_settings", given=given))
    ran = ddsim("run", file)
    assert ran.code == 2
    where = f"{tmp_path / 'own.py'}:9:1: python: method own_settings"
    assert f"{where}, settings() returned {said}" in ran.err


@pytest.mark.parametrize(
    ("base", "learning", "only"),
    [
        ("decoupled_diloco", False, "4, as training.fragments says"),
        ("streaming_diloco", True, "4, as training.fragments says"),
        ("diloco", True, "1, as a trained model is handed in at a barrier"),
        ("streaming_diloco", False, None),
    ],
)
@pytest.mark.parametrize("fragments", [2, 6])
def test_fragments_are_the_scenarios_where_others_go_by_them(
    tmp_path: Path, base: str, learning: bool, only: str | None, fragments: int
) -> None:
    """The replicas of a syncer, and the model that is trained."""
    name = f"own_{base}_{fragments}_{learning}".lower()
    more = "learning: {problem: noisy_quadratic}\n" if learning else ""
    text = SCENARIO.replace("24}}", "24, fragments: 4}}").format(method=name) + more
    (tmp_path / "own.yaml").write_text(text)
    given = f"super().settings()._replace(fragments={fragments})"
    code = SETTINGS.replace(
        "ddsim.methods.diloco import DiLoCo", "ddsim.methods.registry import get"
    )
    code = code.replace("DiLoCo)", f'get("{base}"))').format(name=name, given=given)
    (tmp_path / "own.py").write_text(code)
    ran = ddsim("run", tmp_path / "own.yaml")
    assert ran.code == (2 if only else 0), ran.err
    if only:
        where = f"{tmp_path / 'own.py'}:9:1: python: method {name}, settings() returned"
        assert f"{where} fragments={fragments}; {only}" in ran.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("None", "None; ddsim.engine.policies.Settings expected"),
        ("{}", "something of type dict; ddsim.engine.policies.Settings expected"),
        (
            "sight.current._replace(inner_steps=12.5)",
            "inner_steps=12.5; a whole number, at least 1",
        ),
        (
            "sight.current._replace(payload_bits=self.bits)",
            "payload_bits='two'; a number, above 0 and at most 64",
        ),
        (
            "sight.current._replace(quorum=0, overlap_steps=-1)",
            "overlap_steps=-1; a whole number, at least 0",
        ),
    ],
)
def test_what_a_policy_cannot_decide_is_said_at_decide(
    tmp_path: Path, given: str, said: str
) -> None:
    """Whatever it is: the policy, its file and line, what was found and what is allowed."""
    file = write(tmp_path, "decoupled_diloco")
    (tmp_path / "own.py").write_text(POLICY.format(name="cannot", given=given))
    options = ("--set", "training.policy=cannot", "--set", "training.policy_options.bits=two")
    ran = ddsim("run", file, *options)
    assert ran.code == 2
    where = f"{tmp_path / 'own.py'}:11:1: python: policy cannot"
    assert f"{where}, decide() returned {said}" in ran.err


def test_what_a_policy_decides_may_be_numpys(tmp_path: Path) -> None:
    """Whole numbers and fractions of numpy's are numbers."""
    file = write(tmp_path, "decoupled_diloco")
    given = "sight.scenario._replace(inner_steps=np.int64(12), payload_bits=np.float32(4))"
    text = "import numpy as np\n" + POLICY.format(name="numpys", given=given)
    (tmp_path / "own.py").write_text(text)
    results = package.run(package.load(file, {"training.policy": "numpys"}))
    decided = results["decoupled_diloco"].extra["policy"]["log"][0]
    assert (decided["inner_steps"], decided["payload_bits"]) == (12, 4.0)


def test_options_that_a_policy_refuses_are_named(tmp_path: Path) -> None:
    """A policy of ddsim's has no line of a user's to point to."""
    options = ("training.policy=bandwidth_following", "training.policy_options.load=two")
    sets = [part for option in options for part in ("--set", option)]
    file = write(tmp_path, "decoupled_diloco")
    (tmp_path / "own.py").write_text("")
    ran = ddsim("run", file, *sets)
    assert ran.code == 2
    assert 'training.policy_options: policy bandwidth_following: load: "two"; ' in ran.err


def test_what_the_engine_misses_in_a_method_is_laid_to_its_class(tmp_path: Path) -> None:
    """No line of the user's is at fault where the engine calls what is not there."""
    code = """
from ddsim import method
from ddsim.methods.registry import Method

@method("each_alone")
class EachAlone(Method):
    summary = "nobody waits"
"""
    file = write(tmp_path, "each_alone")
    (tmp_path / "own.py").write_text(code, encoding="utf-8")
    ran = ddsim("run", file)
    assert ran.code == 2
    assert f"{tmp_path / 'own.py'}:5:1: " in ran.err
    assert "EachAlone" in ran.err


@pytest.mark.parametrize("form", ["own.yaml", "./own.yaml", "../{}/own.yaml", "{}/own.yaml"])
@pytest.mark.parametrize("code", ["import sys\nsys.exit(0)\n", "\nraise BaseException('no')\n"])
def test_a_file_that_leaves_is_said_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, code: str
) -> None:
    """Whatever the form of the scenario's path."""
    write(tmp_path, "any")
    (tmp_path / "own.py").write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    given = form.format(tmp_path.name) if form.startswith("..") else form.format(tmp_path)
    ran = ddsim("run", given)
    assert ran.code == 2
    assert f"{tmp_path / 'own.py'}:2:1: " in ran.err


PROBLEM = """\
import sys

from ddsim.learning import problem
from ddsim.learning.problem import get


@problem("{name}")
class Own(get("mlp")):
    def {what}(self, *given):
        {code}
"""
LEARNING = "learning: {{problem: {name}, batch_size: 8, evaluations: 4}}\n"


@pytest.mark.parametrize("what", ["initial", "batch", "gradients", "evaluate"])
@pytest.mark.parametrize(
    "code",
    [
        "sys.exit(1)",
        pytest.param("raise BaseException('no')", marks=pytest.mark.slow),
        pytest.param("return 1 / 0", marks=pytest.mark.slow),
    ],
)
def test_a_mistake_in_a_problem_is_said_with_its_line(tmp_path: Path, what: str, code: str) -> None:
    """In whichever of its methods, and whatever it raises."""
    name = f"own_{what}"
    text = PROBLEM.format(name=name, what=what, code=code)
    (tmp_path / "own.py").write_text(text, encoding="utf-8")
    file = tmp_path / "own.yaml"
    scenario = SCENARIO.format(method="diloco").replace("10 min", "60 s")
    file.write_text(scenario + LEARNING.format(name=name), encoding="utf-8")
    ran = ddsim("run", file, "--json")
    assert (ran.code, ran.out) == (2, "")
    assert f"problem {name}" in ran.err
    assert f"({tmp_path / 'own.py'}:10)" in ran.err


def test_a_mistake_in_a_policy_is_said_with_its_line(tmp_path: Path) -> None:
    """It is called by the engine, under a method of ddsim's."""
    file = write(tmp_path, "decoupled_diloco")
    leaves = POLICY.format(name="own_policy", given="None").replace(
        "return None", "raise SystemExit"
    )
    (tmp_path / "own.py").write_text(leaves, encoding="utf-8")
    ran = ddsim("run", file, "--set", "training.policy=own_policy")
    assert ran.code == 2
    assert f"{tmp_path / 'own.py'}:12:1: python: policy own_policy raised SystemExit; " in ran.err


def test_an_interrupt_in_a_method_stays_one(tmp_path: Path) -> None:
    """Ctrl-C is no mistake of the method that runs when it comes."""
    ran = ddsim("run", write(tmp_path, "interrupted", start="raise KeyboardInterrupt"))
    assert (ran.code, ran.err.splitlines()[-1]) == (130, "interrupted")


SAYS = {"start": "print('HELLO'); return super().start()"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("run",),
        ("run", "--replications", "2", "--jobs", "2"),
        ("sweep", "--replications", "2", "--jobs", "1"),
        ("sweep", "--replications", "2", "--jobs", "2"),
        ("plan", "--vary", "training.inner_steps=12,24", "--replications", "2", "--jobs", "1"),
    ],
    ids=" ".join,
)
def test_what_users_print_is_not_in_the_document(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Neither from the file itself, nor from a method, in whichever process."""
    file = write(tmp_path, "talks", **SAYS)
    code = tmp_path / "own.py"
    code.write_text(code.read_text() + "print('LOADED')\n", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "ddsim", command[0], str(file), *command[1:], "--json"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert ran.returncode == 0, ran.stderr
    json.loads(ran.stdout)
    assert "HELLO" in ran.stderr
    assert "LOADED" in ran.stderr
