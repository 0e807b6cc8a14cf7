"""Reading a scenario together with what its own Python files add."""

import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, TypeVar
from zlib import crc32

from ddsim import methods, scenario
from ddsim.scenario import Problem, ScenarioError
from ddsim.users import mistake

if TYPE_CHECKING:
    from ddsim.scenario import Document, Known, Scenario
    from ddsim.scenario.families import Family
    from ddsim.scenario.presence import NodeTrace
    from ddsim.unrun import Registered

T = TypeVar("T")

_log = logging.getLogger(__name__)


def load(
    path_or_name: str | os.PathLike[str],
    overrides: Mapping[str, object] | Sequence[str] = (),
) -> "Scenario":
    """Return the scenario in a file, or a shipped one by its name.

    `overrides` go on top: a mapping of dotted paths to values, or texts `PATH=VALUE`. The files
    that the scenario lists under `python` are run first, so that the methods and distributions
    which they register can be named; the log says which, and what else the scenario names beyond
    its own folder. Raises ScenarioError with everything that is wrong, in the scenario and in those
    files.
    """

    def prepare(document: "Document", files: Sequence[Path]) -> "Known":
        _tell_of(document, files)
        run_files(files)
        return known()

    return _told(scenario.load(path_or_name, overrides, prepare=prepare))


def look_through(
    path_or_name: str | os.PathLike[str],
    overrides: Mapping[str, object] | Sequence[str] = (),
) -> "Scenario":
    """Return the scenario that `load` would, without running any file that it names.

    What those files register is read from their text; the log says which they are. A scenario that
    is right by this may still fail by what its Python does.
    """
    from ddsim.unrun import Registered

    def prepare(document: "Document", files: Sequence[Path]) -> "Known":
        registered = Registered()
        for file in files:
            _log.info("not run, only read: %s%s", file, _where(file, document))
            registered.read(file)
        return _known_with(registered, document)

    return _told(scenario.load(path_or_name, overrides, prepare=prepare))


def _known_with(registered: "Registered", document: "Document") -> "Known":
    """Return what is registered by now, and what files that were only read would add to it."""
    from ddsim.unrun import LAW, METHOD, POLICY, PROBLEM, QUANTIZER

    own = set(registered.names.get(METHOD, ()))
    if METHOD in registered.unclear:
        own |= _named_methods(document)
    now = known()
    return replace(
        now,
        methods=(*now.methods, *sorted(own - set(now.methods))),
        families={**now.families, **registered.families},
        policies=_options_with(registered_policies, registered, POLICY),
        problems=_options_with(registered_problems, registered, PROBLEM),
        laws=_options_with(registered_laws, registered, LAW),
        quantizers=_options_with(registered_quantizers, registered, QUANTIZER),
    )


def _options_with(
    now: Callable[[], Mapping[str, T]], registered: "Registered", kind: str
) -> Callable[[], Mapping[str, T | None]] | None:
    """Return names and their options; those of files that were only read may take any."""
    if kind in registered.unclear:
        return None
    return lambda: {**now(), **dict.fromkeys(registered.names.get(kind, ()))}


def _named_methods(document: "Document") -> set[str]:
    """Return the methods that a document names, as far as they can be read."""
    from pydantic_core import PydanticCustomError

    from ddsim.scenario.methods import Methods
    from ddsim.scenario.tree import child, plain

    entry = child(document.tree()[0], "methods")
    try:
        return {spec.name for spec in Methods().read(plain(entry))} if entry else set()
    except PydanticCustomError:  # validation says what is wrong with it
        return set()


def _told(world: "Scenario") -> "Scenario":
    """Return a scenario, and say what it names beyond its own folder."""
    from ddsim.scenario.outside import files_outside

    for file in files_outside(world):
        _log.info("outside the scenario's folder: %s", file)
    return world


def _tell_of(document: "Document", files: Iterable[Path]) -> None:
    for file in files:
        _log.info("runs Python of the scenario: %s%s", file, _where(file, document))


def _where(file: Path, document: "Document") -> str:
    from ddsim.scenario.outside import is_outside

    if not is_outside(file, document):
        return ""
    return f", which lies outside the scenario's folder ({file.resolve()})"


def load_text(text: str, overrides: Mapping[str, object] | Sequence[str] = ()) -> "Scenario":
    """Return the scenario of a YAML text, with `overrides` on top; errors are those of `load`."""
    from ddsim.scenario import validate

    document = scenario.read_text(text).with_overrides(overrides)
    files = [file for file in document.python_files() if file.is_file()]
    _tell_of(document, files)
    run_new_files(files)
    return _told(validate(document, known()))


def known() -> "Known":
    """Return what is registered by now, for scenarios to name."""
    from ddsim.scenario.families import FAMILIES
    from ddsim.scenario.known import Known

    return Known(
        methods=methods.names(),
        untaped=tuple(name for name in methods.names() if not methods.get(name).taped),
        families={**FAMILIES, **registered_families()},
        policies=registered_policies,
        problems=registered_problems,
        laws=registered_laws,
        quantizers=registered_quantizers,
        nodes=read_nodes,
    )


def registered_policies() -> dict[str, tuple[str, ...]]:
    """Return the registered policies, with the options of each."""
    from ddsim.engine import policies

    return {name: policies.options_of(name) for name in policies.names()}


def registered_problems() -> dict[str, tuple[str, ...]]:
    """Return the registered problems that a model can be trained on, with the options of each."""
    from ddsim.learning.problem import names, options_of

    return {name: options_of(name) for name in names()}


def registered_quantizers() -> dict[str, tuple[int, int]]:
    """Return the registered quantizers, with the fewest and the most bits of each."""
    from ddsim.learning.quantization import widths

    return widths()


def registered_laws() -> dict[str, tuple[str, ...]]:
    """Return the registered laws from tokens to loss, with the options of each."""
    from ddsim import quality

    return {name: quality.options_of(name) for name in quality.names()}


def read_nodes(path: Path) -> "NodeTrace":
    """Return how many nodes a trace has over time.

    Raises FileNotFoundError, and the error by which a field refuses a file that says nothing of it.
    """
    from ddsim.logs import NodeCounts, NodeEvents, TraceError, read
    from ddsim.scenario.fields import refuse, refuse_all
    from ddsim.scenario.presence import NodeTrace

    if not path.is_file():
        raise FileNotFoundError(path)
    try:
        trace = read(path)
    except TraceError as error:
        wrong = [((), f"{item.where}: {item.found}", item.allowed) for item in error.problems]
        raise refuse_all(wrong) from None
    if not isinstance(trace, NodeEvents | NodeCounts):
        allowed = (
            "node events or node counts can be replayed; `ddsim trace` makes failures of others"
        )
        raise refuse(f"{path}: {trace.words}", allowed)
    times, counts = trace.capacity()
    if counts.max() == 0:
        raise refuse(f"{path}: no node at any time", "at least one")
    ends = float(trace.times[-1])
    return NodeTrace(str(path), tuple(times.tolist()), tuple(counts.tolist()), ends)


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
    file = Path(os.path.abspath(file))
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        return Problem(
            str(file), None, None, "python", "not a Python file", "a file that ends in .py"
        )
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        found = mistake(error)
        if _is_broken(error, file):  # its text has file and line once more
            found = f"SyntaxError: {error.msg}"
        line = _line_in(file, error)
        if line is not None:
            found = found.removesuffix(f" ({file}:{line})")
        column = None if line is None else 1
        return Problem(str(file), line, column, "python", found, "a file that runs to its end")
    return None


def _is_broken(error: BaseException, file: Path) -> TypeGuard[SyntaxError]:
    """Whether it is this file that is no Python, and not one that it imports."""
    return isinstance(error, SyntaxError) and error.filename == str(file)


def _line_in(file: Path, error: BaseException) -> int | None:
    if _is_broken(error, file):
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    return lines[-1] if lines else None


def registered_families() -> dict[str, "Family"]:
    """Return the registered distributions that a scenario can spell, with their parameters."""
    from ddsim.scenario.families import spelled
    from ddsim.world.distributions import registry

    kinds = {name: registry.family(name) for name in registry.names()}
    families = {name: spelled(kind.parameters, kind.forms) for name, kind in kinds.items()}
    return {name: family for name, family in families.items() if family.forms}
