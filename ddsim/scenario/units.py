"""Quantities with units: a closed set of units on a pint registry of their own.

Nothing but the units listed here is known, so that a misspelt or doubtful unit (``Gb``, ``m``) is
an error and never a guess. Inside ddsim everything is in the base unit of its dimension.
"""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddsim.naming import listed, shown, suggestion
from ddsim.scenario.near_units import readings_of_information, readings_of_time

if TYPE_CHECKING:
    import pint

# One line a unit, in pint's notation: name = value = symbol = alias ...
_DEFINITIONS = """
second = [time] = s = sec = seconds
microsecond = 1e-6 * second = us = µs = microseconds
millisecond = 1e-3 * second = ms = milliseconds
minute = 60 * second = min = minutes
hour = 3600 * second = h = hours
day = 86400 * second = d = days
week = 604800 * second = wk = weeks
year = 31557600 * second = yr = years
bit = [information] = bit = bits
kilobit = 1e3 * bit = kbit
megabit = 1e6 * bit = Mbit
gigabit = 1e9 * bit = Gbit
terabit = 1e12 * bit = Tbit
byte = 8 * bit = B = bytes
kilobyte = 8e3 * bit = kB
megabyte = 8e6 * bit = MB
gigabyte = 8e9 * bit = GB
terabyte = 8e12 * bit = TB
petabyte = 8e15 * bit = PB
FLOP = [compute] = FLOP
megaFLOP = 1e6 * FLOP = MFLOP
gigaFLOP = 1e9 * FLOP = GFLOP
teraFLOP = 1e12 * FLOP = TFLOP
petaFLOP = 1e15 * FLOP = PFLOP
exaFLOP = 1e18 * FLOP = EFLOP
dollar = [money] = USD
watt = [power] = W
kilowatt = 1e3 * watt = kW
"""

NUMBER = r"[+-]?(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(rf"\s*({NUMBER})\s*([A-Za-zµ]+(?:\s*/\s*[A-Za-zµ]+)?)?\s*")
_BYTES = re.compile(r"\s*([kMGTP]?)B\b|\bbytes?\b|byte")
LONGEST = 40
"""Characters that a number may have."""
NUMBER_ALLOWED = ", such as 24, 1_000 or 12e9"


@dataclass(frozen=True, slots=True)
class Dimension:
    """A kind of quantity: its article and name, its base unit, the units shown to a reader."""

    name: str
    base: str
    units: tuple[str, ...]
    example: str

    @property
    def help(self) -> str:
        """What a value of this dimension looks like."""
        return f'{self.name} in {listed(self.units)}, such as "{self.example}"'


TIME = Dimension("a time", "s", ("us", "ms", "s", "min", "h", "day", "yr"), "20 min")
BANDWIDTH = Dimension(
    "a bandwidth", "bit/s", ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"), "5 Gbit/s"
)
COMPUTE = Dimension(
    "an amount of compute", "FLOP", ("GFLOP", "TFLOP", "PFLOP", "EFLOP"), "72 GFLOP"
)
DATA = Dimension("an amount of data", "bit", ("B", "kB", "MB", "GB", "TB", "PB"), "80 GB")
SPEED = Dimension("a rate of compute", "FLOP/s", ("TFLOP/s", "PFLOP/s", "EFLOP/s"), "459 TFLOP/s")
MONEY = Dimension("an amount of money", "USD", ("USD",), "2.50 USD")
POWER = Dimension("a power", "W", ("W", "kW"), "450 W")
PRICE = Dimension("a price of data", "USD/bit", ("USD/GB", "USD/TB"), "0.05 USD/GB")
DIMENSIONS = (TIME, BANDWIDTH, DATA, COMPUTE, SPEED, MONEY, POWER, PRICE)


class QuantityError(ValueError):
    """A text is not a quantity of the dimension asked for: what was found, what is allowed."""

    def __init__(self, found: str, allowed: str) -> None:
        self.found, self.allowed = found, allowed
        super().__init__(f"{found}; {allowed}")


@functools.cache
def registry() -> pint.UnitRegistry[float]:
    """The registry of the closed set; built when first asked for."""
    import pint

    built: pint.UnitRegistry[float] = pint.UnitRegistry(None)
    for line in _DEFINITIONS.strip().splitlines():
        built.define(line)
    return built


@functools.cache
def _unit(text: str) -> tuple[float, str] | None:
    """The size of a unit in base units and its dimensionality; None if there is no such unit."""
    import pint

    if text.endswith("ss"):  # pint takes any name with an s behind it for its plural
        return None
    try:
        quantity = registry().Quantity(1.0, text).to_base_units()
    except (pint.UndefinedUnitError, pint.DefinitionSyntaxError, ValueError, TypeError):
        return None
    return float(quantity.magnitude), str(quantity.dimensionality)


def size_of(unit: str) -> float:
    """The size of a known unit in base units (bit, s, FLOP and their ratios)."""
    known = _unit(unit)
    if known is None:
        raise KeyError(unit)
    return known[0]


def read_number(text: str) -> float | None:
    """The number that ``text`` spells, or None. Infinity where it is too large for a float."""
    if not re.fullmatch(NUMBER, text.strip()):
        return None
    return float(text.replace("_", ""))


_COUNT = re.compile(rf"\s*({NUMBER})\s*([kKMBGTbgt])\s*")
_COUNTS = {"K": "e3", "M": "e6", "B": "e9", "G": "e9", "T": "e12"}


def count_meant(text: str) -> str:
    """``did you mean 70e9? `` for "70B", nothing for what is no count with a letter behind it."""
    match = _COUNT.fullmatch(text)
    if match is None or "e" in match[1].lower():
        return ""
    return f"did you mean {match[1]}{_COUNTS[match[2].upper()]}? "


def read_quantity(text: str, dimension: Dimension) -> float:
    """The value of ``text`` ("5 Gbit/s") in the base unit of ``dimension``.

    Raises QuantityError for anything else, naming the units that fit.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None:
        hint = _not_a_quantity(text)
        raise QuantityError(hint, dimension.help)
    number, unit = match.groups()
    if len(number) > LONGEST:
        raise QuantityError(
            f"a number of {len(number)} characters", f"at most {LONGEST}, {dimension.help}"
        )
    if unit is None:
        raise QuantityError(f"{shown(text)}, a number without a unit", dimension.help)
    value = float(number.replace("_", "")) * _fitting(text, number, unit, dimension)
    if not math.isfinite(value):
        raise QuantityError(f"{shown(text)}, too large to compute with", dimension.help)
    return value


def _not_a_quantity(text: str) -> str:
    if not text.strip():
        return "an empty text"
    if text.strip().lower().lstrip("+-.") in ("nan", "inf", "infinity"):
        return f"{shown(text)}, not a number to compute with"
    return shown(text)


def _fitting(text: str, number: str, unit: str, dimension: Dimension) -> float:
    known = _unit(unit)
    if known is None:
        meant = _readings(number, unit, dimension)
        fit = meant or suggestion(unit.replace(" ", ""), dimension.units)
        raise QuantityError(f'{shown(text)}, unknown unit "{unit}"', f"{fit}{dimension.help}")
    size, kind = known
    if dimension is BANDWIDTH and kind == _kind(BANDWIDTH) and _BYTES.search(unit):
        bits = write_quantity(float(number.replace("_", "")) * size, BANDWIDTH)
        allowed = f"bandwidth is in bits: {text.strip()} would be {bits}"
        raise QuantityError(f"{shown(text)}, in bytes", allowed)
    if kind != _kind(dimension):
        meant = _readings(number, unit, dimension)
        raise QuantityError(f"{shown(text)}, {_name_of(kind, unit)}", f"{meant}{dimension.help}")
    return size


def _readings(number: str, unit: str, dimension: Dimension) -> str:
    """All that a unit which does not fit may have been meant to be."""
    if dimension is TIME:
        return readings_of_time(number, unit)
    if dimension not in (BANDWIDTH, DATA):
        return ""
    value = float(number.replace("_", ""))
    if not math.isfinite(64e15 * value):
        return ""
    return readings_of_information(
        value,
        unit,
        rate=dimension is BANDWIDTH,
        write=lambda bits: write_quantity(bits, dimension),
    )


def _kind(dimension: Dimension) -> str:
    known = _unit(dimension.base)
    assert known is not None
    return known[1]


def _name_of(kind: str, unit: str) -> str:
    for dimension in DIMENSIONS:
        if _kind(dimension) == kind:
            return dimension.name
    return f'in "{unit}"'


def write_quantity(value: float, dimension: Dimension) -> str:
    """``value`` in the unit that spells it shortest; reading it gives back the same float.

    Raises ValueError for one that is infinite: only a field that has a word for that takes it.
    """
    if not math.isfinite(value):
        raise ValueError(f"no unit spells {value}: the field's Quantity needs a word for it")
    candidates = [dimension.base, *dimension.units]
    texts = []
    for rank, unit in enumerate(candidates):
        scaled = value / size_of(unit)
        if not math.isfinite(scaled):
            continue
        number = write_number(scaled)
        if float(number) * size_of(unit) == value:
            texts.append((len(number), rank, f"{number} {unit}"))
    return min(texts)[2]


def span_in_words(low: str, high: str) -> str:
    """Two quantities as one span, in the unit that spells both: ``360 to 370 min``.

    Texts that are no quantities of one kind stand as they are.
    """
    found = [text.split(" ") for text in (low, high)]
    if not all(len(parts) == 2 and _unit(parts[1]) for parts in found):
        return f"{low} to {high}"
    (a, one), (b, other) = found
    known = [_unit(one), _unit(other)]
    if one == other or known[0] is None or known[1] is None or known[0][1] != known[1][1]:
        return f"{a} to {b} {other}" if one == other else f"{low} to {high}"
    sizes = [float(a) * size_of(one), float(b) * size_of(other)]
    texts = []
    for unit in (other, one):
        shown = [f"{size / size_of(unit):.4g}" for size in sizes]
        off = sum(
            not math.isclose(float(text) * size_of(unit), size)
            for text, size in zip(shown, sizes, strict=True)
        )
        texts.append((off, len(" ".join(shown)), f"{shown[0]} to {shown[1]} {unit}"))
    return min(texts)[2]


def write_number(value: float) -> str:
    """A finite number as short as it can be while reading back as the same float."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(value)
