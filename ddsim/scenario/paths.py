"""Dotted scenario paths against the schema: what exists, and what was probably meant."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from ddsim.naming import listed, nearest
from ddsim.scenario.contents import Contents
from ddsim.scenario.fields import Kind
from ddsim.scenario.learning import Options
from ddsim.scenario.other_words import meant_by
from ddsim.scenario.repair import Repair
from ddsim.scenario.section import Section
from ddsim.scenario.tree import Path

FIXED = ("methods", "study", "python", "name", "description", "seed", "duration")
"""What a method's own settings cannot change, because all methods share it."""


class UnknownPathError(ValueError):
    """No such scenario path: what was found, and what is allowed."""

    def __init__(self, found: str, allowed: str) -> None:
        self.found, self.allowed = found, allowed
        super().__init__(f"{found}; {allowed}")


@dataclass(frozen=True)
class Slot:
    """One field of the schema: its path with N and NAME for what varies, and how it is read."""

    path: str
    section: type[Section]
    name: str

    @property
    def annotation(self) -> Any:
        """Type of the field."""
        return self.section.model_fields[self.name].annotation

    @property
    def kind(self) -> Kind | None:
        """How the field is read, None for sections and lists of sections."""
        for item in self.section.model_fields[self.name].metadata:
            if isinstance(item, Kind):
                return item
        return None


def below(slot: Slot) -> tuple[type[Section], str] | None:
    """The section under a field and how it is reached: directly, by index N or by NAME."""
    annotation = slot.annotation
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation, ""
    if get_origin(annotation) in (tuple, dict):
        inner = [a for a in get_args(annotation) if isinstance(a, type) and issubclass(a, Section)]
        if inner:
            return inner[0], ".N" if get_origin(annotation) is tuple else ".NAME"
    return None


def slots(section: type[Section], prefix: str = "") -> Iterator[Slot]:
    """Every field of the schema, sections before what is in them."""
    for key, name in section.keys().items():
        slot = Slot(f"{prefix}{key}", section, name)
        yield slot
        under = below(slot)
        if under:
            yield from slots(under[0], f"{slot.path}{under[1]}.")


def split(text: str) -> Path:
    """The parts of a dotted path; ``units[0]`` counts as ``units.0``."""
    parts = re.sub(r"\[(\d+)\]", r".\1", text.strip()).split(".")
    return tuple(int(part) if part.isdecimal() and len(part) < 9 else part for part in parts)


def resolve(text: str) -> Path:
    """The parts of a path that the schema has; raises UnknownPathError with the nearest one."""
    path = split(text)
    section: type[Section] | None = Contents
    step = ""
    for depth, part in enumerate(path):
        if step:  # an index or a name, and then the fields of the section
            if step == ".N" and not isinstance(part, int):
                raise UnknownPathError(f'"{part}"', "the number of an item, from 0")
            step = ""
            continue
        if section is None:
            raise _unknown(text)
        name = section.keys().get(str(part))
        if name is None:
            raise _unknown(text)
        slot = Slot("", section, name)
        under = below(slot)
        if under is None:
            if isinstance(slot.kind, Repair | Options):
                return _strings(path)
            if depth + 1 < len(path):
                raise _unknown(text)
            return _strings(path)
        section, step = under
    return _strings(path)


def _strings(path: Path) -> Path:
    # A number is an index only where a list stands; a region may be called 0.
    named = len(path) > 2 and path[:2] == ("network", "regions")
    return tuple(str(part) if named else part for part in path)


_FEW = 2  # paths that are asked after at once
SHORT = 4  # below this, any word is near to some other


def _unknown(text: str) -> UnknownPathError:
    known = known_paths()
    near = _by_another_word(text, known)
    moved = None if near else elsewhere(text.rpartition(".")[2])
    near = near or nearest(text, known) or _by_last_part(text, known)
    hint = f'did you mean "{near}"?' if near else f"sections: {listed(_sections(), 'and')}"
    return UnknownPathError(f'unknown path "{text[:80]}"', moved or hint)


def elsewhere(key: str) -> str | None:
    """A question after the paths of a key in the section, or the two, that have such."""
    paths = [f'"{path}"' for path in known_paths() if path.partition(".")[2] == key]
    return f"did you mean {' or '.join(paths)}?" if 1 <= len(paths) <= _FEW else None


def _by_another_word(text: str, known: tuple[str, ...]) -> str | None:
    section, _, last = text.rpartition(".")
    lasts = {path.rsplit(".", 1)[-1]: path for path in reversed(known) if ".N" not in path}
    here = [path for path in known if path.rpartition(".")[0] == section]
    name = meant_by(last, lasts)
    if name is None:
        return None
    return f"{section}.{name}" if f"{section}.{name}" in here else lasts[name]


def _by_last_part(text: str, known: tuple[str, ...]) -> str | None:
    last = text.rsplit(".", 1)[-1]
    if len(last) < SHORT:
        return None
    # a path that needs no number of an item is the likelier one
    for paths in ([path for path in known if ".N" not in path], known):
        lasts = {path.rsplit(".", 1)[-1]: path for path in reversed(paths)}
        near = nearest(last, lasts)
        if near:
            return lasts[near]
    return None


@functools.cache
def known_paths() -> tuple[str, ...]:
    """Every path of the schema, with N for an index and NAME for a region."""
    return tuple(slot.path for slot in slots(Contents))


def _sections() -> list[str]:
    return [path for path in known_paths() if "." not in path]


def is_section(text: str) -> bool:
    """Whether the path leads to a mapping of fields."""
    section: type[Section] | None = Contents
    for part in split(text):
        name = section.keys().get(str(part)) if section else None
        if section is None or name is None:
            return False
        under = below(Slot("", section, name))
        section = under[0] if under and not under[1] else None
    return section is not None
