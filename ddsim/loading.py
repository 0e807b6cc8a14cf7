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

    world = scenario.load(path_or_name, overrides, prepare=prepare, families=families)
    _check_problem(world)
    _check_policies(world)
    return world


def load_text(text: str, overrides: Mapping[str, object] | Sequence[str] = ()) -> "Scenario":
    """Return the scenario of a YAML text, with `overrides` on top; errors are those of `load`."""
    from ddsim.scenario import validate

    document = scenario.read_text(text).with_overrides(overrides)
    run_new_files(file for file in document.python_files() if file.is_file())
    world = validate(document, methods.names(), registered_families())
    _check_problem(world)
    _check_policies(world)
    return world


def _check_policies(world: "Scenario") -> None:
    """Refuse a policy that is not registered, and options that it does not take."""
    parts = [("", world)]
    for spec in world.methods:
        if any(path.startswith("training.policy") for path in spec.settings):
            parts.append((spec.name, world.for_method(spec.name)))
    if all(part.training.policy == "fixed" for _, part in parts) and not any(
        part.training.policy_options for _, part in parts
    ):
        return
    from ddsim.engine import policies
    from ddsim.scenario.errors import listed, shown, suggestion
    from ddsim.scenario.report import Report

    problems = []
    known = policies.names()
    for method, part in parts:
        settings = world.document.settings(method) if method else ()
        report = Report(world.document, world.document.tree(settings)[0])
        name = part.training.policy
        if name not in known:
            allowed = f"{suggestion(name, known)}{listed(known)}"
            report.add(("training", "policy"), f"unknown policy {shown(name)}", allowed)
        options = policies.options_of(name) if name in known else ()
        for option in part.training.policy_options if name in known else ():
            if option not in options:
                allowed = f"{suggestion(option, options)}{listed(options) if options else 'none'}"
                found = f"unknown option {shown(option)} of {name}"
                report.add(("training", "policy_options", option), found, allowed, key=True)
        problems += report.problems
    if problems:
        raise ScenarioError(list(dict.fromkeys(problems)))


def _check_problem(world: "Scenario") -> None:
    """Refuse a problem to be learnt that is not registered, and options that it does not take."""
    learning = world.learning
    if learning.problem is None:
        return
    from ddsim.learning.problem import names, options_of
    from ddsim.scenario.errors import listed, shown, suggestion
    from ddsim.scenario.report import Report

    report = Report(world.document, world.document.tree()[0])
    if learning.problem not in names():
        allowed = f"{suggestion(learning.problem, names())}{listed(names())}"
        where = ("learning", "problem")
        report.add(where, f"unknown problem {shown(learning.problem)}", allowed)
    else:
        known = options_of(learning.problem)
        for option in learning.options:
            if option not in known:
                allowed = f"{suggestion(option, known)}{listed(known) if known else 'none'}"
                found = f"unknown option {shown(option)} of {learning.problem}"
                report.add(("learning", "options", option), found, allowed, key=True)
    if report.problems:
        raise ScenarioError(report.problems)


def run_files(files: Iterable[Path]) -> None:
    """Run a user's Python files, each as a module of its own, for what they register.

    Raises ScenarioError for those that fail, each with the line that did.
    """
    problems = [problem for file in files if (problem := _run(file)) is not None]
    if problems:
        raise ScenarioError(problems)


def run_new_files(files: Iterable[Path]) -> None:
    """Run those of a user's files that this process has not run yet: a worker needs each once."""
    run_files(file for file in files if _module_name(file) not in sys.modules)


def _module_name(file: Path) -> str:
    # named for its place, so that two files of one name do not replace each other
    return f"_ddsim_{file.stem}_{crc32(str(file.resolve()).encode()):08x}"


def _run(file: Path) -> Problem | None:
    name = _module_name(file)
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
