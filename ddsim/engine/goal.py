"""Whether tokens are enough: they are sums of real numbers, and rounding must not cost a step."""

from __future__ import annotations

from math import ceil, inf
from typing import NamedTuple

NEARLY = 1e-9


class Goal(NamedTuple):
    """Where a run is to stop: at so many tokens done, or at so many that count.

    All that was merged counts, and the share `worth` of what was overwritten.
    """

    tokens: float = inf
    counted: float = inf
    worth: float = 1.0

    @property
    def all_merged(self) -> float:
        """The tokens at which a run stops that overwrites nothing."""
        return min(self.tokens, self.counted)

    @property
    def endless(self) -> bool:
        """Whether there is none."""
        return self.all_merged == inf

    def reached(self, tokens: float, merged: float, overwritten: float) -> bool:
        """Whether it is reached by tokens of which as large a share was merged as of the others."""
        both = merged + overwritten
        share = merged / both if both > 0.0 else 0.0
        counted = tokens * (share + self.worth * (1.0 - share))
        return reached(self.tokens, tokens) or reached(self.counted, counted)


def reached(goal: float, tokens: float) -> bool:
    """Whether the tokens that were wanted are done."""
    return tokens >= goal * (1.0 - NEARLY)


def steps_to(goal: float, tokens: float, per_step: float) -> int | None:
    """Return the steps, at least 1, that it takes from so many tokens; None without a goal."""
    if goal == inf:
        return None
    return max(1, ceil((goal - tokens) / per_step - NEARLY))
