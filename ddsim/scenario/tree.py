"""Raw scenario values that remember where they stand."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]
"""A scenario path: keys of mappings and indices of lists."""


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a file, counted from 1, or the option that gave the value."""

    line: int = 1
    column: int = 1
    option: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A value: a scalar, a dict of entries or a tuple of entries; ``key`` is where its key is."""

    value: Any
    at: Place
    key: Place | None = None

    @property
    def label(self) -> Place:
        """Where its key stands, or the value itself where there is no key."""
        return self.key or self.at


def entry_of(value: Any, at: Place) -> Entry:
    """The entry of a plain Python value; all of it stands at one place."""
    if isinstance(value, Mapping):
        return Entry({str(key): entry_of(item, at) for key, item in value.items()}, at, at)
    if isinstance(value, list | tuple):
        return Entry(tuple(entry_of(item, at) for item in value), at, at)
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return Entry(value, at, at)
    if isinstance(value, numbers.Integral):
        return Entry(int(value), at, at)
    if isinstance(value, numbers.Real):
        return Entry(float(value), at, at)
    return Entry(str(value), at, at)


def plain(entry: Entry) -> Any:
    """The plain Python value of an entry."""
    if isinstance(entry.value, dict):
        return {key: plain(item) for key, item in entry.value.items()}
    if isinstance(entry.value, tuple):
        return [plain(item) for item in entry.value]
    return entry.value


def child(entry: Entry, part: str | int) -> Entry | None:
    """The entry under a key or index, or None."""
    if isinstance(entry.value, dict):
        found: Entry | None = entry.value.get(part)
        return found
    if isinstance(entry.value, tuple) and isinstance(part, int) and part < len(entry.value):
        item: Entry = entry.value[part]
        return item
    return None


def nearest_entry(root: Entry, path: Path) -> tuple[Entry, int]:
    """The deepest entry that exists on ``path``, and how many parts of the path lead to it."""
    entry, depth = root, 0
    for part in path:
        below = child(entry, part)
        if below is None:
            break
        entry, depth = below, depth + 1
    return entry, depth


def put(root: Entry, path: Path, new: Entry) -> Entry:
    """The tree with ``new`` at ``path``; mappings on the way are made where there are none."""
    if not path:
        return new
    part, rest = path[0], path[1:]
    if isinstance(root.value, tuple) and isinstance(part, int):
        items = list(root.value)
        items[part] = put(items[part], rest, new)
        return Entry(tuple(items), root.at, root.key)
    keys = dict(root.value) if isinstance(root.value, dict) else {}
    below = keys.get(str(part)) or Entry({}, new.at, new.key)
    keys[str(part)] = put(below, rest, new)
    return Entry(keys, root.at, root.key)


def take(root: Entry, path: Path) -> Entry:
    """The tree without what stands at ``path``; an item of a list becomes an empty mapping."""
    entry = child(root, path[0]) if path else None
    if entry is None:
        return root
    if len(path) > 1:
        return put(root, path[:1], take(entry, path[1:]))
    if isinstance(root.value, tuple):
        return put(root, path, Entry({}, entry.at, entry.key))
    return Entry(
        {key: item for key, item in root.value.items() if key != path[0]}, root.at, root.key
    )


def dotted(path: Path) -> str:
    """The path as a person writes it."""
    return ".".join(str(part) for part in path)
