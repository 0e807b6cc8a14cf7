"""Lengths of stalls: a time, named phases, a table by chips, or a distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticCustomError

from ddsim.naming import listed, shown, suggestion
from ddsim.scenario.fields import Fault, Quantity, faults_of, refuse, refuse_all
from ddsim.scenario.repair import Repair, RepairSpec
from ddsim.scenario.units import read_number

FORMS = ("phases", "by_chips", "drawn")
"""The keys of a stall that is more than a time."""


@dataclass(frozen=True)
class Table:
    """Seconds by chips, in ascending order of chips."""

    chips: tuple[int, ...]
    seconds: tuple[float, ...]

    def at(self, chips: float) -> float:
        """Linear in the logarithm of chips; outside the table its nearest row holds."""
        if chips <= self.chips[0]:
            return self.seconds[0]
        for low, high, before, after in zip(
            self.chips, self.chips[1:], self.seconds, self.seconds[1:], strict=False
        ):
            if chips <= high:
                share = math.log(chips / low) / math.log(high / low)
                return before + share * (after - before)
        return self.seconds[-1]

    def holds(self, chips: float) -> bool:
        """Whether the table reaches to so many chips."""
        return self.chips[0] <= chips <= self.chips[-1]


_RANGE = "{low: ..., high: ...} for an uncertain input"
Part = float | Table | RepairSpec
"""Seconds, seconds by chips, or a distribution of seconds."""


@dataclass(frozen=True)
class Stall:
    """Parts by name, which are summed; one that has no phases has one part, named ""."""

    parts: tuple[tuple[str, Part], ...]

    @property
    def fixed(self) -> bool:
        """Whether nothing of it is drawn."""
        return not any(isinstance(part, RepairSpec) for _, part in self.parts)

    def tables(self) -> list[Table]:
        """The tables among the parts."""
        return [part for _, part in self.parts if isinstance(part, Table)]

    def drawn(self) -> list[RepairSpec]:
        """The distributions among the parts."""
        return [part for _, part in self.parts if isinstance(part, RepairSpec)]

    def seconds(self, chips: float) -> float:
        """The sum for so many chips, without what is drawn."""
        return math.fsum(
            part.at(chips) if isinstance(part, Table) else part
            for _, part in self.parts
            if not isinstance(part, RepairSpec)
        )


Length = float | Stall
"""A stall's length in seconds, or what it is made of."""


def seconds_of(length: Length, chips: float) -> float:
    """Seconds of a length of which nothing is drawn, for so many chips."""
    return length.seconds(chips) if isinstance(length, Stall) else length


def _under(at: tuple[str | int, ...], error: PydanticCustomError) -> list[Fault]:
    """The faults of a value that stands under `at`."""
    return [((*at, *deep), found, allowed) for deep, found, allowed in faults_of(error)]


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of a mapping that has one of the properties."""
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }


@dataclass(frozen=True)
class Span(Quantity):
    """A time; ``{phases: {name: ...}}``, ``{by_chips: {chips: time}}``, ``{drawn: ...}``.

    A plain distribution stays what it is for every quantity: an uncertain input, the same at every
    stall of a run. With ``drawn`` each stall has a length of its own.
    """

    def read(self, value: Any, context: Any = None) -> Any:
        """Seconds, or a `Stall`."""
        if not isinstance(value, Mapping):
            return super().read(value, context)
        if set(value) == {"phases"}:
            return self._phases(value["phases"], context)
        return Stall((("", self._part(value, context)),))

    def _phases(self, raw: Any, context: Any) -> Stall:
        if not isinstance(raw, Mapping) or not raw:
            raise refuse_all([(("phases",), shown(raw), "name: time, for each phase")])
        parts: list[tuple[str, Part]] = []
        faults: list[Fault] = []
        for name, value in raw.items():
            try:
                parts.append((str(name), self._part(value, context, phase=True)))
            except PydanticCustomError as error:
                faults += _under(("phases", name), error)
        if faults:
            raise refuse_all(faults)
        return Stall(tuple(parts))

    def _part(self, raw: Any, context: Any, *, phase: bool = False) -> Part:
        if not isinstance(raw, Mapping):
            return super().read(raw, context)
        if set(raw) == {"by_chips"}:
            return self._table(raw["by_chips"])
        if set(raw) == {"drawn"}:
            return self._drawn(raw["drawn"], context)
        found = ", ".join(map(str, raw)) or "nothing"
        near = suggestion(next(iter(raw), ""), FORMS)
        allowed = f"{near}{self.allowed}, one of {listed(FORMS)}, or a range {_RANGE}"
        if phase:  # an uncertain input is a whole field, which a phase is not
            allowed = f"{self.allowed}, or {listed(FORMS[1:])}; a phase takes no range"
        raise refuse(found, allowed)

    def _drawn(self, raw: Any, context: Any) -> RepairSpec:
        try:
            return Repair().read(raw, context)
        except PydanticCustomError as error:
            raise refuse_all(_under(("drawn",), error)) from None

    def _table(self, raw: Any) -> Table:
        if not isinstance(raw, Mapping) or not raw:
            raise refuse_all([(("by_chips",), shown(raw), "chips: time, for each size")])
        rows: dict[int, float] = {}
        faults: list[Fault] = []
        for key, value in raw.items():
            at = ("by_chips", key)
            chips = read_number(key) if isinstance(key, str) else key
            if chips is None or isinstance(chips, bool) or chips < 1 or chips != int(chips):
                faults.append((at, shown(key), "a number of chips, at least 1"))
                continue
            if int(chips) in rows:
                faults.append((at, f"{int(chips)} chips again", "each size once"))
            try:
                rows[int(chips)] = super().read(value)
            except PydanticCustomError as error:
                faults += _under(at, error)
        if faults:
            raise refuse_all(faults)
        ordered = sorted(rows.items())
        return Table(tuple(chips for chips, _ in ordered), tuple(time for _, time in ordered))

    def write(self, value: Any) -> Any:
        """A time, or the mapping that `read` takes."""
        if not isinstance(value, Stall):
            return super().write(value)
        if [name for name, _ in value.parts] == [""]:
            return self._written(value.parts[0][1])
        return {"phases": {name: self._written(part) for name, part in value.parts}}

    def _written(self, part: Part) -> Any:
        if isinstance(part, Table):
            rows = zip(part.chips, part.seconds, strict=True)
            return {"by_chips": {str(chips): super(Span, self).write(time) for chips, time in rows}}
        if isinstance(part, RepairSpec):
            return {"drawn": Repair().write(part)}
        return super().write(part)

    def json_schema(self) -> dict[str, Any]:
        """A text, or a mapping of one of the forms."""
        time = super().json_schema()
        table = {"type": "object", "additionalProperties": time, "minProperties": 1}
        one: dict[str, Any] = {"by_chips": table, "drawn": Repair().json_schema()}
        phases = {
            "type": "object",
            "additionalProperties": {"anyOf": [time, _closed(one)]},
            "minProperties": 1,
        }
        every = _closed({**one, "phases": phases})
        return {"anyOf": [time, every]}
