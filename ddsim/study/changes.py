"""What differs between two scenarios, path by path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ddsim.scenario import read_text
from ddsim.scenario.tree import plain


@dataclass(frozen=True)
class Change:
    """A scenario path and what stands there in one and in the other; None where nothing does."""

    path: str
    one: str | None
    other: str | None


def changes(one: str, other: str, files: Sequence[str] = ("<text>", "<text>")) -> list[Change]:
    """The differences between two resolved scenarios, given as YAML; `files` names them."""
    texts = zip((one, other), files, strict=True)
    left, right = (dict(_flat(plain(read_text(text, file).root))) for text, file in texts)
    return [
        Change(path, left.get(path), right.get(path))
        for path in dict.fromkeys([*left, *right])
        if left.get(path) != right.get(path)
    ]


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flat(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            yield from _flat(item, f"{path}.{_key(item, index)}")
    else:
        yield path, str(value)


def _key(item: Any, index: int) -> str:
    """How an item of a list is called: by its name, where it has one."""
    if isinstance(item, dict):
        if "name" in item:
            return str(item["name"])
        if len(item) == 1:
            return str(next(iter(item)))
    return str(index)
