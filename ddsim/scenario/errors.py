"""What is wrong with a scenario, said to the person who wrote it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SHOWN = 60
"""Characters of a value that a message repeats."""
MOST_SAID = 50
"""Problems that a message says, and that are looked for in the fields of a scenario."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where it stands, and what would be right.

    ``line`` and ``column`` count from 1. They are None for an override, whose ``file`` is the
    option as given (``--set PATH=VALUE``). ``path`` is the dotted scenario path, empty for the
    file as a whole.
    """

    file: str
    line: int | None
    column: int | None
    path: str
    found: str
    allowed: str

    @property
    def where(self) -> str:
        """``file:line:column``, or ``file`` alone where there is no position."""
        if self.line is None or self.column is None:
            return self.file
        return f"{self.file}:{self.line}:{self.column}"

    def __str__(self) -> str:
        return f"{self.where}: {self.path or 'scenario'}: {self.found}; {self.allowed}"


class ScenarioError(Exception):
    """A scenario is wrong; ``problems`` lists what was found, in the order of the file.

    The message has the first `MOST_SAID` of them; ``more`` counts those that nobody listed.
    """

    def __init__(self, problems: Iterable[Problem], more: int = 0) -> None:
        self.problems: list[Problem] = list(problems)
        self.more = more
        lines = [str(problem) for problem in self.problems[:MOST_SAID]]
        unsaid = more + len(self.problems) - len(lines)
        super().__init__("\n".join([*lines, *([f"and {unsaid} more"] if unsaid else [])]))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[list[Problem], int]]:
        return (ScenarioError, (self.problems, self.more))


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
