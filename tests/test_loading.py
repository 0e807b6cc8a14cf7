"""Loading a scenario with a user's own Python files."""

from pathlib import Path

import pytest
from command_line import ddsim

from ddsim.loading import load, registered_families, run_files
from ddsim.methods import names
from ddsim.scenario import ScenarioError
from ddsim.scenario.families import FAMILIES
from ddsim.world.distributions.registry import DISTRIBUTIONS

METHOD = """
from ddsim import method
from ddsim.methods import get

@method("users_own_for_loading")
class Own(get("diloco")):
    summary = "diloco by another name"
"""


def starter(folder: Path, tail: str) -> Path:
    """The starter scenario with something added."""
    path = folder / "own.yaml"
    assert ddsim("init", path).code == 0
    path.write_text(path.read_text() + tail)
    return path


def test_a_users_method_can_be_named(tmp_path: Path) -> None:
    """A scenario can name a method that a file listed under `python` registers."""
    (tmp_path / "own.py").write_text(METHOD)
    path = starter(tmp_path, "python: [own.py]\n")
    scenario = load(path, {"methods": ["users_own_for_loading"]})
    assert [spec.name for spec in scenario.methods] == ["users_own_for_loading"]
    assert "users_own_for_loading" in names()


def test_loading_again_registers_again(tmp_path: Path) -> None:
    """The same file may be run twice, as a notebook does."""
    (tmp_path / "own.py").write_text(METHOD)
    run_files([tmp_path / "own.py"])
    run_files([tmp_path / "own.py"])
    assert names().count("users_own_for_loading") == 1


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("x = 1\nraise ValueError('no')\n", 2, "ValueError: no"),
        ("x = (\n", 1, "SyntaxError"),
        ("import nothing_of_this_name\n", 1, "ModuleNotFoundError"),
    ],
)
def test_a_file_that_fails_is_the_users_input(
    tmp_path: Path, text: str, line: int, found: str
) -> None:
    """The message has the file and the line that failed."""
    file = tmp_path / "own.py"
    file.write_text(text)
    with pytest.raises(ScenarioError, match=found) as failure:
        run_files([file])
    (problem,) = failure.value.problems
    assert (problem.file, problem.line) == (str(file), line)


def test_files_of_one_name_do_not_replace_each_other(tmp_path: Path) -> None:
    """Two files called alike are two modules."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own.py").write_text(
            f"import pathlib\npathlib.Path(__file__).with_name('ran').write_text({folder!r})\n"
        )
    run_files([tmp_path / "a" / "own.py", tmp_path / "b" / "own.py"])
    assert (tmp_path / "a" / "ran").read_text() == "a"
    assert (tmp_path / "b" / "ran").read_text() == "b"


def test_unknown_names_are_said_beside_all_else_that_is_wrong(tmp_path: Path) -> None:
    """A policy, a problem and a plain mistake make one list, in the order of the file."""
    wrong = "learning: {problem: mlq}\nprices: {chip_hour: 2}\n"
    path = starter(tmp_path, wrong)
    with pytest.raises(ScenarioError) as failure:
        load(path, {"training.policy": "fixd"})
    problem, price, policy = map(str, failure.value.problems)
    assert 'learning.problem: unknown problem "mlq"; did you mean "mlp"?' in problem
    assert "prices.chip_hour: 2, a number without a unit" in price
    assert 'training.policy: unknown policy "fixd"; did you mean "fixed"?' in policy


def test_a_policy_that_a_study_varies_has_to_be_there(tmp_path: Path) -> None:
    """Its options may vary with it, and are judged where the two meet."""
    options = "  training.policy_options: [{load: 0.8}]\n"
    names = "  training.policy: [fixed, bandwidth_folowing]\n"
    with pytest.raises(ScenarioError) as failure:
        load(starter(tmp_path, f"study:\n{names}{options}"))
    (problem,) = failure.value.problems
    assert problem.path == "study.training.policy"
    assert 'did you mean "bandwidth_following"?' in problem.allowed


def test_what_is_not_python_is_said(tmp_path: Path) -> None:
    """A file that is not Python's is named."""
    (tmp_path / "own.txt").write_text("x")
    with pytest.raises(ScenarioError, match=r"own\.txt: .*not a Python file"):
        run_files([tmp_path / "own.txt"])


def test_scenarios_can_spell_what_is_registered() -> None:
    """The parameters that scenarios know are those that the distributions take."""
    registered = registered_families()
    assert {name: registered[name] for name in FAMILIES} == FAMILIES


LISTS = """
from dataclasses import dataclass
from ddsim.world.distributions import Empirical, Parameter, register

@register("steps_for_loading")
@dataclass(frozen=True)
class Steps(Empirical):
    parameters = (Parameter("values", "times", "observed times"),)
"""


def test_a_users_distribution_may_take_a_list_of_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Like the shipped ones: each with its unit, and written out again."""
    monkeypatch.setattr(DISTRIBUTIONS, "_things", dict(DISTRIBUTIONS._things))
    (tmp_path / "own.py").write_text(LISTS)
    path = starter(tmp_path, "python: [own.py]\n")
    own = {"failures.repair": {"steps_for_loading": {"values": ["1 min", "1 h"]}}}
    scenario = load(path, own)
    assert scenario.failures.repair.params == {"values": (60.0, 3600.0)}
    assert "values:\n        - 1 min\n" in scenario.resolved()
