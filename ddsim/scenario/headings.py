"""Units in the headings of tables, such as the `s` of `time_s`, told by their last word."""

import re

_TIMES = {
    "ns": ("ns", "nanosecond", "nanoseconds"),
    "us": ("us", "microsecond", "microseconds"),
    "ms": ("ms", "msec", "millisecond", "milliseconds"),
    "s": ("s", "sec", "secs", "second", "seconds"),
    "min": ("min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "d": ("d", "day", "days"),
}
_TIME_OF = {word: unit for unit, words in _TIMES.items() for word in words}
_RATE = re.compile(
    r"(?:^|[^a-zA-Z])([kKmMgGtT]?)i?(bits?|bytes?|[bB])(?:ps)?(?:[^a-zA-Z]|$)", re.ASCII
)
_BITS = ("bit", "bits", "b")


def time_unit(heading: str) -> str | None:
    """Return the unit that a heading of times ends with: ns, us, ms, s, min, h, d, or None."""
    words = re.findall(r"[A-Za-z]+", heading)
    return _TIME_OF.get(words[-1].lower()) if words else None


def in_bits(heading: str) -> bool:
    """Whether a heading of rates may stand for bit/s: it has no prefix, and speaks of no bytes."""
    found = _RATE.search(heading.lower() if "bit" in heading.lower() else heading)
    return found is None or (not found[1] and found[2] in _BITS)
