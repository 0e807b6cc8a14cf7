"""What a unit that ddsim does not know could mean: every reading, none taken for granted.

Bits and bytes are a factor of 8 apart and ``m`` is a minute to some and a thousandth to others,
so that a near miss is answered with all that it may stand for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ddsim.naming import listed

if TYPE_CHECKING:
    from collections.abc import Callable

PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
BINARY = {"k": 2.0**10, "m": 2.0**20, "g": 2.0**30, "t": 2.0**40, "p": 2.0**50}
_INFORMATION = re.compile(
    r"(?P<prefix>[kmgtp]?)(?P<binary>i?)(?P<of>b|bits?|bytes?)"
    r"(?P<rate>ps|/s|/sec|/second|)",
    re.IGNORECASE,
)
_TIMES = {
    "m": {"min": "minutes", "ms": "milliseconds"},
    "y": {"yr": "years"},
    "hr": {"h": "hours"},
    "hrs": {"h": "hours"},
    "mins": {"min": "minutes"},
    "secs": {"s": "seconds"},
}


def readings_of_information(
    value: float, unit: str, *, rate: bool, write: Callable[[float], str]
) -> str:
    """What an amount or a rate of data in such a unit would be in bits, and what in bytes.

    `rate`: a rate is asked for. `write` spells bits (per second) as a field takes them. Empty for
    a unit that is nothing of the kind.
    """
    match = _INFORMATION.fullmatch(unit.replace(" ", ""))
    if match is None or bool(match["rate"]) > rate:
        return ""
    prefix = match["prefix"].lower()
    if match["binary"] and not prefix:
        return ""
    if not match["binary"] and match["of"].lower() != "b":
        return ""  # the word says which it is
    scale = BINARY[prefix] if match["binary"] else PREFIXES[prefix]
    bits, as_bytes = write(value * scale), write(8.0 * value * scale)
    return f'in bits it would be "{bits}", in bytes "{as_bytes}"; '


_NANOSECONDS = ("ns", "nsec", "nanosecond", "nanoseconds")


def readings_of_time(number: str, unit: str) -> str:
    """What a time in such a unit may be; empty for a unit that no time resembles."""
    if unit.lower() in _NANOSECONDS:
        return f'"{float(number.replace("_", "")) / 1000:g} us"? '
    known = _TIMES.get(unit.lower())
    if known is None:
        return ""
    meant = [f'"{number} {name}" ({words})' for name, words in known.items()]
    return f"{listed(meant)}? "
