"""What is installed, and what importing it costs."""

import os
import shutil
import subprocess
import sys
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest

import ddsim

ROOT = Path(__file__).parent.parent
HEAVY = [
    "pandas",
    "matplotlib",
    "scipy",
    "pint",
    "pydantic",
    "ruamel",
    "simpy",
    "numpy",
    "numba",
    "llvmlite",
]


def python(code: str, *, where: Path = ROOT, **environment: str) -> str:
    """Run `code` in an interpreter of its own and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=where,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_ddsim_imports_nothing_heavy() -> None:
    """`import ddsim` leaves the heavy libraries, and ddsim's own rooms, alone."""
    loaded = python("import sys, ddsim; print(*sys.modules)").split()
    assert not [name for name in loaded if name.split(".")[0] in (*HEAVY, "rich", "click")]
    assert [name for name in loaded if name.startswith("ddsim")] == ["ddsim"]


@pytest.mark.parametrize(
    "command",
    ["", "init", "run", "replay", "sweep", "plan", "compare", "bandwidth", "plot", "check", "list"],
)
def test_help_imports_nothing_heavy(command: str) -> None:
    """No `--help` needs the heavy libraries or rich."""
    arguments = [*([command] if command else []), "--help"]
    code = f"""
import sys
from ddsim.cli import main
try:
    main({arguments})
except SystemExit as end:
    assert end.code == 0
print("LOADED", *sys.modules)
"""
    printed, _, loaded = python(code).partition("LOADED")
    assert "Example:" in printed
    assert not [name for name in loaded.split() if name.split(".")[0] in (*HEAVY, "rich")]


def test_public_names_are_there() -> None:
    """Every public name can be had, and `dir` lists it."""
    for name in ddsim.__all__:
        assert getattr(ddsim, name) is not None
        assert name in dir(ddsim)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    """A wrong name fails like on any module."""
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        ddsim.lod  # noqa: B018


def test_every_package_is_listed() -> None:
    """setup.cfg lists each folder of ddsim/ that holds Python, and the scenarios."""
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    found = {".".join(path.parent.relative_to(ROOT).parts) for path in ROOT.glob("ddsim/**/*.py")}
    assert listed == found | {"ddsim.scenarios"}


def test_dev_installs_what_the_tests_need() -> None:
    """The extras that the Makefile and the documentation name exist."""
    config = ConfigParser()
    config.read(ROOT / "setup.cfg")
    assert set(config["options.extras_require"]) >= {"dev", "test", "dask", "parquet", "notebook"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the sources."""
    source = tmp_path_factory.mktemp("source")
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("ddsim", "scenarios"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    code = "from setuptools.build_meta import build_wheel; print(build_wheel('.'))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return next(source.glob("*.whl"))


@pytest.mark.slow
def test_wheel_holds_code_scenarios_and_types(wheel: Path) -> None:
    """The wheel has every module, scenario and reference table, the licence and the type marker."""
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
    modules = {str(path.relative_to(ROOT)) for path in ROOT.glob("ddsim/**/*.py")}
    assert modules <= names
    tables = {str(path.relative_to(ROOT)) for path in ROOT.glob("ddsim/**/*.csv")}
    scenarios = {f"ddsim/scenarios/{path.name}" for path in ROOT.glob("scenarios/*.yaml")}
    assert scenarios | tables | {"ddsim/py.typed"} <= names
    assert any(name.endswith("LICENSE") for name in names)


@pytest.mark.slow
def test_wheel_works_away_from_the_repository(wheel: Path, tmp_path: Path) -> None:
    """From the wheel alone, elsewhere, the command line finds a shipped scenario by name."""
    with zipfile.ZipFile(wheel) as content:
        content.extractall(tmp_path / "site")
    code = """
import ddsim, sys
from ddsim.cli import main
assert "site" in ddsim.__file__, ddsim.__file__
try:
    main(["check", "four_regions_12b"])
except SystemExit as end:
    assert end.code == 0, end.code
"""
    printed = python(code, where=tmp_path, PYTHONPATH=str(tmp_path / "site"))
    assert printed == "four_regions_12b: valid\n"
