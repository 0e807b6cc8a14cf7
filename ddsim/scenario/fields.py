"""The kinds of value that a scenario's fields take.

Each kind is a marker in ``Annotated[...]`` that reads a raw YAML or Python value, describes itself
to an editor, and writes a value back as a scenario spells it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticCustomError, core_schema

from ddsim.naming import listed, shown, suggestion
from ddsim.scenario.units import (
    LONGEST,
    NUMBER_ALLOWED,
    Dimension,
    QuantityError,
    count_meant,
    read_number,
    read_quantity,
    write_number,
    write_quantity,
)

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo

Fault = tuple[tuple[str | int, ...], str, str]
"""Where inside the value, what was found, what is allowed."""

WHOLE = "whole characters, which UTF-8 can spell"
"""What a text is to be made of that names a file, or is written into one."""


def refuse(found: str, allowed: str) -> PydanticCustomError:
    """The error that refuses a field's value."""
    return refuse_all([((), found, allowed)])


def whole_text(text: str) -> str:
    """The text with a question mark for each half of a character, which no file can hold."""
    return text.encode("utf-8", "replace").decode()


def refuse_all(faults: Sequence[Fault]) -> PydanticCustomError:
    """The error that refuses a field's value for several faults inside it."""
    return PydanticCustomError("refused", "refused", {"faults": list(faults)})


def faults_of(error: PydanticCustomError) -> list[Fault]:
    """The faults that `refuse` or `refuse_all` put into the error."""
    faults: list[Fault] = (error.context or {})["faults"]
    return faults


# Every number may be a range or a distribution; ddsim.scenario.uncertain says which.
_UNCERTAIN = {"type": "object", "minProperties": 1, "maxProperties": 2}


class Kind(ABC):
    """What a field takes: how it is read, described and written."""

    unit: str = ""

    @abstractmethod
    def read(self, value: Any, context: Any = None) -> Any:
        """The field's value; raises the error of `refuse` for anything that does not fit."""

    @abstractmethod
    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of what may stand in a file."""

    def write(self, value: Any) -> Any:
        """``value`` as it stands in a file."""
        return value

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        def read(value: Any, info: ValidationInfo) -> Any:
            return self.read(value, info.context)

        return core_schema.with_info_plain_validator_function(read)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        own = self.json_schema()
        return {"anyOf": [own, _UNCERTAIN]} if isinstance(self, Quantity | Number) else own


@dataclass(frozen=True)
class Range:
    """The numbers that fit: bounds, and whether each bound itself fits."""

    least: float = -math.inf
    most: float = math.inf
    above: bool = False
    below: bool = False

    def holds(self, value: float) -> bool:
        """Whether ``value`` fits."""
        over = value > self.least if self.above else value >= self.least
        under = value < self.most if self.below else value <= self.most
        return over and under

    def words(self, write: Any) -> str:
        """The range in words, bounds written by ``write``."""
        parts = []
        if self.least > -math.inf:
            parts.append(f"{'above' if self.above else 'at least'} {write(self.least)}")
        if self.most < math.inf:
            parts.append(f"{'below' if self.below else 'at most'} {write(self.most)}")
        return " and ".join(parts)


@dataclass(frozen=True)
class Quantity(Kind):
    """A number with a unit, or a ``word`` ("never", "unlimited") that stands for infinity."""

    dimension: Dimension
    range: Range = Range(0.0)
    word: str | None = None

    @property
    def unit(self) -> str:  # type: ignore[override]
        """The base unit in which ddsim computes."""
        return self.dimension.base

    @property
    def allowed(self) -> str:
        """What fits, in words."""
        word = f', or "{self.word}"' if self.word else ""
        return f"{self.dimension.help}{word}"

    def read(self, value: Any, context: Any = None) -> float:
        """The quantity in its base unit."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            raise refuse(_bare(value), self.allowed)
        if not isinstance(value, str):
            raise refuse(shown(value), self.allowed)
        if value.strip() == self.word:
            return math.inf
        try:
            number = read_quantity(value, self.dimension)
        except QuantityError as error:
            allowed = error.allowed.replace(self.dimension.help, self.allowed)
            raise refuse(error.found, allowed) from None
        if not self.range.holds(number):
            words = self.range.words(lambda bound: write_quantity(bound, self.dimension))
            raise refuse(shown(value), f"{words}: {self.allowed}")
        return number

    def write(self, value: Any) -> str:
        """The quantity in the unit that spells it shortest."""
        if value == math.inf and self.word:
            return self.word
        return write_quantity(value, self.dimension)

    def json_schema(self) -> dict[str, Any]:
        """A text with one of the units."""
        units = "|".join(self.dimension.units)
        word = f"|{self.word}" if self.word else ""
        pattern = rf"^(\s*[+-]?[0-9._]+([eE][+-]?[0-9]+)?\s*({units}){word})$"
        return {"type": "string", "pattern": pattern, "examples": [self.dimension.example]}


def _bare(value: float) -> str:
    if math.isnan(value) or math.isinf(value):
        return f"{value}, not a number to compute with"
    return f"{shown(value)}, a number without a unit"


@dataclass(frozen=True)
class Number(Kind):
    """A bare number in a range, whole where ``whole`` says so."""

    range: Range = Range()
    whole: bool = False
    unit: str = ""

    @property
    def allowed(self) -> str:
        """What fits, in words."""
        words = self.range.words(write_number)
        return f"{'a whole number' if self.whole else 'a number'}{', ' if words else ''}{words}"

    def read(self, value: Any, context: Any = None) -> float:
        """The number; an int where it is whole."""
        number = self._number(value)
        if math.isnan(number) or math.isinf(number):
            raise refuse(f"{shown(value)}, not a number to compute with", self.allowed)
        if self.whole and number != int(number):
            raise refuse(shown(value), self.allowed)
        if not self.range.holds(number):
            raise refuse(shown(value), self.allowed)
        return int(number) if self.whole else float(number)

    def _number(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise refuse(shown(value), self.allowed)
        if isinstance(value, str):
            return self._spelled(value)
        if isinstance(value, int) and abs(value) > 1e300:
            raise refuse("a number too large to compute with", self.allowed)
        return value

    def _spelled(self, text: str) -> float:
        if text.strip().lower().lstrip("+-.") in ("nan", "inf", "infinity"):
            raise refuse(f"{shown(text)}, not a number to compute with", self.allowed)
        number = read_number(text)
        if number is None:
            raise refuse(shown(text), f"{count_meant(text)}{self.allowed}{NUMBER_ALLOWED}")
        if len(text.strip()) > LONGEST:
            allowed = f"at most {LONGEST}: {self.allowed}"
            raise refuse(f"a number of {len(text.strip())} characters", allowed)
        return number

    def write(self, value: Any) -> Any:
        """Whole values without a point."""
        return int(value) if value == int(value) and abs(value) < 1e15 else value

    def json_schema(self) -> dict[str, Any]:
        """A number or integer with its bounds."""
        schema: dict[str, Any] = {"type": ["integer" if self.whole else "number", "string"]}
        schema["pattern"] = "^[0-9_.eE+-]+$"  # 1_000 is a text to many editors
        if self.range.least > -math.inf:
            schema["exclusiveMinimum" if self.range.above else "minimum"] = self.range.least
        if self.range.most < math.inf:
            schema["exclusiveMaximum" if self.range.below else "maximum"] = self.range.most
        return schema


def count(least: int = 1, most: float = math.inf) -> Number:
    """A whole number from ``least`` to ``most``."""
    return Number(Range(least, most), whole=True)


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, value: Any, context: Any = None) -> str:
        """The word."""
        if isinstance(value, str) and value in self.words:
            return value
        near = suggestion(value, self.words) if isinstance(value, str) else ""
        raise refuse(shown(value), f"{near}{listed(self.words)}")

    def json_schema(self) -> dict[str, Any]:
        """The words."""
        return {"enum": list(self.words)}


@dataclass(frozen=True)
class Text(Kind):
    """A text of at least one character."""

    what: str = "a text"
    empty: bool = False

    def read(self, value: Any, context: Any = None) -> str:
        """The text."""
        if not isinstance(value, str):
            raise refuse(shown(value), f"{self.what}, in quotes where YAML reads it otherwise")
        if not value.strip() and not self.empty:
            raise refuse("an empty text", self.what)
        if whole_text(value) != value:
            raise refuse(shown(value), f"{self.what}: {WHOLE}")
        return value

    def json_schema(self) -> dict[str, Any]:
        """A string."""
        return {"type": "string"}


@dataclass(frozen=True)
class Flag(Kind):
    """true or false."""

    def read(self, value: Any, context: Any = None) -> bool:
        """The truth value."""
        if not isinstance(value, bool):
            raise refuse(shown(value), "true or false")
        return value

    def json_schema(self) -> dict[str, Any]:
        """A boolean."""
        return {"type": "boolean"}
