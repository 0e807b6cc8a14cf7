"""What is wrong with a scenario, said to the person who wrote it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ddsim.errors import InputError

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


class ScenarioError(InputError):
    """A scenario is wrong; ``problems`` lists what was found, in the order of the file.

    The message has the first `MOST_SAID` of them; ``more`` counts those that nobody listed.
    """

    def __init__(self, problems: Iterable[Problem], more: int = 0) -> None:
        self.problems: list[Problem] = list(problems)
        self.more = more
        lines = [str(problem) for problem in self.problems[:MOST_SAID]]
        unsaid = more + len(self.problems) - len(lines)
        super().__init__("\n".join([*lines, *([f"and {unsaid} more"] if unsaid else [])]))
