"""How messages repeat what was found, list what is allowed, and guess what was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

SHOWN = 60
"""Characters of a value that a message repeats."""


def shown(value: object) -> str:
    """``value`` as a message repeats it: text in quotes, on one line, and never long."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return f"a mapping of {len(value)}" if value else "an empty mapping"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, str):
        text = value if value.isprintable() else repr(value)[1:-1]
        return f'"{_cut(text)}"'
    return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def suggestion(word: str, known: Iterable[str]) -> str:
    """``did you mean "..."? `` for the nearest known word, or nothing when none is near."""
    match = nearest(word, known)
    return f'did you mean "{match}"? ' if match else ""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word nearest to ``word``, whatever its case, or None."""
    folded: dict[str, str] = {}
    for name in known:
        folded.setdefault(name.casefold(), name)
    matches = difflib.get_close_matches(word[:200].casefold(), folded, n=1, cutoff=0.6)
    return folded[matches[0]] if matches else None


def listed(words: Sequence[str], joint: str = "or") -> str:
    """``a, b or c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {joint} {words[-1]}"
