"""pydantic's errors in words for the person who wrote the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ddsim.naming import listed, shown, suggestion
from ddsim.scenario.catalogue import MODELS
from ddsim.scenario.contents import Contents
from ddsim.scenario.other_words import meant_by
from ddsim.scenario.paths import Slot, below, elsewhere
from ddsim.scenario.section import Section
from ddsim.scenario.tree import Path

if TYPE_CHECKING:
    from pydantic import ValidationError


@dataclass(frozen=True)
class FieldFault:
    """What is wrong at ``path``; ``field`` is what has to go for the rest to be valid.

    ``key`` says that the fault is the key itself, not its value.
    """

    path: Path
    field: Path
    found: str
    allowed: str
    key: bool = False


def faults(error: ValidationError) -> Iterator[FieldFault]:
    """Every fault behind a validation error."""
    for detail in error.errors(include_url=False):
        where: Path = detail["loc"]
        if detail["type"] == "refused":
            for inside, found, allowed in detail["ctx"]["faults"]:
                yield FieldFault((*where, *inside), where, found, allowed)
        elif detail["type"] == "extra_forbidden":
            yield _unknown_key(where)
        else:
            yield FieldFault(where, where, shown(detail["input"]), _expected(detail))


def _expected(detail: Any) -> str:
    kind = detail["type"]
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        mapping = "a mapping (`key: value`, indented under it)"
        if detail["loc"] == ("model",) and isinstance(detail["input"], str):
            return f"{mapping}; of a known model model.name: {listed(list(MODELS))}"
        return mapping
    if kind in ("tuple_type", "list_type"):
        return "a list (each item after `- `)"
    return str(detail["msg"])


def _unknown_key(where: Path) -> FieldFault:
    section = _section_at(where[:-1])
    key = str(where[-1])
    keys = list(section.keys()) if section else []
    other = meant_by(key, keys)
    moved = elsewhere(key)
    hint = f'did you mean "{other}"? ' if other else f"{moved} " if moved else suggestion(key, keys)
    allowed = f"{hint}allowed: {listed(keys, 'and')}"
    return FieldFault(where, where, f"unknown key {shown(key)}", allowed, key=True)


def _section_at(where: Path) -> type[Section] | None:
    section: type[Section] = Contents
    step = ""
    for part in where:
        if step:
            step = ""
            continue
        name = section.keys().get(str(part))
        under = below(Slot("", section, name)) if name else None
        if under is None:
            return None
        section, step = under
    return section
