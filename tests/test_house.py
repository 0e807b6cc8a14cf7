"""The rooms of the house: none has a circle, and imports run downwards."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import ddsim

ROOT = Path(ddsim.__file__).parent
TREE = Path(__file__).parent.parent
MAP = (TREE / "CONTRIBUTING.md").read_text(encoding="utf-8")

FLOORS = (
    ("errors", "files", "naming", "progress", "sources", "theory", "reference"),
    ("registry", "workers"),
    ("quality",),
    ("scenario",),
    ("users", "unrun", "world"),
    ("logs",),
    ("engine",),
    ("learning",),
    ("methods",),
    ("results", "loading", "remarks"),
    ("training",),
    ("simulation", "bandwidth"),
    ("forecast", "replaying", "rates"),
    ("study",),
    ("calibration",),
    ("figures",),
    ("report", "plot"),
    ("reproduce",),
    ("cli",),
    ("__main__",),
)
"""The rooms from the ground up. A room imports from itself and from the floors below."""

FACADE = "__init__"
"""What users import; it hands out everything by name, and rooms take the version from it."""

UPWARDS: dict[tuple[str, str], str] = {}
"""Imports that still run upwards, room by room, and why."""


def module_of(path: Path) -> str:
    """The dotted name of a source file."""
    parts = ("ddsim", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    """Every module of the package, with its file."""
    return {module_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def imported(name: str, path: Path) -> Iterator[str]:
    """The modules that a file imports, at its top, in functions and for types alike."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules())
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found = whole if whole in modules() else node.module
                if found in modules():
                    yield found


@cache
def graph() -> dict[str, set[str]]:
    """What each module imports of the others."""
    return {name: set(imported(name, path)) - {name} for name, path in modules().items()}


def room(module: str) -> str:
    """The package or the single module right under `ddsim` that a module belongs to."""
    return module.split(".")[1] if "." in module else "__init__"


def rooms() -> list[str]:
    """Every room of the house."""
    return sorted({room(module) for module in modules()})


def circle(name: str) -> list[str]:
    """Modules of one room that import each other in a circle; none is what is wanted."""
    inside = {module for module in modules() if room(module) == name}
    sorter = TopologicalSorter({module: graph()[module] & inside for module in inside})
    try:
        sorter.prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("name", rooms())
def test_no_modules_of_a_room_import_each_other_in_a_circle(name: str) -> None:
    """Whatever a module imports can be read before it."""
    assert circle(name) == []


def test_every_room_has_a_floor() -> None:
    """And no room has two, or is gone."""
    named = [name for floor in FLOORS for name in floor]
    assert sorted(named) == [name for name in rooms() if name != FACADE]


def test_imports_run_downwards() -> None:
    """What runs upwards is on the list, and what is on the list runs upwards."""
    floor = {name: level for level, names in enumerate(FLOORS) for name in names}
    upwards = {
        (room(module), room(other))
        for module, others in graph().items()
        for other in others
        if FACADE not in (room(module), room(other)) and room(module) != room(other)
        if floor[room(other)] >= floor[room(module)]
    }
    assert upwards == set(UPWARDS)


def test_the_map_has_every_room_on_its_floor() -> None:
    """In CONTRIBUTING.md: one line a room, the floors from top to bottom."""
    listed = MAP.partition("<!-- map -->")[2].partition("<!-- end of map -->")[0]
    named = re.findall(r"^- `(\w+)`: \S.*[^ ]$", listed, re.MULTILINE)
    assert len(named) == len(listed.strip().splitlines())
    floor = {name: level for level, names in enumerate(FLOORS) for name in names}
    assert sorted(named) == sorted(floor)
    levels = [floor[name] for name in named]
    assert levels == sorted(levels, reverse=True)


def test_the_files_that_the_map_names_exist() -> None:
    """Whoever moves a file moves it there too; NAME stands for one that is still to be written."""
    home = ("", "ddsim/methods/local/", "tests/frozen/")
    named = set(re.findall(r"[\w./-]+\.(?:py|md|gz)\b|[\w/]+/(?=[`.])", MAP))
    lost = [
        name
        for name in named
        if "NAME" not in name and not name.startswith("/tmp")
        if not any((TREE / folder / name).exists() for folder in home)
    ]
    assert len(named) > 40
    assert lost == []


def test_what_the_map_calls_a_rule_or_a_setting_is_one() -> None:
    """Names of functions and tables that it sends a reader to are in the file that it names."""
    protocol = (ROOT / "methods" / "local" / "protocol.py").read_text(encoding="utf-8")
    for name in (
        "def may_close",
        "def grace",
        "def receive",
        "TIME_SAYS",
        "REAL_SAYS",
        "NUMBER_SAYS",
    ):
        assert re.search(rf"^{name}\b", protocol, re.MULTILINE), name
        assert f"`{name.removeprefix('def ')}`" in MAP, name
