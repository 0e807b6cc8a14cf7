"""``methods``, ``study`` and ``python``: what to run, what to vary, and a user's own files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic_core import PydanticCustomError

from ddsim.naming import shown
from ddsim.scenario.fields import Fault, Kind, Text, faults_of, refuse, refuse_all

DEFAULT_METHODS = (
    "data_parallel",
    "elastic_data_parallel",
    "diloco",
    "streaming_diloco",
    "decoupled_diloco",
)
"""The methods that a scenario runs unless it says otherwise."""


@dataclass(frozen=True)
class MethodSpec:
    """A method to run, and the settings for it alone: dotted paths and values as given."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)


class Methods(Kind):
    """Names, or ``name: {path: value}``, in a list or as one mapping."""

    allowed = "a list of method names, or a mapping of names to their settings {path: value}"

    def read(self, value: Any, context: Any = None) -> tuple[MethodSpec, ...]:
        """The methods in the order given."""
        if isinstance(value, dict) and value:
            return _named([((name,), name, settings) for name, settings in value.items()])
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list | tuple) or not value:
            raise refuse(shown(value), self.allowed)
        items = [item for index, raw in enumerate(value) for item in _items(index, raw)]
        if not items:
            raise refuse("a list without a name in it", self.allowed)
        return _named(items)

    def write(self, value: Any) -> Any:
        """A list; methods with settings as mappings."""
        return [{spec.name: dict(spec.settings)} if spec.settings else spec.name for spec in value]

    def json_schema(self) -> dict[str, Any]:
        """A list or a mapping."""
        named = {"type": "object", "additionalProperties": {"type": ["object", "null"]}}
        items = {"anyOf": [{"type": "string"}, named]}
        return {"anyOf": [{"type": "array", "items": items, "minItems": 1}, named]}


_ONCE = (
    "each method once; two settings of one are cells of a study, as by ddsim sweep --vary "
    "training.policy=fixed,bandwidth_following"
)
_Item = tuple[tuple[str | int, ...], Any, Any]


def _items(index: int, raw: Any) -> list[_Item]:
    if isinstance(raw, dict):
        return [((index, name), name, settings) for name, settings in raw.items()]
    return [((index,), raw, None)]


def _named(items: list[_Item]) -> tuple[MethodSpec, ...]:
    specs: dict[str, MethodSpec] = {}
    faults: list[Fault] = []
    for at, name, settings in items:
        if not isinstance(name, str) or not name.strip():
            faults.append((at, shown(name), "a method's name"))
        elif settings is not None and not isinstance(settings, dict):
            faults.append((at, shown(settings), "a mapping of settings {path: value}"))
        elif name in specs:
            faults.append((at, f'"{name}" again', _ONCE))
        else:
            specs[name] = MethodSpec(name, settings or {})
    if faults:
        raise refuse_all(faults)
    return tuple(specs.values())


class Study(Kind):
    """Scenario paths and the values that a sweep gives them; those of one method under its name."""

    allowed = "a mapping of scenario paths to lists of values"

    def read(self, value: Any, context: Any = None) -> dict[str, Any]:
        """The values of each path, as given; a mapping of them for a method."""
        if not isinstance(value, dict):
            raise refuse(shown(value), self.allowed)
        faults: list[Fault] = []
        for key, values in value.items():
            inner = values.items() if isinstance(values, dict) and values else [(None, values)]
            for path, listed in inner:
                if not isinstance(listed, list | tuple) or not listed:
                    at = (key,) if path is None else (key, path)
                    faults.append((at, shown(listed), "a list of values"))
        if faults:
            raise refuse_all(faults)
        return {key: _tuples(values) for key, values in value.items()}

    def write(self, value: Any) -> Any:
        """Lists again."""
        return {
            key: self.write(values) if isinstance(values, dict) else list(values)
            for key, values in value.items()
        }

    def json_schema(self) -> dict[str, Any]:
        """A mapping of lists, or of mappings of lists."""
        values = {"type": "array", "minItems": 1}
        own = {"type": "object", "additionalProperties": values}
        return {"type": "object", "additionalProperties": {"anyOf": [values, own]}}


def _tuples(values: Any) -> Any:
    if isinstance(values, dict):
        return {path: tuple(inner) for path, inner in values.items()}
    return tuple(values)


class Files(Kind):
    """A list of file names."""

    def read(self, value: Any, context: Any = None) -> tuple[str, ...]:
        """The names as given."""
        raw = [value] if isinstance(value, str) else value
        if not isinstance(raw, list | tuple):
            raise refuse(shown(value), "a list of Python files")
        faults: list[Fault] = []
        for index, name in enumerate(raw):
            try:
                Text("a Python file").read(name)
            except PydanticCustomError as error:
                faults += [((index,), found, allowed) for _, found, allowed in faults_of(error)]
        if faults:
            raise refuse_all(faults)
        return tuple(raw)

    def write(self, value: Any) -> Any:
        """A list."""
        return list(value)

    def json_schema(self) -> dict[str, Any]:
        """An array of strings."""
        return {"type": "array", "items": {"type": "string"}}
