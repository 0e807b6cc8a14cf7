"""What varies, as the command line, Python and a scenario's `study` say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import inf
from typing import Any

from pydantic_core import PydanticCustomError

from ddsim.naming import listed, suggestion
from ddsim.scenario import Problem, Scenario, ScenarioError
from ddsim.scenario.fields import Number, Quantity
from ddsim.scenario.paths import UnknownPathError, resolve, slots
from ddsim.scenario.reading import UnreadableError, read_tree
from ddsim.scenario.tree import child, plain
from ddsim.scenario.units import TIME, QuantityError, read_quantity
from ddsim.study.grid import Axis, Label, Level

Vary = Mapping[str, Any] | Sequence[str]
_FORM = 'PATH=V1,V2,..., such as network.bandwidth="1 Gbit/s,5 Gbit/s"'
_NOT_VARIED = {
    "methods": "choose them with --method, or list them in the scenario",
    "study": "vary what it varies",
    "python": "all cells share the scenario's files",
    "name": "all cells share it",
    "description": "all cells share it",
    "seed": "replications have histories of their own: --replications",
}


def axes_of(scenario: Scenario, vary: Vary | None = None) -> tuple[Axis, ...]:
    """The axes that `vary` names; those of the scenario's own `study` where it is None.

    `vary` is a mapping of paths to values, with a mapping under a method's name for what varies
    for it alone, or texts `PATH=V1,V2`. Raises ScenarioError for paths that do not exist, empty
    lists and values given twice; whether a value fits its path shows when the grid is built.
    """
    chosen = {spec.name for spec in scenario.methods}
    raw: list[tuple[str | None, str, Any, str]]
    problems: list[Problem] = []
    if vary is None:
        raw = [
            (method, path, values, f"study {path}")
            for method, path, values in _entries(scenario.study or {})
            if method is None or method in chosen
        ]
    elif isinstance(vary, Mapping):
        raw = [(m, p, v, f"--vary {p}={_inline(v)}") for m, p, v in _entries(vary)]
        for name in dict.fromkeys(m for m, *_ in raw if m is not None and m not in chosen):
            found = f'values for the method "{name}"'
            allowed = f"{suggestion(name, chosen)}{listed(sorted(chosen))}"
            problems.append(Problem(f"--vary {name}", None, None, name, found, allowed))
    else:
        raw = []
        for text in [vary] if isinstance(vary, str) else vary:
            try:
                raw.append((None, *_parsed(text), f"--vary {text}"))
            except ScenarioError as error:
                problems += error.problems
    axes: list[Axis] = []
    for method, path, values, origin in raw:
        wrong = _wrong(path, values, [axis.name for axis in axes if axis.method == method])
        if wrong is None:
            axes.append(Axis(path, tuple(_level(path, value) for value in values), method))
        else:
            problems.append(Problem(origin, None, None, path, *wrong))
    problems += _twice(axes)
    if problems:
        raise ScenarioError(problems)
    return tuple(axes)


def first_values(texts: Sequence[str]) -> list[tuple[str, Label]]:
    """Each path of texts `PATH=V1,V2` with its first value; none of texts that are no such."""
    found: list[tuple[str, Label]] = []
    for text in texts:
        try:
            path, values = _parsed(text)
        except ScenarioError:
            continue
        found += [(path, _label(value)) for value in values[:1]]
    return found


def _entries(vary: Mapping[str, Any]) -> list[tuple[str | None, str, Any]]:
    entries: list[tuple[str | None, str, Any]] = []
    for key, values in vary.items():
        if isinstance(values, Mapping):
            entries += [(str(key), str(path), own) for path, own in values.items()]
        else:
            entries.append((None, str(key), values))
    return entries


def _inline(values: Any) -> str:
    text = ",".join(map(str, values)) if isinstance(values, list | tuple) else str(values)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _parsed(text: str) -> tuple[str, Any]:
    """`PATH=V1,V2`; the values are read as the items of a YAML list."""
    path, sign, values = text.partition("=")
    option = f"--vary {text}"
    if not sign or not path.strip():
        found = "no path" if sign else "no ="
        raise ScenarioError([Problem(option, None, None, path.strip(), found, _FORM)])
    try:
        tree, problems = read_tree(f"value: [{values}]", "")
    except UnreadableError as error:
        problems, tree = error.problems, None
    entry = child(tree, "value") if tree is not None else None
    if problems or entry is None or not isinstance(entry.value, tuple):
        found = f'"{values}", not a list of values'
        raise ScenarioError([Problem(option, None, None, path.strip(), found, _FORM)])
    return path.strip(), plain(entry)


def _wrong(path: str, values: Any, earlier: Sequence[str]) -> tuple[str, str] | None:
    """What is wrong with an axis, and what is allowed."""
    try:
        resolve(path)
    except UnknownPathError as error:
        return error.found, error.allowed
    if path in _NOT_VARIED:
        return f'"{path}" cannot vary', _NOT_VARIED[path]
    if path in earlier:
        return "the same path again", "each path once, with all its values"
    if not isinstance(values, list | tuple):
        return f"{values!r}, not a list", "a list of values"
    if not values or any(value is None or value == "" for value in values):
        return "an empty list" if not values else "an empty value", _FORM
    labels = [_label(value) for value in values]
    for index, label in enumerate(labels):
        if label in labels[:index]:
            return f"{label} a second time", "each value once"
    return None


def _twice(axes: Sequence[Axis]) -> list[Problem]:
    shared = {axis.name for axis in axes if axis.method is None}
    return [
        Problem(
            f"--vary {axis.name}",
            None,
            None,
            axis.name,
            f"values for all methods and for {axis.method}",
            "one of the two",
        )
        for axis in axes
        if axis.method is not None and axis.name in shared
    ]


def _level(path: str, value: Any) -> Level:
    return Level(_label(value), {path: value})


def _label(value: Any) -> Label:
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_label(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(str(_label(item)) for item in value) + "]"
    plain_value = value.item() if hasattr(value, "item") else value
    return plain_value if isinstance(plain_value, str | bool | int | float) else str(value)


def in_base_unit(path: str, label: Label) -> tuple[float, str] | None:
    """A label in the base unit of its path, and that unit; None where it is no quantity."""
    kind = _kind(path)
    if not isinstance(kind, Quantity):
        return None
    try:
        return float(kind.read(label)), kind.unit
    except PydanticCustomError:
        return None


def number_of(path: str, label: Label) -> float | None:
    """A label as a number, of a quantity or a time that in its base unit; None for all else."""
    known = in_base_unit(path, label)
    if known is not None:
        return known[0]
    if isinstance(label, str):
        try:
            return read_quantity(label, TIME)  # checkpoint.interval takes steps besides
        except QuantityError:
            return None
    return None if isinstance(label, bool) else float(label)


def bounds_of(path: str) -> tuple[float, float]:
    """The least and the largest number that a path takes; infinite where it has no bound."""
    kind = _kind(path)
    if isinstance(kind, Quantity | Number):
        return kind.range.least, kind.range.most
    return -inf, inf


@cache
def _kind(path: str) -> object:
    try:
        parts = resolve(path)
    except UnknownPathError:
        return None
    if parts[:2] == ("network", "regions") and len(parts) > 2:
        parts = (*parts[:2], "NAME", *parts[3:])
    general = ".".join("N" if isinstance(part, int) else part for part in parts)
    return next((slot.kind for slot in slots(Scenario) if slot.path == general), None)
