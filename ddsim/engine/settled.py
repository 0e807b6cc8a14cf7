"""Steps of which it is settled whether they entered a merge or were overwritten."""

from __future__ import annotations

from typing import NamedTuple


class Settled(NamedTuple):
    """Steps that were merged and overwritten, and the tokens of those that were merged."""

    merged: float
    overwritten: float
    tokens: float

    def without(self, steps: int, tokens: float) -> Settled:
        """What is left once the last of these steps, with so many tokens, are taken back.

        Which of them were merged is not kept: as large a share as of all.
        """
        share = self.merged / (self.merged + self.overwritten)
        return Settled(
            max(0.0, self.merged - share * steps),
            max(0.0, self.overwritten - (1.0 - share) * steps),
            max(0.0, self.tokens - share * tokens),
        )


NOTHING = Settled(0.0, 0.0, 0.0)
