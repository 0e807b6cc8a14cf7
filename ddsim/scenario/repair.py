"""``failures.repair``: a time, or one of the distributions with its parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import PydanticCustomError

from ddsim.naming import listed, shown, suggestion
from ddsim.scenario.families import FAMILIES, Family
from ddsim.scenario.fields import (
    Fault,
    Kind,
    Number,
    Quantity,
    Range,
    faults_of,
    refuse,
    refuse_all,
)
from ddsim.scenario.units import TIME


@dataclass(frozen=True)
class RepairSpec:
    """A distribution by name; those of its ``params`` that are ``times`` are in seconds.

    A parameter is a number, a tuple of numbers, or a tuple of ``{kind: parameters}``.
    """

    kind: str
    params: dict[str, Any] = field(default_factory=dict)
    times: frozenset[str] = field(default=frozenset(), compare=False, repr=False)


_POSITIVE = Number(Range(0.0, above=True))
_SPAN = Quantity(TIME, Range(0.0, above=True))
_REPAIR = Quantity(TIME, word="never")


class Repair(Kind):
    """A time, ``never``, or ``{distribution: {parameter: value}}``.

    The validation context may have those that are known under the key ``families``.
    """

    unit = "s"

    def read(self, value: Any, context: Any = None) -> RepairSpec:
        """The distribution."""
        families = (context or {}).get("families") or FAMILIES
        if not isinstance(value, dict):
            return RepairSpec("constant", {"value": self._time(value)})
        if len(value) != 1:
            found = f"{shown(value)}: {', '.join(map(str, value))}" if value else shown(value)
            raise refuse(found, f"one distribution: {listed(list(families))}")
        ((kind, raw),) = value.items()
        if kind not in families:
            near = suggestion(kind, families)
            raise refuse_all([((kind,), f'unknown distribution "{kind}"', near + _all(families))])
        return RepairSpec(
            kind, _parameters(kind, raw, families[kind], context), families[kind].times
        )

    def _time(self, value: Any) -> float:
        try:
            return _REPAIR.read(value)
        except PydanticCustomError as error:
            _, found, allowed = faults_of(error)[0]
            extra = ", or a distribution, such as {exponential: {mean: 20 min}}"
            raise refuse(found, allowed + extra) from None

    def write(self, value: Any) -> Any:
        """A time where it is constant, else the mapping."""
        if value.kind == "constant":
            return _REPAIR.write(value.params["value"])
        return {value.kind: _written(value.kind, value.params, value.times)}

    def json_schema(self) -> dict[str, Any]:
        """A text or a mapping."""
        kinds = {
            kind: {
                "type": "object",
                "properties": {name: _schema(name, family) for name in family.names},
                "additionalProperties": False,
            }
            for kind, family in FAMILIES.items()
        }
        # Open: a user's own distributions have names that no schema knows.
        mapping = {
            "type": "object",
            "properties": kinds,
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": {"type": "object"},
        }
        return {"anyOf": [_REPAIR.json_schema(), mapping]}


def _all(families: Mapping[str, Family]) -> str:
    return f"a time, or one of {listed(list(families))}"


def _schema(name: str, family: Family) -> dict[str, Any]:
    if name in family.nested:
        return {"type": "array", "items": {"type": "object"}, "minItems": 1}
    one = (_SPAN if name in family.times else _POSITIVE).json_schema()
    return {"type": "array", "items": one, "minItems": 1} if name in family.lists else one


def _written(kind: str, params: Mapping[str, Any], times: Collection[str]) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for name, value in params.items():
        writer = Quantity(TIME, word="never") if name in times else _POSITIVE
        if not isinstance(value, tuple):
            written[name] = writer.write(value)
        elif value and isinstance(value[0], dict):
            written[name] = [_written_component(item) for item in value]
        else:
            written[name] = [writer.write(item) for item in value]
    return written


def _written_component(component: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    ((kind, params),) = component.items()
    return {kind: _written(kind, params, FAMILIES[kind].times if kind in FAMILIES else ())}


def reader_of(kind: str, name: str, family: Family) -> Quantity | Number:
    """How a parameter of a distribution is read."""
    if kind == "constant":
        return _REPAIR
    return _SPAN if name in family.times else _POSITIVE


def _several(kind: str, name: str, value: Any, family: Family, context: Any) -> tuple[Any, ...]:
    """The items of a list of numbers or of distributions."""
    what = "distributions" if name in family.nested else "values"
    if not isinstance(value, list | tuple) or not value:
        raise refuse(shown(value), f"a list of {what}")
    items: list[Any] = []
    faults: list[Fault] = []
    for index, raw in enumerate(value):
        try:
            if name in family.nested:
                spec = Repair().read(raw, context)
                items.append({spec.kind: spec.params})
            else:
                reader = Quantity(TIME) if name in family.times else Number(Range(0.0))
                items.append(reader.read(raw))
        except PydanticCustomError as error:
            faults += [((index, *at), found, allowed) for at, found, allowed in faults_of(error)]
    if faults:
        raise refuse_all(faults)
    return tuple(items)


def _parameters(kind: str, raw: Any, family: Family, context: Any) -> dict[str, Any]:
    takes = f"{kind} takes {' or '.join(' and '.join(form) for form in family.forms)}"
    if not isinstance(raw, dict):
        raise refuse_all([((kind,), shown(raw), takes)])
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for name, value in raw.items():
        if name not in family.names:
            near = suggestion(name, family.names)
            faults.append(((kind, name), f'unknown parameter "{name}"', near + takes))
            continue
        try:
            if name in family.lists | family.nested:
                values[name] = _several(kind, name, value, family, context)
            else:
                values[name] = reader_of(kind, name, family).read(value)
        except PydanticCustomError as error:
            faults += [
                ((kind, name, *at), found, allowed) for at, found, allowed in faults_of(error)
            ]
    if not faults and set(values) not in [set(form) for form in family.forms]:
        faults.append(((kind,), listed(list(values), "and") or "no parameters", takes))
    if faults:
        raise refuse_all(faults)
    return values
