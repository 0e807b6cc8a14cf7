"""Python of users' own: what goes wrong in it is said with its line, what it prints stays aside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ddsim

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
    "no_hardware": ({"start": "super().start()"}, 5, "its start returned nothing"),
    "no_outcome": ({"close": "return 7"}, 5, "its close returned something of type int"),
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
@pytest.mark.parametrize("code", ["sys.exit(1)", "raise BaseException('no')", "return 1 / 0"])
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


POLICY = """\
from ddsim.engine.policies import Policy, policy


@policy("own_policy")
class Own(Policy):
    summary = "leaves"

    def decide(self, sight):
        raise SystemExit("no more")
"""


def test_a_mistake_in_a_policy_is_said_with_its_line(tmp_path: Path) -> None:
    """It is called by the engine, under a method of ddsim's."""
    file = write(tmp_path, "decoupled_diloco")
    (tmp_path / "own.py").write_text(POLICY, encoding="utf-8")
    ran = ddsim("run", file, "--set", "training.policy=own_policy")
    assert ran.code == 2
    assert f"{tmp_path / 'own.py'}:9:1: " in ran.err
    assert "SystemExit: no more" in ran.err


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
