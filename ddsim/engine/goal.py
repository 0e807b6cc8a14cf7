"""Whether tokens are enough: they are sums of real numbers, and rounding must not cost a step."""

from __future__ import annotations

from math import ceil, inf

NEARLY = 1e-9


def reached(goal: float, tokens: float) -> bool:
    """Whether the tokens that were wanted are done."""
    return tokens >= goal * (1.0 - NEARLY)


def steps_to(goal: float, tokens: float, per_step: float) -> int | None:
    """Return the steps, at least 1, that it takes from so many tokens; None without a goal."""
    if goal == inf:
        return None
    return max(1, ceil((goal - tokens) / per_step - NEARLY))
