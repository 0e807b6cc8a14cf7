"""Reading a scenario together with what its own Python files add."""

import os
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from ddsim import methods, scenario
from ddsim.scenario import Problem, ScenarioError

if TYPE_CHECKING:
    from ddsim.scenario import Document, Scenario
    from ddsim.scenario.repair import Family


def load(
    path_or_name: str | os.PathLike[str],
    overrides: Mapping[str, object] | Sequence[str] = (),
) -> "Scenario":
    """Return the scenario in a file, or a shipped one by its name.

    `overrides` go on top: a mapping of dotted paths to values, or texts `PATH=VALUE`. The files
    that the scenario lists under `python` are run first, so that the methods and distributions
    which they register can be named. Raises ScenarioError with everything that is wrong, in the
    scenario and in those files.
    """
    families: dict[str, Family] = {}

    def prepare(_: "Document", files: Sequence[Path]) -> Sequence[str]:
        run_files(files)
        families.update(registered_families())
        return methods.names()

    return scenario.load(path_or_name, overrides, prepare=prepare, families=families)


def run_files(files: Iterable[Path]) -> None:
    """Run a user's Python files, each as a module of its own, for what they register.

    Raises ScenarioError for those that fail, each with the line that did.
    """
    problems = [problem for file in files if (problem := _run(file)) is not None]
    if problems:
        raise ScenarioError(problems)


def _run(file: Path) -> Problem | None:
    # named for its place, so that two files of one name do not replace each other
    name = f"_ddsim_{file.stem}_{crc32(str(file.resolve()).encode()):08x}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        return Problem(str(file), None, None, "", "not a Python file", "a file that ends in .py")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        found = f"{type(error).__name__}: {error}"
        line = _line_in(file, error)
        return Problem(
            str(file), line, None if line is None else 1, "", found, "a file that runs to its end"
        )
    return None


def _line_in(file: Path, error: Exception) -> int | None:
    if isinstance(error, SyntaxError):
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    return lines[-1] if lines else None


def registered_families() -> dict[str, "Family"]:
    """Return the registered distributions that a scenario can spell, with their parameters."""
    from ddsim.scenario.repair import Family
    from ddsim.world.distributions import registry

    families = {}
    for name in registry.names():
        kind = registry.family(name)
        dimensions = {item.name: item.dimension for item in kind.parameters}
        if kind.forms and set(dimensions.values()) <= {"time", "number"}:
            times = frozenset(item for item, dimension in dimensions.items() if dimension == "time")
            families[name] = Family(kind.forms, times)
    return families
