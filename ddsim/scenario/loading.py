"""Reading a scenario and validating it. Libraries are imported when the first one is loaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from ddsim.files import TooLargeError, read_within
from ddsim.naming import listed, shown, suggestion
from ddsim.scenario import shipped
from ddsim.scenario.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from ddsim.scenario.document import Document
    from ddsim.scenario.known import Known
    from ddsim.scenario.schema import Scenario

Prepare = Callable[["Document", Sequence[Path]], "Known"]
"""Runs the Python files that a document names; returns what is known then."""


def load(
    path_or_name: str | os.PathLike[str],
    overrides: Mapping[str, object] | Sequence[str] = (),
    *,
    prepare: Prepare | None = None,
) -> Scenario:
    """The scenario in a file, or a shipped one by its name, with ``overrides`` on top.

    Overrides are a mapping of dotted paths to values ("5 Gbit/s", 4, None for the default) or
    texts ``PATH=VALUE``. ``prepare`` is called between reading and validating with those files of
    ``python`` that exist, and says what the scenario may name, the built-in names without it.

    Raises ScenarioError with everything that is wrong.
    """
    from ddsim.scenario.known import BUILT_IN
    from ddsim.scenario.schema import validate

    document = read(path_or_name).with_overrides(overrides)
    if prepare is None:
        return validate(document, BUILT_IN)
    existing = [file for file in document.python_files() if os.path.isfile(file)]
    return validate(document, prepare(document, existing))


def read(path_or_name: str | os.PathLike[str]) -> Document:
    """The raw scenario of a file or of a shipped name; raises ScenarioError if there is none."""
    from ddsim.scenario.reading import LARGEST_FILE, UnreadableError, decode

    name = os.fspath(path_or_name)
    file, source = _find(name)
    try:
        data = read_within(source, LARGEST_FILE) if isinstance(source, Path) else None
        text = decode(source.read_bytes() if data is None else data, file)
    except TooLargeError as error:
        raise _no_file(file, error.found, f"at most {LARGEST_FILE} bytes") from None
    except UnreadableError as error:
        raise ScenarioError(error.problems) from None
    except OSError as error:
        raise _no_file(file, f"cannot be read: {error.strerror}", "a readable file") from None
    return read_text(text, file, folder=os.path.dirname(file))


def read_text(text: str, file: str = "<text>", folder: str = "") -> Document:
    """The raw scenario of a YAML text; ``file`` names it in messages."""
    from ddsim.scenario.document import Document
    from ddsim.scenario.files import Files
    from ddsim.scenario.reading import UnreadableError, read_tree

    try:
        root, problems = read_tree(text, file)
    except UnreadableError as error:
        raise ScenarioError(error.problems) from None
    return Document(file, root, tuple(problems), files=Files(folder), text=text)


def _find(name: str) -> tuple[str, Traversable]:
    path = Path(name)
    if os.path.isdir(name):
        raise _no_file(name, "a folder", "a scenario file, or the name of a shipped scenario")
    if os.path.exists(name):
        return name, path
    found = shipped.find(name) if os.sep not in name else None
    if found is not None:
        return str(found), found
    known = shipped.names()
    near = suggestion(path.stem or name, known)
    allowed = f"{near}a scenario file, or a shipped scenario: {listed(known)}"
    raise _no_file(name, f"no file or shipped scenario {shown(name)}", allowed)


def _no_file(file: str, found: str, allowed: str) -> ScenarioError:
    return ScenarioError([Problem(file, 1, 1, "", found, allowed)])
