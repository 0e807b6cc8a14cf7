"""What a batch costs: beyond the critical one, more tokens a step buy few steps."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from ddsim.quality.constants import constants


def critical_batch(loss: float) -> float:
    """Return the critical batch, in tokens, at a loss in nats: B_star / L^(1 / alpha_B).

    Source: arXiv 2001.08361.
    """
    if loss <= 0.0:
        return inf
    known = constants("critical_batch")
    return float(known["B_star_tokens"] * loss ** (-1.0 / known["alpha_B"]))


@dataclass(frozen=True)
class Batch:
    """One learner's batch, in tokens; `critical` is the critical one where that is known better."""

    tokens: float
    critical: float | None = None

    def overhead(self, loss: float) -> float:
        """Return how many times more tokens this batch needs to a loss than a small one: 1 + B/Bc.

        Source: the trade of steps against tokens in arXiv 1812.06162.
        """
        known = critical_batch(loss) if self.critical is None else self.critical
        return 1.0 + self.tokens / known if known > 0.0 else inf
