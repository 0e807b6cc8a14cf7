"""Uncertain inputs: a number given as a range or as a distribution.

Every number of a scenario may be ``{low: 5 s, high: 20 s}``, all between alike likely (of whole
numbers each, its ends included), or one of ``FAMILIES``. A scenario stands at the medians; a study
draws a value for each replication.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

from pydantic_core import PydanticCustomError

from ddsim.naming import listed, shown, suggestion
from ddsim.scenario.contents import Contents
from ddsim.scenario.document import Document, Override
from ddsim.scenario.errors import Problem
from ddsim.scenario.families import Family
from ddsim.scenario.fields import Kind, Number, Quantity, Range, faults_of
from ddsim.scenario.paths import Slot, UnknownPathError, below, resolve
from ddsim.scenario.recovery import Saves
from ddsim.scenario.repair import Repair, reader_of
from ddsim.scenario.section import Section
from ddsim.scenario.stalls import Span
from ddsim.scenario.tree import Entry, Path, dotted, plain, put
from ddsim.scenario.units import TIME

EDGE = 1e-4
"""Quantiles below this and above its complement are cut off."""

Parameters = Mapping[str, float]
_STANDARD = NormalDist()


def _triangular(p: Parameters, q: float) -> float:
    low, mode, high = p["low"], p["mode"], p["high"]
    turn = (mode - low) / (high - low)
    if q < turn:
        return low + math.sqrt(q * (high - low) * (mode - low))
    return high - math.sqrt((1.0 - q) * (high - low) * (high - mode))


FAMILIES: Mapping[str, tuple[tuple[str, ...], Callable[[Parameters, float], float]]] = {
    "uniform": (("low", "high"), lambda p, q: p["low"] + q * (p["high"] - p["low"])),
    "loguniform": (("low", "high"), lambda p, q: p["low"] * (p["high"] / p["low"]) ** q),
    "triangular": (("low", "mode", "high"), _triangular),
    "normal": (("mean", "sd"), lambda p, q: p["mean"] + p["sd"] * _STANDARD.inv_cdf(q)),
    "lognormal": (
        ("median", "sigma"),
        lambda p, q: p["median"] * math.exp(p["sigma"] * _STANDARD.inv_cdf(q)),
    ),
}
"""Distributions of an uncertain input: their parameters, and their quantiles."""

_ALLOWED = (
    "a range {low: ..., high: ...}, or one of "
    + listed([f"{{{name}: {{{', '.join(takes)}}}}}" for name, (takes, _) in FAMILIES.items()])
    + ", each with the unit of the number"
)


@dataclass(frozen=True)
class Uncertain:
    """One uncertain input: where it stands, how it is distributed, and as it was written."""

    path: str
    family: str
    parameters: dict[str, float]
    kind: Kind = field(compare=False, repr=False)
    raw: Any = field(compare=False, repr=False)

    def number(self, quantile: float) -> float:
        """The quantile in the base unit; the outermost ten-thousandths are cut off."""
        cut = min(max(quantile, EDGE), 1.0 - EDGE)
        whole = getattr(self.kind, "whole", False)
        if whole and self.family == "uniform":
            low, high = round(self.parameters["low"]), round(self.parameters["high"])
            return float(low + math.ceil(cut * (high - low + 1)) - 1)  # each as often
        value = FAMILIES[self.family][1](self.parameters, cut)
        return float(round(value)) if whole else value

    def value(self, quantile: float) -> object:
        """The quantile as a scenario spells it."""
        return self.spelled(self.number(quantile))

    def spelled(self, number: float) -> object:
        """A number in the base unit as a scenario spells it."""
        if isinstance(self.kind, Saves):
            return Quantity(TIME).write(number)
        return self.kind.write(number)


@dataclass
class _Finds:
    """What a walk over the values came upon."""

    document: Document
    families: Mapping[str, Family]
    inputs: list[Uncertain] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def median(self, entry: Entry, kind: Kind, path: Path) -> Entry:
        """The entry of a number: its median where it is uncertain, else as it is."""
        if not isinstance(entry.value, dict):
            return entry
        try:
            found = _read(plain(entry), kind, dotted(path))
        except _RefusedError as error:
            self.problems.append(
                self.document.problem(entry.at, dotted(path), error.found, error.allowed)
            )
            return entry
        self.inputs.append(found)
        return Entry(found.value(0.5), entry.at, entry.key)


class _RefusedError(Exception):
    def __init__(self, found: str, allowed: str) -> None:
        self.found, self.allowed = found, allowed


def settle(
    document: Document, families: Mapping[str, Family]
) -> tuple[Document, tuple[Uncertain, ...], list[Problem]]:
    """The document at the medians of its uncertain inputs; these inputs; what is wrong with them.

    Inputs that the settings of one method give are at their medians too, and are among the inputs
    of that method's own scenario alone.
    """
    finds = _Finds(document, families)
    root = _methods_at_medians(_section(document.root, Contents, (), finds), finds)
    overrides = tuple(_at_medians(item, finds) for item in document.overrides)
    calm = dataclasses.replace(document, root=root, overrides=overrides)
    if not finds.inputs and not finds.problems:
        return document, (), []
    in_force = _Finds(document, finds.families)
    _section(document.tree()[0], Contents, (), in_force)
    return calm, tuple(in_force.inputs), finds.problems


def settled(override: Override, families: Mapping[str, Family]) -> Override:
    """An override at the medians of what it gives; what is wrong is left as it is."""
    empty = Document("", Entry({}, override.value.at))
    return _at_medians(override, _Finds(empty, families))


def _at_medians(override: Override, finds: _Finds) -> Override:
    return dataclasses.replace(override, value=_below(override.value, override.path, finds))


def _section(entry: Entry, section: type[Section], path: Path, finds: _Finds) -> Entry:
    """A mapping with every number under it at its median."""
    if not isinstance(entry.value, dict):
        return entry
    for key, name in section.keys().items():
        item = entry.value.get(key)
        if item is not None:
            new = _field(item, Slot("", section, name), (*path, key), finds)
            if new is not item:
                entry = put(entry, (key,), new)
    return entry


def _field(entry: Entry, slot: Any, path: Path, finds: _Finds) -> Entry:
    under = below(slot)
    if under is not None:
        section, step = under
        if not step:
            return _section(entry, section, path, finds)
        for part, item in _items(entry):
            new = _section(item, section, (*path, part), finds)
            if new is not item:
                entry = put(entry, (part,), new)
        return entry
    if isinstance(slot.kind, Span) and isinstance(entry.value, dict):
        spread = {"low", "high", *FAMILIES}
        return finds.median(entry, slot.kind, path) if spread & set(entry.value) else entry
    if isinstance(slot.kind, Repair):
        return _distribution(entry, path, finds)
    if path == ("seed",):
        return entry  # streams are what inputs are drawn from
    return finds.median(entry, slot.kind, path) if _numeric(slot.kind) else entry


def _items(entry: Entry) -> Iterator[tuple[str | int, Entry]]:
    if isinstance(entry.value, dict):
        yield from entry.value.items()
    elif isinstance(entry.value, tuple):
        yield from enumerate(entry.value)


def _distribution(entry: Entry, path: Path, finds: _Finds) -> Entry:
    """The parameters of a repair or lifetime, each of which may itself be uncertain."""
    if not isinstance(entry.value, dict):
        return entry
    if set(entry.value) == {"low", "high"}:
        return finds.median(entry, Quantity(TIME), path)
    for name, parameters in entry.value.items():
        family = finds.families.get(name)
        if family is None or not isinstance(parameters.value, dict):
            continue
        for key, item in parameters.value.items():
            if key in family.names:
                kind = reader_of(name, key, family)
                new = finds.median(item, kind, (*path, name, key))
                entry = put(entry, (name, key), new) if new is not item else entry
    return entry


def _below(entry: Entry, text: str, finds: _Finds) -> Entry:
    """The value of a dotted path at its medians."""
    try:
        path = resolve(text)
    except UnknownPathError:
        return entry
    section: type[Section] = Contents
    step, slot = "", None
    for depth, part in enumerate(path):
        if step:
            step = ""
            continue
        slot = Slot("", section, section.keys()[str(part)])
        under = below(slot)
        if under is None:
            rest = path[depth + 1 :]
            if rest:
                return _parameter(entry, rest, path, finds)
            break
        section, step = under
    else:
        if not step and slot is not None and not below(slot)[1]:  # type: ignore[index]
            return _section(entry, section, path, finds)
    return entry if slot is None else _field(entry, slot, path, finds)


def _parameter(entry: Entry, rest: Path, path: Path, finds: _Finds) -> Entry:
    family = finds.families.get(str(rest[0]))
    if len(rest) != 2 or family is None or rest[1] not in family.names:
        return entry
    return finds.median(entry, reader_of(str(rest[0]), str(rest[1]), family), path)


def _methods_at_medians(root: Entry, finds: _Finds) -> Entry:
    methods = root.value.get("methods") if isinstance(root.value, dict) else None
    if methods is None:
        return root
    places: list[tuple[Path, Entry]] = []
    for part, item in _items(methods):
        if isinstance(methods.value, dict):
            places.append((("methods", part), item))
        else:
            places += [(("methods", part, name), inner) for name, inner in _items(item)]
    for where, settings in places:
        if isinstance(settings.value, dict):
            for text, value in settings.value.items():
                new = _below(value, text, finds)
                root = put(root, (*where, text), new) if new is not value else root
    return root


def _numeric(kind: Kind | None) -> bool:
    return isinstance(kind, Quantity | Number | Saves)


def _readers(kind: Kind) -> tuple[Kind, Kind]:
    """How a value is read, and how a spread is; whole numbers may be spread by fractions."""
    if isinstance(kind, Saves):
        kind = Quantity(TIME, Range(0.0, above=True))
    spread = Range(0.0, above=True)
    if isinstance(kind, Quantity):
        return dataclasses.replace(kind, word=None), Quantity(kind.dimension, spread)
    assert isinstance(kind, Number)
    return dataclasses.replace(kind, whole=False), Number(spread)


def _read(raw: Any, kind: Kind, path: str) -> Uncertain:
    family, given = _family(raw, kind)
    takes = FAMILIES[family][0]
    if not isinstance(given, dict) or set(given) != set(takes):
        what = listed(list(map(str, given)), "and") if isinstance(given, dict) else shown(given)
        raise _RefusedError(what or "no parameters", f"{family} takes {listed(takes, 'and')}")
    value, spread = _readers(kind)
    readers = {"sd": spread, "sigma": Number(Range(0.0, above=True))}
    numbers: dict[str, float] = {}
    for name in takes:
        try:
            numbers[name] = readers.get(name, value).read(given[name])
        except PydanticCustomError as error:
            _, found, allowed = faults_of(error)[0]
            raise _RefusedError(f"{name}: {found}", allowed) from None
    _ordered(family, numbers, given)
    made = Uncertain(path, family, numbers, kind, raw)
    for quantile in (0.0, 1.0):
        try:
            kind.read(made.value(quantile))
        except PydanticCustomError as error:
            _, found, allowed = faults_of(error)[0]
            raise _RefusedError(f"{family} that reaches {found}", allowed) from None
    return made


def _family(raw: dict[str, Any], kind: Kind) -> tuple[str, Any]:
    if {"low", "high"} & set(raw):
        return "uniform", raw
    if len(raw) == 1:
        ((name, given),) = raw.items()
        if name in FAMILIES:
            return name, given
        if isinstance(given, dict):
            near = suggestion(name, FAMILIES)
            raise _RefusedError(f"unknown distribution {shown(name)}", f"{near}{_ALLOWED}")
    number = getattr(kind, "allowed", "a number")
    raise _RefusedError(shown(raw), f"{number}, or {_ALLOWED}")


def _ordered(family: str, numbers: Parameters, given: Mapping[str, Any]) -> None:
    if "low" not in numbers:
        return
    ascending = [numbers[name] for name in FAMILIES[family][0]]
    if ascending != sorted(ascending) or numbers["low"] == numbers["high"]:
        words = " to ".join(str(given[name]) for name in FAMILIES[family][0])
        raise _RefusedError(words, "low has to lie below high")
    if family == "loguniform" and numbers["low"] <= 0.0:
        raise _RefusedError(f"low: {given['low']}", "above 0, where the logarithm exists")
