"""How wide a stream is, and text folded to that."""

import os
import re
import textwrap
from typing import TextIO

_LEAST = 20  # narrower than that nobody reads
_WITH_UNIT = re.compile(r"(?<=\d) (?=[^\W\d]|%)")
_BOUND = "\u00a0"  # where a number and its unit stay together


def width_of(stream: TextIO) -> int | None:
    """Return the columns of a stream: COLUMNS, or its terminal's; None where nothing says."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said) > 0:
        return max(int(said), _LEAST)
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError, AttributeError):
        return None
    return max(columns, _LEAST) if columns > 0 else None


def pieces(text: str, width: int) -> list[str]:
    """Return the lines of a text that is folded; what has no blank and is longer stays whole.

    A number keeps its unit beside it.
    """
    bound = _WITH_UNIT.sub(_BOUND, text)
    lines = textwrap.wrap(bound, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace(_BOUND, " ") for line in lines] or [""]


def fold(text: str, stream: TextIO) -> str:
    """Return a text whose lines are folded to a stream's width, those that go on two further in.

    Where the stream has none, so that what reads it wants whole lines, it stays as it is.
    """
    width = width_of(stream)
    return text if width is None else fold_to(text, width)


def fold_to(text: str, width: int) -> str:
    """Return a text whose lines are folded to a width."""
    return "\n".join(_folded(line, width) for line in text.split("\n"))


def _folded(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    margin = line[: len(line) - len(line.lstrip())]
    first, *_ = pieces(line.strip(), width - len(margin))
    rest = line.strip()[len(first) :].lstrip()
    if not rest:
        return margin + first
    inner = f"{margin}  "
    return "\n".join([margin + first, *(inner + x for x in pieces(rest, width - len(inner)))])
