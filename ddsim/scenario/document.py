"""A scenario as it was read: raw values with positions, and the overrides put on top."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from ddsim.naming import listed, shown, suggestion
from ddsim.scenario.errors import Problem
from ddsim.scenario.files import Files
from ddsim.scenario.paths import UnknownPathError, is_section, resolve
from ddsim.scenario.reading import UnreadableError, read_tree
from ddsim.scenario.tree import (
    Entry,
    Path,
    Place,
    child,
    dotted,
    entry_of,
    nearest_entry,
    plain,
    put,
)

Overrides = Mapping[str, object] | Sequence[str]
SET_BESIDE = "# set beside this file:"
"""What stands before that in the text of a scenario as it was written."""
_FORM = 'PATH=VALUE, such as network.bandwidth="5 Gbit/s"'
_OWN = ("bandwidth", "upload", "download", "schedule", "repeat", "trace")


@dataclass(frozen=True, slots=True)
class Override:
    """A value for a dotted path; ``under`` says in messages whose setting it is."""

    path: str
    value: Entry
    under: str = ""


@dataclass(frozen=True)
class Document:
    """A scenario before it is validated, and what the ``files`` that it names say.

    ``text`` is what it was read from.
    """

    file: str
    root: Entry
    problems: tuple[Problem, ...] = ()
    overrides: tuple[Override, ...] = ()
    files: Files = field(default_factory=Files, compare=False, repr=False)
    text: str = field(default="", compare=False, repr=False)

    @property
    def as_written(self) -> str:
        """Its text, and below it what was set beside it; empty without a text."""
        if not self.text:
            return ""
        options = [item.value.label.option or item.path for item in self.overrides]
        lines = [f"#   {option.removeprefix('--set ')}" for option in options]
        said = [SET_BESIDE, *lines] if lines else []
        return "\n".join([self.text.rstrip("\n"), *said, ""])

    def with_overrides(self, overrides: Overrides) -> Document:
        """The document with more overrides, which win over earlier ones."""
        parsed, problems = parse_overrides(overrides)
        return dataclasses.replace(
            self,
            overrides=(*self.overrides, *parsed),
            problems=(*self.problems, *problems),
        )

    def tree(self, settings: Iterable[Override] = ()) -> tuple[Entry, list[Problem]]:
        """All values, ``settings`` over the file's and the overrides over both; what failed."""
        root, problems = self.root, []
        for override in (*settings, *self.overrides):
            try:
                root = _apply(root, override)
            except UnknownPathError as error:
                path = f"{override.under}{override.path}"
                place = override.value.label
                problems.append(self.problem(place, path, error.found, error.allowed))
        return root, problems

    def settings(self, method: str) -> list[Override]:
        """The settings of one method, a mapping that stands for a section taken apart."""
        methods, _ = self.tree()
        entry = child(methods, "methods")
        found: list[Override] = []
        for name, value in _named(entry) if entry else ():
            if name == method and isinstance(value.value, dict):
                for path, setting in value.value.items():
                    found += _flat(path, setting, f"methods.{name}.")
        return [setting for setting in found if not self._overridden(setting.path)]

    def _overridden(self, path: str) -> bool:
        return any(_covers(override.path, path) for override in self.overrides)

    def problem(self, place: Place, path: str, found: str, allowed: str) -> Problem:
        """A problem at a place of this document or at an override."""
        if place.option is not None:
            return Problem(place.option, None, None, path, found, allowed)
        return Problem(self.file, place.line, place.column, path, found, allowed)

    def python_files(self) -> list[FilePath]:
        """The files of ``python``, existing or not, relative to the scenario's folder."""
        entry = child(self.tree()[0], "python")
        names = plain(entry) if entry else ()
        if isinstance(names, str):
            names = [names]
        if not isinstance(names, list | tuple):
            return []
        return [FilePath(self.files.folder) / name for name in names if isinstance(name, str)]


def _covers(override: str, path: str) -> bool:
    return override == path or path.startswith(f"{override}.") or override.startswith(f"{path}.")


def _named(methods: Entry) -> Iterable[tuple[str, Entry]]:
    items = methods.value if isinstance(methods.value, tuple) else (methods,)
    for item in items:
        if isinstance(item.value, dict):
            yield from item.value.items()


def _flat(path: str, entry: Entry, under: str) -> list[Override]:
    if isinstance(entry.value, dict) and entry.value and is_section(path):
        parts = entry.value.items()
        return [flat for key, item in parts for flat in _flat(f"{path}.{key}", item, under)]
    return [Override(path, entry, under)]


def parse_overrides(overrides: Overrides) -> tuple[list[Override], list[Problem]]:
    """Overrides from a mapping or from texts ``PATH=VALUE``; texts are read as YAML."""
    if isinstance(overrides, Mapping):
        return [_override(str(path), value) for path, value in overrides.items()], []
    parsed: list[Override] = []
    problems: list[Problem] = []
    for text in [overrides] if isinstance(overrides, str) else overrides:
        path, sign, value = text.partition("=")
        if sign and path.strip():
            parsed.append(_override(path.strip(), value.strip()))
        else:
            found = f"{shown(text)} without {'a path' if sign else 'a value'}"
            problems.append(Problem(f"--set {text}", None, None, "", found, _FORM))
    return parsed, problems


def _override(path: str, value: object) -> Override:
    text = value if isinstance(value, str) else _inline(value)
    return Override(path, entry_of(_typed(value), Place(option=f"--set {path}={text}")))


def _inline(value: object) -> str:
    text = "null" if value is None else str(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _typed(value: object) -> Any:
    if not isinstance(value, str) or not value.strip():
        return value or None if isinstance(value, str) else value
    try:
        tree, problems = read_tree(f"value: {value}", "")
    except UnreadableError:
        return value
    entry = child(tree, "value")
    return value if problems or entry is None or len(tree.value) > 1 else plain(entry)


def _apply(root: Entry, override: Override) -> Entry:
    path = resolve(override.path)
    if path == ("network", "bandwidth"):
        root = _without_own_bandwidths(root)
    if path[:2] == ("network", "regions") and len(path) > 2:
        root = _with_region(root, str(path[2]))
    _reachable(root, path)
    return put(root, path, override.value)


def _reachable(root: Entry, path: Path) -> None:
    """Raise UnknownPathError where ``path`` counts an item that the scenario does not give."""
    entry, depth = nearest_entry(root, path)
    counted = next((place for place in range(depth, len(path)) if isinstance(path[place], int)), -1)
    if counted < 0:
        return
    given = len(entry.value) if counted == depth and isinstance(entry.value, tuple) else 0
    where = dotted(path[:counted])
    allowed = f"0 to {given - 1}" if given else f"the scenario gives no {where}"
    raise UnknownPathError(f"item {path[counted]} of {where}", allowed)


def _with_region(root: Entry, name: str) -> Entry:
    where: Path = ("network", "regions")
    entry, depth = nearest_entry(root, where)
    if depth < 2 or not isinstance(entry.value, dict | tuple):
        raise UnknownPathError(f'region "{name}"', "the scenario lists no network.regions")
    if isinstance(entry.value, tuple):
        names = {str(item.value): Entry({}, item.at, item.key) for item in entry.value}
        entry = Entry(names, entry.at, entry.key)
        root = put(root, where, entry)
    if name not in entry.value:
        known = list(entry.value)
        raise UnknownPathError(f'region "{name}"', f"{suggestion(name, known)}{listed(known)}")
    return root


def _without_own_bandwidths(root: Entry) -> Entry:
    for where in (("network", "regions"), ("network", "links")):
        entry, depth = nearest_entry(root, where)
        if depth < 2:
            continue
        if isinstance(entry.value, dict):
            bare: Any = {key: _without(item) for key, item in entry.value.items()}
        elif isinstance(entry.value, tuple):
            bare = tuple(_without(item) for item in entry.value)
        else:
            continue
        root = put(root, where, Entry(bare, entry.at, entry.key))
    return root


def _without(entry: Entry) -> Entry:
    if not isinstance(entry.value, dict):
        return entry
    kept = {key: item for key, item in entry.value.items() if key not in _OWN}
    return Entry(kept, entry.at, entry.key)
