"""Methods of the DiLoCo family: learners on units, and the protocol that they follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine import tape
from ddsim.engine.ledger import Account
from ddsim.methods.local import protocol as k
from ddsim.methods.local.arrays import Settings, allowed
from ddsim.methods.local.driver import Driver
from ddsim.methods.local.going_back import LocalGoingBack
from ddsim.methods.local.learner import LocalLearner
from ddsim.methods.units import UnitsMethod
from ddsim.users import held, returned
from ddsim.world.instants import seconds

if TYPE_CHECKING:
    from ddsim.engine.body import ElasticBody
    from ddsim.engine.copies import Copy
    from ddsim.engine.hardware import Hardware
    from ddsim.engine.merge_log import MergeLog
    from ddsim.engine.run import Outcome
    from ddsim.engine.saves import Saves
    from ddsim.methods.local.protocol import State
    from ddsim.world.pace import Pace
    from ddsim.world.ring import Ring
    from ddsim.world.strike import Strike


class LocalUpdates(UnitsMethod):
    """Learners that take steps of their own and merge what they did, as the protocol says.

    A subclass says what the protocol is set to, and takes what it hands over; with `own_fragments`
    the P that it is set to may be another than the scenario's.
    """

    own_fragments = True
    learners: list[LocalLearner]
    log: MergeLog | None = None
    going_back: LocalGoingBack | None = None

    def settings(self) -> Settings:
        """Return what the protocol is set to."""
        raise NotImplementedError

    def drive(self, ring: Ring) -> Hardware:
        """Set learners and slots up, all fragments received at step 0; `ring` joins all units.

        Raises ScenarioError for settings that cannot be.
        """
        by = (self, "settings", f"method {self.name}")
        given = returned(Settings, self.settings(), *by)
        fitting = allowed(self.run, barrier=bool(given.barrier), own_fragments=self.own_fragments)
        settings = held(given, fitting, *by)
        self.driver = Driver(self.run, settings, ring, self.log, self)
        return self.make_learners(settings.quorum)

    @property
    def state(self) -> State:
        """What the protocol knows, item by item."""
        return self.driver.view

    def merged_by_now(self) -> float:
        """Return how much of what the learners did has come into merges."""
        pace = self.state.pace
        return sum(float(pace[m, k.MERGED]) for m in range(len(self.learners)))

    def make_learner(self, body: ElasticBody, pace: Pace) -> LocalLearner:
        """Return the learner of a unit, which tells when it becomes live, or is no longer."""
        learner = LocalLearner(body, self.driver, self.run.tokens_per_chip, self._live_changed)
        if self.going_back is not None:
            learner.on_saved = self.going_back.keep
        return learner

    def tape_fetch(self, copy: Copy) -> None:
        """Note, where a tape is kept, that a learner copies its peer's moments as they are now."""
        if self.run.tape is not None:
            self.learners[copy.peer].body.settle()
            now = seconds(self.run.clock.now)
            self.driver.put_on_tape(tape.Fetch(now, copy.learner, copy.peer))

    def _live_changed(self, learner: LocalLearner) -> None:
        self.state.learner[learner.index, k.IS_LIVE] = int(learner.body.live)
        self.count_live()

    def heard(self) -> list[int]:
        """Return the learners that are live and heard."""
        learner = self.state.learner
        everyone = range(len(learner))
        return [m for m in everyone if learner[m, k.IS_LIVE] and learner[m, k.HEARD]]

    def count_live(self) -> None:
        """Look who is live and heard, and whether slots can close with those."""
        number = self.state.number
        live = len(self.heard())
        self.merging.change(self.run.clock.now, live - number[k.LIVE])
        number[k.LIVE] = live
        number[k.CHECK] = 1
        if number[k.STEP_ON]:
            k.wake_blocked(self.state)

    # What is corrupt.

    def follow_corruption(self, saves: Saves) -> None:
        """Follow what may become corrupt, and keep what is to be gone back to."""
        super().follow_corruption(saves)
        if self.spread is not None:
            self.going_back = LocalGoingBack(self, saves)

    def corrupted(self, strike: Strike) -> None:
        """A learner's state has become corrupt."""
        if self.run.tape is not None:
            self.learners[strike.unit].body.settle()
            now = seconds(self.run.clock.now)
            self.driver.put_on_tape(tape.Corrupt(now, strike.unit, int(strike.screened)))

    def listen(self, on: bool) -> None:
        """Have answers, merges and what learners receive told to `spread`, or no more."""
        self.driver.follow = self._follow if on else None
        self.state.number[k.TAPED] = int(on or self.run.tape is not None)

    def hear(self) -> None:
        """Take note of all that has been told by now."""
        self.driver.tell_tape()

    def _follow(self, kind: int, learner: int, slot: int, who: tuple[int, ...]) -> None:
        assert self.spread is not None
        if kind == k.GAVE:
            self.spread.gave(learner, slot)
        elif kind == k.RECEIVED:
            self.spread.received(learner, slot)
        elif kind == k.MERGED_SLOT:
            self.spread.merged(slot, slot, self.driver.fragments(slot), who)

    def go_back(self, strike: Strike, concerned: list[int], steps: list[int]) -> None:
        """Have these learners, and the syncer, go back to before a corruption."""
        assert self.going_back is not None
        self.going_back.go_back(strike, concerned, steps)
        self.count_live()

    def drop_exchanges(self) -> None:
        """What is on the links of slots that have not arrived goes on, to no effect."""

    def has_gone_back(self, learner: LocalLearner, slot: int) -> None:
        """A learner has gone back, and goes on with the step after a slot."""

    # What the protocol hands over.

    def catching_up(self) -> None:
        """The protocol is about to go on: tell it what it has to know of the world."""
        for units, _ in self.run.cluster.hosts:
            for unit in units:
                k.restarts(self.state, unit, int(self.learners[unit].body.restarts))

    def closed(self, slot: int) -> None:
        """A slot has closed; its exchange is to begin or to queue."""

    def arrived(self, slot: int) -> None:
        """A slot's update has arrived."""

    def begins(self, slot: int) -> None:
        """An exchange is to begin among replicas that may leave, or beside other transfers."""

    def judge(self, slot: int) -> None:
        """All that have hardware have completed a lock-step learner's step."""

    def save(self, learner: int) -> None:
        """A learner at a step boundary is to save, and holds its unit up for it."""
        who, saves = self.learners[learner], self.driver.saves
        assert saves is not None
        who.body.settle()
        who.hold_for_save()
        who.body.saving = True
        if saves.length > 0:
            who.body.stall([(Account.CHECKPOINT_SAVE, saves.next_length())])
        else:
            who.body.stall_over()

    def rejoined(self, learner: int) -> None:
        """A learner that had been lost is about to take up its steps."""
        peer = self.taken_up(learner)
        if self.spread is not None:
            self.hear()
            self.spread.rejoined(learner, peer, self.has_arrived(learner))
        now, arrived = seconds(self.run.clock.now), self.driver.label(self.has_arrived(learner))
        self.driver.put_on_tape(tape.Rejoin(now, learner, peer, arrived))

    def taken_up(self, learner: int) -> int | None:
        """Return whose moments a learner has that takes up its steps, None where nobody's."""
        return self.returning.rejoined(self.learners[learner])

    def has_arrived(self, learner: int) -> int:
        """Return the last slot up to which a learner that takes up its steps has all updates."""
        return int(self.state.number[k.ARRIVED_SLOT])

    def stale(self, learner: int, slots: int) -> None:
        """A learner has answered for the first time since it came back."""

    def close(self, horizon: int) -> Outcome:
        """Book all time up to the end of the run."""
        self.driver.close(horizon)
        self.close_learners(horizon)
        self.driver.tell()
        state, number = self.state, self.state.number
        k.settle_rest(state)
        possible = number[k.MERGES] * len(self.learners)
        fragments = number[k.FRAGMENTS]
        merged, overwritten, tokens = (
            sum(state.pace[m, column] for m in range(len(self.learners)))
            for column in (k.MERGED, k.OVERWRITTEN, k.MERGED_TOKENS)
        )
        outcome = self.outcome(
            tokens_merged=tokens / fragments,
            participation=number[k.PARTICIPANTS] / possible if possible else None,
            merged=merged,
            overwritten=overwritten,
            fragments=fragments,
        )
        outcome.extra["merge_count"] = int(number[k.MERGES])
        return outcome
