"""What can go wrong in learning: a problem that does not do what it should, a run that diverges."""

from __future__ import annotations

from dataclasses import dataclass

from ddsim.errors import InputError


class LearningError(InputError, ValueError):
    """A problem, an option or a tape is wrong; the message says where and how."""


class TapeError(LearningError):
    """A tape tells what cannot have been."""


@dataclass(frozen=True)
class Divergence:
    """Where a run stopped having numbers; `learner` is None for the merged model."""

    learner: int | None
    step: int
    what: str

    def __str__(self) -> str:
        who = "the merged model" if self.learner is None else f"learner {self.learner}"
        return f"{who} at step {self.step}: {self.what}"


class DivergedError(Exception):
    """Ends a replay whose numbers are no longer finite."""

    def __init__(self, where: Divergence) -> None:
        self.where = where
        super().__init__(str(where))
