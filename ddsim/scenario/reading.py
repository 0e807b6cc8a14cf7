"""YAML text to a tree of values with positions, by ruamel.yaml's composer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ddsim.naming import shown
from ddsim.scenario.errors import Problem
from ddsim.scenario.tree import Entry, Place, dotted
from ddsim.scenario.units import LONGEST

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node

LARGEST_FILE = 4_000_000
"""Bytes that a scenario file may have."""
MOST_VALUES = 50_000
"""Values that a scenario may have once its aliases are written out."""
DEEPEST = 40
"""Mappings and lists inside each other."""
_TAG = "tag:yaml.org,2002:"
_FORM = "a mapping such as `duration: 1 day`, indented with spaces"


class _TooMuchError(Exception):
    """The text stands for more than a scenario may hold."""

    def __init__(self, place: Place, found: str, allowed: str) -> None:
        self.place, self.found, self.allowed = place, found, allowed

    def problem(self, file: str) -> Problem:
        """What is wrong with the file."""
        return Problem(file, self.place.line, self.place.column, "", self.found, self.allowed)


def _too_many(place: Place) -> _TooMuchError:
    allowed = f"at most {MOST_VALUES}, aliases written out"
    return _TooMuchError(place, f"more than {MOST_VALUES} values", allowed)


def decode(data: bytes, file: str) -> str:
    """The text of a file; raises UnreadableError for what is not text."""
    if b"\0" in data[:8192] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _unreadable(file, "a binary file", "a scenario is YAML text in UTF-8")
    try:
        encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        found = f"byte 0x{data[error.start]:02x}, which is not UTF-8"
        allowed = "a scenario is YAML text in UTF-8"
        raise UnreadableError([Problem(file, line, column, "", found, allowed)]) from None


class UnreadableError(Exception):
    """A file holds no tree of values."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__(str(problems[0]))


def _unreadable(file: str, found: str, allowed: str) -> UnreadableError:
    return UnreadableError([Problem(file, 1, 1, "", found, allowed)])


def read_tree(text: str, file: str) -> tuple[Entry, list[Problem]]:
    """The values of a YAML text, and what is wrong with it though it can be read.

    Raises UnreadableError where there is no tree: bad syntax, nothing in it, not a mapping.
    """
    node = compose(text, file)
    if node is None:
        raise _unreadable(file, "an empty file", "`ddsim init` writes a scenario to start from")
    builder = _Builder(file)
    try:
        root = builder.build(node, None, ())
    except _TooMuchError as error:
        raise UnreadableError([error.problem(file)]) from None
    if not isinstance(root.value, dict):
        problem = Problem(file, root.at.line, root.at.column, "", shown(root.value), _FORM)
        raise UnreadableError([problem])
    return root, builder.problems


def compose(text: str, file: str) -> Node | None:
    """ruamel's node graph of a text that holds one document."""
    from ruamel.yaml import YAML
    from ruamel.yaml.composer import Composer
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.nodes import MappingNode

    class Counting(Composer):  # type: ignore[misc,unused-ignore]
        """Gives up at the first value too many, long before the end of the text."""

        values = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            self.values += not (isinstance(parent, MappingNode) and index is None)  # no key
            if self.values > MOST_VALUES:
                mark = self.parser.peek_event().start_mark
                raise _too_many(Place(mark.line + 1, mark.column + 1))
            return super().compose_node(parent, index)

    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = Counting
    try:
        node: Node | None = yaml.compose(text)
    except _TooMuchError as error:
        raise UnreadableError([error.problem(file)]) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        found, allowed = _syntax(error, text, line, column)
        raise UnreadableError([Problem(file, line, column, "", found, allowed)]) from None
    except RecursionError:
        raise _unreadable(file, "too many levels of nesting", f"at most {DEEPEST}") from None
    except (YAMLError, ValueError) as error:
        raise _unreadable(file, f"not YAML: {str(error).splitlines()[0]}", _FORM) from None
    return node


def _syntax(error: Any, text: str, line: int, column: int) -> tuple[str, str]:
    lines = text.splitlines()
    content = lines[line - 1] if line <= len(lines) else ""
    if "\t" in content[: max(column, len(content) - len(content.lstrip()))]:
        return "a tab", "YAML is indented with spaces"
    what = str(error.problem or error.context or "not YAML").strip()
    if "single document" in str(error.context):
        what = "a second document"
    return f"YAML syntax error: {what}", f"YAML, {_FORM}"


class _Builder:
    """Turns nodes into entries, writing aliases out within limits."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self._values = 0
        self._open: list[int] = []

    def build(self, node: Node, key: Node | None, path: tuple[str | int, ...]) -> Entry:
        at = _place(node)
        self._count(at, node)
        self._open.append(id(node))
        try:
            value = self._value(node, path)
        finally:
            self._open.pop()
        return Entry(value, at, _place(key) if key is not None else None)

    def _count(self, at: Place, node: Node) -> None:
        self._values += 1
        if self._values > MOST_VALUES:
            raise _too_many(at)
        if id(node) in self._open:
            raise _TooMuchError(at, "an alias inside what it stands for", "a finite value")
        if len(self._open) >= DEEPEST:
            raise _TooMuchError(at, "too many levels of nesting", f"at most {DEEPEST}")

    def _value(self, node: Node, path: tuple[str | int, ...]) -> Any:
        from ruamel.yaml.nodes import MappingNode, SequenceNode

        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            items = enumerate(node.value)
            return tuple(self.build(item, None, (*path, index)) for index, item in items)
        return self._scalar(node, path)

    def _mapping(self, node: Node, path: tuple[str | int, ...]) -> dict[str, Entry]:
        own: dict[str, Entry] = {}
        merged: dict[str, Entry] = {}
        for key, value in node.value:
            if str(key.tag) == f"{_TAG}merge":
                self._merge(value, path, merged)
            elif not isinstance(key.value, str):
                self._report(key, path, "a mapping or list as a key", "a key is a word")
            elif key.value in own:
                first = own[key.value].label.line
                found = f'"{key.value}" a second time, first in line {first}'
                self._report(key, (*path, key.value), found, "each key once")
            else:
                own[key.value] = self.build(value, key, (*path, key.value))
        return {**merged, **own}

    def _merge(self, node: Node, path: tuple[str | int, ...], merged: dict[str, Entry]) -> None:
        entry = self.build(node, None, path)
        sources = entry.value if isinstance(entry.value, tuple) else (entry,)
        for source in sources:
            if not isinstance(source.value, dict):
                self._report(node, path, "something else merged by <<", "an alias of a mapping")
                return
            for key, value in source.value.items():
                merged.setdefault(key, value)

    def _scalar(self, node: Node, path: tuple[str | int, ...]) -> Any:
        tag, text = str(node.tag), str(node.value)
        kind = tag.removeprefix(_TAG)
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind in ("int", "float"):
            return _number(text)
        if kind in ("str", "timestamp", "value"):
            return text
        self._report(node, path, f"the tag {tag}", "a plain value without a tag")
        return None

    def _report(self, node: Node, path: tuple[str | int, ...], found: str, allowed: str) -> None:
        place = _place(node)
        problem = Problem(self.file, place.line, place.column, dotted(path), found, allowed)
        self.problems.append(problem)


def _number(text: str) -> Any:
    """The number; the text itself where it is too long or too odd, for the field to judge."""
    if len(text) > LONGEST:
        return text
    bare = text.replace("_", "").lower()
    if bare.lstrip("+-") in (".nan", ".inf"):
        return math.nan if "nan" in bare else float(bare.replace(".", ""))
    try:
        return int(bare, 0) if bare.lstrip("+-").startswith(("0x", "0o", "0b")) else int(bare)
    except ValueError:
        pass
    try:
        number = float(bare)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def _place(node: Node) -> Place:
    mark = node.start_mark
    return Place(mark.line + 1, mark.column + 1)
