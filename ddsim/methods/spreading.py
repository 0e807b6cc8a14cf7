"""How silent corruption spreads: from a learner into merges, and from them into learners.

A learner is corrupt from the corruption on. What it answers while it is, is; so is a merge of such
an answer, or one into a fragment that is corrupt already; and so are learners that receive one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ddsim.engine.clock import Rank
from ddsim.world.corruptions import corruptions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ddsim.engine.clock import Wake
    from ddsim.engine.run import Run
    from ddsim.world.instants import Ticks
    from ddsim.world.strike import Strike

Key = tuple[int, int]  # incident and unit


class Merging(Protocol):
    """Whose learners merge what may be corrupt."""

    run: Run
    learners: Any

    def corrupted(self, strike: Strike) -> None:
        """A learner's state has become corrupt."""
        ...

    def listen(self, on: bool) -> None:
        """Have answers, merges and what learners receive told to `spread`, or no more."""
        ...

    def hear(self) -> None:
        """Have all told that has happened by now."""
        ...

    def go_back(self, strike: Strike, concerned: list[int], steps: list[int]) -> None:
        """Have these learners, and what they merged into, go back to before a corruption.

        `steps` are those that each learner had ended when it happened.
        """
        ...


class Taint:
    """What one corruption has got into by now.

    `answers` are of a learner to a slot, `merges` the slots whose results are corrupt.
    """

    __slots__ = ("answers", "fragments", "learners", "merges", "since", "steps")

    def __init__(self, since: Ticks, unit: int, steps: list[int]) -> None:
        self.since = since
        self.steps = steps
        self.learners = {unit}
        self.answers: set[tuple[int, int]] = set()
        self.merges: set[int] = set()
        self.fragments: set[int] = set()

    def mended(self, learners: Iterable[int]) -> None:
        """These learners, and what is merged, have gone back to before it."""
        self.learners.difference_update(learners)
        for spread in (self.answers, self.merges, self.fragments):
            spread.clear()


class Spread:
    """Follows what is corrupt, from each corruption until it is noticed."""

    def __init__(self, method: Merging) -> None:
        run = method.run
        self._method = method
        self._clock = run.clock
        self._taints: dict[Key, Taint] = {}
        taped = run.tape is not None
        self._coming = corruptions(run.scenario, run.cluster, run.replication, screened=taped)
        self._await()

    def _await(self) -> None:
        strike = next(self._coming, None)
        if strike is not None and strike.since is not None:
            self._clock.after(strike.since - self._clock.now, Rank.STRIKE, self._begins, strike)

    def _begins(self, wake: Wake) -> None:
        strike: Strike = wake.given
        learner = self._method.learners[strike.unit]
        if not learner.body.lost and not learner.lost_hardware:  # else it has no state
            self._method.corrupted(strike)
            if not strike.screened:
                self._method.hear()  # what was before concerns only those before
                self._method.listen(True)
                steps = [other.steps for other in self._method.learners]
                key = strike.incident, strike.unit
                self._taints[key] = Taint(self._clock.now, strike.unit, steps)
                after = strike.time - self._clock.now + 1
                self._clock.after(after, Rank.HANDED, self._unnoticed, key)
        self._await()

    def _unnoticed(self, wake: Wake) -> None:
        """What was to be noticed by now hit nothing: nobody will ever know."""
        self._end(wake.given)

    def _end(self, key: Key) -> Taint | None:
        if key in self._taints:
            self._method.hear()
        taint = self._taints.pop(key, None)
        if taint is not None and not self._taints:
            self._method.listen(False)
        return taint

    def noticed(self, strike: Strike) -> bool:
        """Have all that a corruption has got into go back; whether it has got into a merge."""
        taint = self._end((strike.incident, strike.unit))
        if taint is None or not taint.merges:
            return False
        concerned = sorted(taint.learners | {strike.unit})
        self._method.go_back(strike, concerned, taint.steps)
        for other in self._taints.values():
            if other.since >= taint.since:
                other.mended(concerned)
        return True

    # What is told.

    def gave(self, learner: int, slot: int) -> None:
        """A learner has answered a slot."""
        for taint in self._taints.values():
            if learner in taint.learners:
                taint.answers.add((slot, learner))
            else:
                taint.answers.discard((slot, learner))

    def merged(self, slot: int, made: int, fragments: Iterable[int], who: Iterable[int]) -> None:
        """Their answers to a slot have been merged, which is received as slot `made`."""
        who, fragments = list(who), list(fragments)
        for taint in self._taints.values():
            corrupt = not taint.fragments.isdisjoint(fragments)
            if corrupt or any((slot, learner) in taint.answers for learner in who):
                taint.merges.add(made)
                taint.fragments.update(fragments)

    def received(self, learner: int, slot: int) -> None:
        """A learner has received what a slot's merge made."""
        for taint in self._taints.values():
            if slot in taint.merges:
                taint.learners.add(learner)

    def rejoined(self, learner: int, peer: int | None, arrived: int) -> None:
        """A learner that was lost has taken what had arrived by a slot, and a peer's moments."""
        for taint in self._taints.values():
            corrupt = any(slot <= arrived for slot in taint.merges)
            if corrupt or (peer != learner and peer in taint.learners):
                taint.learners.add(learner)
            else:
                taint.learners.discard(learner)
