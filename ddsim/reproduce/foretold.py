"""What is said of a number that was predicted before its value was known."""

from dataclasses import dataclass

WAITS = "prediction without a value yet"
SHORT = 7
"""Digits of a commit's hash that a page shows."""


@dataclass(frozen=True, slots=True)
class Foretold:
    """A prediction that was committed before its published value entered the tree.

    committed: the number as it was committed, which is what counts. now: what the engine gives now.
    commit: the hash of a commit that holds the prediction and not the value; empty while there is
    no value.
    """

    committed: float
    now: float
    commit: str = ""

    @property
    def mark(self) -> str:
        """The short hash of the commit; that there is no value where there is none."""
        return self.commit[:SHORT] or "no value yet"

    @property
    def words(self) -> str:
        """When it was predicted, as a page says it."""
        if not self.commit:
            return WAITS
        return f"predicted before the value was known, in commit {self.mark}"

    @property
    def moved(self) -> str:
        """Both numbers in words where the engine gives another one now; else nothing."""
        committed, now = f"{self.committed:.4g}", f"{self.now:.4g}"  # as pages print them
        if committed == now:
            return ""
        return f"committed as {committed}, which counts; the engine gives {now} now"
