"""Numbers as people read them."""

import math
from collections.abc import Callable, Sequence

_SUFFIXES = ("", " k", " M", " G", " T", " P", " E")
Ends = Sequence[float] | None
"""Of an interval; None where there is none."""
_ROUNDING = 1e-12  # what sums of floats leave of nothing
_SPANS = ((365.25 * 86400, "yr"), (86400.0, "day"), (3600.0, "h"), (60.0, "min"))


def fraction(value: float | None, digits: int = 3) -> str:
    """Write a fraction; `-` for what there is not, `<0.001` for what rounding would hide."""
    if value is None:
        return "-"
    if abs(value) < _ROUNDING:
        return "0"
    smallest = 10.0**-digits
    if 0 < value < smallest / 2:
        return f"<{smallest:.{digits}f}"
    return f"{value:.{digits}f}"


def interval(value: float | None, ends: Ends, write: Callable[[float | None], str]) -> str:
    """Write a mean with its interval: `0.912 +/- 0.004`; both ends where they are not alike."""
    text = write(value)
    if value is None or ends is None:
        return text
    low, high = ends
    below, above = write(value - low), write(high - value)
    return f"{text} +/- {below}" if below == above else f"{text} ({write(low)} to {write(high)})"


def quantity(value: float | None, digits: int = 4) -> str:
    """Write a count with an SI prefix and `digits` significant digits: `34.66 G`."""
    if value is None or not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    value = float(f"{value:.{digits}g}")  # first, so that 999,999 becomes 1 M and not 1000 k
    power = min(max(math.floor(math.log10(abs(value)) / 3), 0), len(_SUFFIXES) - 1)
    return f"{plain_number(value / 1000**power, digits)}{_SUFFIXES[power]}"


def plain_number(value: float, digits: int = 4) -> str:
    """Write a number with `digits` significant digits, without an exponent where it is short."""
    text = f"{value:.{digits}g}"
    return text if "e" not in text else f"{value:.0f}" if abs(value) >= 1 else text


def ratio(value: float | None) -> str:
    """Write how many times as much: `83.1x`."""
    return "-" if value is None else f"{plain_number(value, 3)}x"


def duration(seconds: float) -> str:
    """Write a time in the largest unit that keeps it a short number: `1 day`, `90 min`."""
    if not math.isfinite(seconds):
        return "unlimited"
    for length, name in _SPANS:
        count = seconds / length
        if count >= 1 and abs(count * 100 - round(count * 100)) < 1e-6:
            return f"{count:g} {name}"
    return f"{seconds:g} s"
