"""What is read from disk runs nothing, but for the Python that a scenario names and a run says."""

from __future__ import annotations

import ast
import gzip
import io
import json
import pickle
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import Ran, ddsim

import ddsim as package
from ddsim.learning.packing import pack, unpack
from ddsim.results import files

PACKAGE = Path(package.__file__).parent
READERS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
CALLS = {"eval", "exec", "read_pickle", "unsafe_load", "full_load", "__import__"}
SCENARIO = """\
name: shared
methods: [diloco]
duration: 40 s
model: {parameters: 1e9, layers: 8}
training: {step_time: 1 s, inner_steps: 8}
cluster: {chips: 32, chips_per_slice: 4, learners: 2}
learning: {problem: mlp, batch_size: 8, evaluations: 4, checkpoints: %s}
"""


def readers(tree: ast.Module) -> Iterator[str]:
    """What in a module could run what it reads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names if item.name in READERS)
        elif isinstance(node, ast.ImportFrom) and node.module in READERS:
            yield str(node.module)
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in CALLS:
                yield name
            for item in node.keywords:
                value = getattr(item.value, "value", None)
                if item.arg == "allow_pickle" and value is not False:
                    yield "allow_pickle"
                if item.arg == "typ" and value not in ("safe", "rt"):
                    yield "a YAML loader that makes objects"


@pytest.mark.slow
def test_no_module_reads_what_could_run() -> None:
    """No pickle, no code from text, no YAML that makes objects."""
    found = [
        f"{path.relative_to(PACKAGE)}: {what}"
        for path in PACKAGE.rglob("*.py")
        for what in readers(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    ["import pickle", "from pickle import loads", "np.load(f, allow_pickle=True)", "eval(x)"],
)
def test_the_search_finds_what_it_looks_for(code: str) -> None:
    """So that its silence says something."""
    assert list(readers(ast.parse(code)))


class Trap:
    """Whoever unpickles it leaves a mark."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.mark,))


def traps(mark: Path) -> dict[str, bytes]:
    """Contents that run when what could run them reads them."""
    pickled = pickle.dumps(Trap(mark))
    objects, archive = io.BytesIO(), io.BytesIO()
    array = np.array([Trap(mark)], dtype=object)
    np.save(objects, array, allow_pickle=True)
    np.savez(archive, tree=array)
    tag = f"!!python/object/apply:os.mknod [{mark}]\n"
    return {
        "pickle": pickled,
        "packed": gzip.compress(pickled),
        "npy": objects.getvalue(),
        "npz": archive.getvalue(),
        "yaml": tag.encode(),
        "json": json.dumps({"__reduce__": ["os.system", f"touch {mark}"]}).encode(),
    }


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved result with its training's state inside the folder."""
    folder = tmp_path_factory.mktemp("shared")
    file = folder / "shared.yaml"
    file.write_text(SCENARIO % (folder / "out" / "state"), encoding="utf-8")
    ran = ddsim("run", file, "--out", folder / "out")
    assert ran.code == 0, ran.err
    assert list((folder / "out" / "state").iterdir())
    return folder / "out"


@contextmanager
def hostile(folder: Path, contents: dict[str, bytes]) -> Iterator[None]:
    """Give files of a folder other contents for a while."""
    kept = {name: path.read_bytes() for name in contents if (path := folder / name).exists()}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    try:
        yield
    finally:
        for name in contents:
            (folder / name).unlink()
            if name in kept:
                (folder / name).write_bytes(kept[name])


def commands(out: Path) -> list[list[object]]:
    """Every command that takes a saved result or its scenario."""
    return [
        ["run", out / "scenario.yaml"],
        ["replay", out],
        ["plot", out],
        ["report", out],
        ["compare", out, out],
        ["check", out / "scenario.yaml"],
    ]


QUICK = (files.TAPE,)
KINDS = {".json": "json", ".yaml": "yaml", ".csv": "pickle", ".gz": "packed"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow)
        for name in (*files.ALL, "all of them")
        if name != files.TRACE
    ],
)
def test_a_hostile_result_runs_nothing(shared: Path, tmp_path: Path, name: str) -> None:
    """With a file that its sender made to run, or with all: whoever looks at it is safe."""
    mark = tmp_path / "it_ran"
    made = traps(mark)
    chosen = files.ALL if name == "all of them" else [name]
    with hostile(shared, {file: made[KINDS[Path(file).suffix]] for file in chosen}):
        for command in commands(shared):
            ran = ddsim(*command)
            assert ran.code in (0, 2), (command[0], ran.err)
            assert not mark.exists(), command[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.slow if kind != "npz" else [])
        for kind in traps(Path("mark"))
    ],
)
def test_a_hostile_state_of_a_training_runs_nothing(
    shared: Path, tmp_path: Path, kind: str
) -> None:
    """It lies where a run looks for it, under the name of this version and of earlier ones."""
    mark = tmp_path / "it_ran"
    (file,) = (shared / "state").glob("*.npz")
    trap = traps(mark)[kind]
    names = [f"state/{file.name}", f"state/{file.stem}.pickle"]
    with hostile(shared, dict.fromkeys(names, trap)):
        for command in commands(shared)[:2]:
            ran = ddsim(*command)
            assert ran.code == 0, ran.err
            assert not mark.exists(), command[0]


@pytest.mark.slow
def test_a_state_that_is_not_this_trainings_is_refused_by_name(shared: Path) -> None:
    """One that can be read and does not fit is nobody's to go on with."""
    (file,) = (shared / "state").glob("*.npz")
    kept = file.read_bytes()
    for name, value in (("place", -1), ("tally", {}), ("place", "1")):
        file.write_bytes(pack(unpack(kept) | {name: value}))
        ran = ddsim("run", shared / "scenario.yaml")
        file.write_bytes(kept)
        assert ran.code == 2
        assert str(file) in ran.err


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"no archive", pickle.dumps({"place": 0})])
def test_what_is_no_state_is_none(content: bytes) -> None:
    """Such a training begins anew."""
    with pytest.raises(ValueError, match="not a training's state"):
        unpack(content)


OWN = """\
from pathlib import Path

from ddsim import method
from ddsim.methods.diloco import DiLoCo

Path(__file__).with_name("it_ran").touch()


@method("own_and_read")
class Own(DiLoCo):
    summary = "DiLoCo by another name"
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A scenario with a method in a file of its own, which leaves a mark when it runs."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "own.py").write_text(OWN, encoding="utf-8")
    text = SCENARIO.partition("learning")[0].replace("[diloco]", "[own_and_read]")
    (folder / "own.yaml").write_text(text + "python: [own.py]\n", encoding="utf-8")
    return folder / "own.yaml"


def check(file: Path, *more: object) -> Ran:
    """Check a scenario, and see that none of its Python ran."""
    ran = ddsim("check", file, *more)
    assert not file.with_name("it_ran").exists()
    return ran


def test_check_reads_python_and_runs_none(own: Path) -> None:
    """It knows what a file registers, and says that it did not run it."""
    ran = check(own, "--resolved")
    assert ran.code == 0, ran.err
    assert "own_and_read" in ran.out
    assert f"not run, only read: {own.with_name('own.py')}" in ran.err


def test_check_refuses_a_method_that_no_file_registers(own: Path) -> None:
    """With the near miss that the user's file has."""
    ran = check(own, "--set", "methods=[own_and_reed]")
    assert ran.code == 2
    assert 'did you mean "own_and_read"?' in ran.err


def test_check_takes_a_name_that_only_running_tells(own: Path) -> None:
    """A method registered under a computed name may be there."""
    code = own.with_name("own.py")
    code.write_text(OWN.replace('("own_and_read")', '("own_and_" + "read")'), encoding="utf-8")
    assert check(own).code == 0


@pytest.mark.parametrize(
    ("code", "said"), [("x = (\n", "own.py:1:1"), ("\0", "own.py"), ("\xff", "own.py")]
)
def test_check_names_a_file_that_is_not_python(own: Path, code: str, said: str) -> None:
    """With the line, where there is one."""
    own.with_name("own.py").write_bytes(code.encode("latin-1"))
    ran = check(own)
    assert ran.code == 2
    assert said in ran.err


READ = """\
from ddsim.engine.policies import Policy, policy
from ddsim.learning import problem, quantizer
from ddsim.world.distributions import Distribution, Parameter
from ddsim.world.distributions.registry import register as known_as

NAME = "own_problem"


@policy("own_policy")
class Own(Policy): ...


@problem(NAME)
class Other: ...


@quantizer("own_quantizer")
class Levels: ...


@known_as("own_times")
class Times(Distribution):
    parameters = (Parameter("after", "time", "when"), Parameter("odds", "number", "how"))
    forms = (("after", "odds"),)
"""


def test_check_knows_problems_policies_and_distributions_of_a_file(own: Path) -> None:
    """As it knows methods."""
    own.with_name("own.py").write_text(READ, encoding="utf-8")
    settings = (
        "methods=[decoupled_diloco]",
        "training.policy=own_policy",
        "training.policy_options={pace: 3}",
        "learning.problem=own_problem",
        "learning.options={width: 3}",
        "learning.quantization.quantizer=own_quantizer",
        "failures.chip_mtbi=1 yr",
        "failures.repair={own_times: {after: 20 min, odds: 3}}",
    )
    ran = check(own, *(part for text in settings for part in ("--set", text)))
    assert ran.code == 0, ran.err
    assert check(own, "--set", "failures.repair={own_times: {when: 3}}").code == 2


def test_check_finds_names_that_no_file_registers(own: Path) -> None:
    """What a file registers excuses no other name, whose options are judged as ever."""
    own.with_name("own.py").write_text(READ, encoding="utf-8")
    for text in ("training.policy=own_polic", "learning.problem=own_proble"):
        ran = check(own, "--set", "methods=[decoupled_diloco]", "--set", text)
        assert (ran.code, text.partition("=")[2] in ran.err) == (2, True)
    wrong = ("methods=[decoupled_diloco]", "learning.problem=mlp", "learning.options={pace: 3}")
    ran = check(own, *(part for text in wrong for part in ("--set", text)))
    assert (ran.code, "unknown option" in ran.err) == (2, True)


@pytest.mark.slow
def test_showing_a_result_runs_no_python(own: Path) -> None:
    """Neither figures, nor a report, nor a comparison need what its scenario names."""
    out = own.parent / "out"
    text = own.read_text().replace("[own.py]", f"[{own.with_name('own.py')}]")
    own.write_text(text, encoding="utf-8")
    assert ddsim("run", own, "--out", out).code == 0
    mark = own.with_name("it_ran")
    mark.unlink()
    for command in (
        ["plot", out],
        ["report", out],
        ["compare", out, out],
        ["check", out / "scenario.yaml"],
    ):
        ran = ddsim(*command)
        assert ran.code == 0, ran.err
        assert not mark.exists(), command[0]


def test_what_runs_python_says_which(own: Path, tmp_path: Path) -> None:
    """By its path; and one that lies elsewhere as such."""
    ran = ddsim("run", own)
    assert ran.code == 0, ran.err
    code = own.with_name("own.py")
    assert f"runs Python of the scenario: {code}\n" in ran.err
    elsewhere = Path(shutil.move(code, tmp_path / "elsewhere.py"))
    code.symlink_to(elsewhere)
    ran = ddsim("run", own)
    assert f"outside the scenario's folder ({elsewhere})" in ran.err


def test_a_trace_outside_the_folder_is_named(own: Path, tmp_path: Path) -> None:
    """A scenario of a stranger's may name any file; whoever loads it hears of it."""
    secret = tmp_path / "secret.csv"
    secret.write_text("0,add,i-1\n0,add,i-2\n60000,remove,i-1\n", encoding="utf-8")
    own.write_text(own.read_text() + "trace: {file: ../secret.csv}\n", encoding="utf-8")
    for command in ("check", "run"):
        assert f"outside the scenario's folder: {secret}\n" in ddsim(command, own).err


def test_list_reads_no_file_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is called as a shipped scenario is not mistaken for it."""
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "convergence").write_text("python: [own.py]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert ddsim("list", "scenarios").code == 0
    assert not (tmp_path / "it_ran").exists()
