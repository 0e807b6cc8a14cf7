"""Learners that go back to their saves from before a corruption, with what they merged into.

What is merged, a syncer's fragments or a server's parameters, is saved with every learner's state:
it goes back to what was saved last of that to which learners go back.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from ddsim.engine.kept import KeptStates, Unsaved, last_common
from ddsim.world.corruptions import longest_latent
from ddsim.world.instants import Ticks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ddsim.engine.run import Run
    from ddsim.engine.saves import Saves
    from ddsim.methods.peer_state import PeerState
    from ddsim.world.strike import Strike


class Saved(Protocol):
    """What a learner saved, and with it what is merged, at what instant."""

    @property
    def at(self) -> Ticks:
        """When that was."""
        ...

    @property
    def done(self) -> Unsaved:
        """What the learner had done and kept by then."""
        ...


S = TypeVar("S", bound=Saved)


class Method(Protocol):
    """Whose learners go back."""

    run: Run
    learners: Any
    returning: PeerState


class GoingBack(Generic[S]):
    """Keeps what learners save, and takes them back to it.

    `start` is what all begin with.
    """

    start: S

    def __init__(self, method: Method, saves: Saves) -> None:
        self._units = method
        self._saves = saves
        self._clock = method.run.clock
        back = longest_latent(method.run.scenario)
        units = method.run.cluster.units
        self._kept = [KeptStates[S](back, last_only=saves.last_only) for _ in units]

    def keep(self, learner: Any) -> None:
        """A learner has saved its state."""
        now = self._clock.now
        late = max(0, self._saves.flight - self._saves.length)
        self._kept[learner.index].add(self.state_of(learner), now, now + late)

    @abstractmethod
    def state_of(self, learner: Any) -> S:
        """Return a learner's state as it is now, and what is merged."""

    @abstractmethod
    def restore(self, targets: Mapping[int, S], source: int, here: set[int]) -> None:
        """Let learners go on from these states, and what is merged from that of `source`.

        Those that are not `here` have lost their state: they take another's when they return.
        """

    def go_back(self, strike: Strike, concerned: list[int], steps: list[int]) -> None:
        """Take learners back; those that have hardware recover from their saves.

        Of one that has lost its state only what it had done is gone. `steps` are those that each
        learner had ended when the corruption happened.
        """
        learners = [self._units.learners[m] for m in concerned]
        hold = [who for who in learners if not who.lost_hardware]
        here = [who for who in hold if not who.body.lost]
        for learner in hold:
            learner.body.settle()
            learner.body.blame = strike.blame
            learner.lose()
        instant = self._instant(strike, here or learners, steps)
        now = self._clock.now
        targets = {m: self._kept[m].at(instant, now) or self.start for m in concerned}
        for learner in learners:
            learner.go_back(targets[learner.index].done, strike.blame)
            self._kept[learner.index].drop_after(instant)
        source = max(targets, key=lambda m: targets[m].at)
        self.restore(targets, source, {learner.index for learner in here})
        for learner in here:
            self._units.returning.copies.lost(learner.index)
            learner.body.go_back(strike)

    def _instant(self, strike: Strike, learners: list[Any], steps: list[int]) -> Ticks:
        """Return up to when saves are of use; copies at peers are of the last step."""
        now = self._clock.now
        before = now if strike.since is None else strike.since
        copied = self._saves.free and self._saves.last_only
        if copied and all(learner.steps == steps[learner.index] for learner in learners):
            for learner in learners:
                self.keep(learner)
            before = now
        return last_common((self._kept[learner.index] for learner in learners), before, now)
