"""A log that is being read: its file, the format that it has, and what was said on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import pandas as pd
from pydantic import BaseModel, ValidationError

from ddsim.logs.forms import Form, Preset
from ddsim.logs.instants import Clock
from ddsim.logs.model import Notice, Problem, TraceError
from ddsim.logs.opened import LogFile
from ddsim.logs.shapes import frames
from ddsim.naming import listed, shown, suggestion

R = TypeVar("R", bound=BaseModel)


@dataclass
class Log:
    """An open file with its preset, the form of it that the file has, and its clock."""

    file: LogFile
    preset: Preset
    form: Form
    clock: Clock
    notices: list[Notice] = field(default_factory=list)
    _left_out: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def frames(self) -> Iterator[pd.DataFrame]:
        """The rows in typed frames, as `ddsim.logs.shapes.frames` gives them."""
        return frames(self.file, self.form, self.clock, self.notices)

    def rules(self, kind: type[R]) -> R:
        """The preset's settings, as those of a reader; TraceError where they are none."""
        try:
            return kind.model_validate(self.preset.settings)
        except ValidationError as error:
            raise TraceError(
                [
                    Problem(
                        self.preset.name,
                        None,
                        f"settings.{'.'.join(map(str, one['loc']))} is {shown(one['input'])}",
                        one["msg"][:1].lower() + one["msg"][1:],
                    )
                    for one in error.errors()
                ]
            ) from None

    def leave_out(self, found: str, lines: Sequence[int], repair: str = "left out") -> None:
        """Note rows that do not count though they should."""
        if len(lines):
            self._left_out.setdefault((found, repair), []).extend(int(line) for line in lines)

    def all_notices(self) -> tuple[Notice, ...]:
        """What had to be mended, one notice for each fault."""
        faults = self._left_out.items()
        mended = [Notice(found, repair, tuple(lines)) for (found, repair), lines in faults]
        return (*self.notices, *mended)

    def unknown(self, line: int, column: str, word: str, known: Sequence[str]) -> TraceError:
        """The error that a word is none of those that the preset knows."""
        near = suggestion(word, known)
        allowed = f"{near}{self.preset.name} knows {listed(sorted(known), 'and')}"
        return self.file.problem(int(line), f"{column} is {shown(word)}", allowed)
