"""Streaming DiLoCo when units without hardware are dropped, or roll a stretch of steps back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine import tape
from ddsim.engine.clock import Rank
from ddsim.engine.kept import Unsaved
from ddsim.methods.absent import at_most, between, blame_of, plus, there, without
from ddsim.world.instants import seconds

if TYPE_CHECKING:
    from ddsim.engine.clock import Wake
    from ddsim.engine.learner import Learner
    from ddsim.engine.losses import Blame
    from ddsim.methods.streaming_diloco import StreamingDiLoCo, Sync


class Absences:
    """Starts what all units with hardware have completed, and says what becomes of the others.

    `marks[unit][step]` is what a unit had done when it completed a step in which fragments were
    due, or had been dropped there; from the last such step on that has gone. `dropped[unit]` are
    the stretches (first step left out, last step) that it was dropped from, as long as a merge may
    ask for them.
    """

    def __init__(self, method: StreamingDiLoCo, *, roll_back: bool) -> None:
        count = len(method.run.cluster.units)
        self._method = method
        self._roll_back = roll_back
        self.marks: list[dict[int, Unsaved]] = [{0: Unsaved([0.0])} for _ in range(count)]
        self.dropped: list[list[tuple[int, int]]] = [[] for _ in range(count)]

    def note(self, learner: Learner, sync: Sync) -> None:
        """Note that a learner has just completed the step of a synchronization."""
        self.marks[learner.index][sync.step] = learner.progress
        sync.completed_at = self._method.run.clock.now
        method = self._method
        sync.passed[learner.index] = {
            p: learner.passed_at(method.shares[p]) for p in sync.fragments
        }
        self.look()

    def look(self) -> None:
        """See what can start once all that happens to hardware at this instant has happened."""
        self._method.run.clock.after(0, Rank.CLOSE, self._judge)

    def restored(self, learner: Learner) -> None:
        """A learner is back, perhaps from a save from before what it had done since."""
        marks, now = self.marks[learner.index], learner.progress
        for step, mark in marks.items():
            marks[step] = at_most(mark, now)

    def missing(self, sync: Sync, since: int) -> int:
        """Steps after `since` up to a synchronization's that its members did not have."""
        return sum(self._gap(index, since, sync.step) for index in sync.members)

    def _gap(self, index: int, since: int, upto: int) -> int:
        stretches = self.dropped[index]
        return sum(max(0, min(last, upto) - max(first, since)) for first, last in stretches)

    def _judge(self, wake: Wake) -> None:
        method = self._method
        members = there(method.learners)
        present = [method.learners[index] for index in members]
        if not present or not all(learner.body.live for learner in present):
            return
        for step in sorted(step for step, sync in method.syncs.items() if sync.started is None):
            sync = method.syncs[step]
            if any(index not in sync.passed for index in members):
                return
            absent = [learner for learner in method.learners if learner.body.lost]
            if absent and self._roll_back:
                self._go_back(method.before(step), blame_of(absent))
                return
            for learner in absent:
                self._drop(learner, sync)
            sync.members = members
            self._release(sync)
            self._forget(step)
            method.start_sync(sync)

    def _release(self, sync: Sync) -> None:
        """Layers left as the last member passed them, if one has just completed the step."""
        now = self._method.run.clock.now
        for fragment, times in sync.releases.items():
            if sync.completed_at == now:
                passed = [sync.passed[index][fragment] for index in sync.members]
                times[:] = [max(layer) for layer in zip(*passed, strict=True)]
            else:
                times[:] = [now] * len(times)

    def _forget(self, step: int) -> None:
        """A synchronization starts: what came before is decided."""
        since = self._method.received_before(step)
        for index, marks in enumerate(self.marks):
            self.marks[index] = {at: mark for at, mark in marks.items() if at >= step}
            stretches = self.dropped[index]
            self.dropped[index] = [stretch for stretch in stretches if stretch[1] > since]

    def _drop(self, learner: Learner, sync: Sync) -> None:
        """Leave a learner out: its steps of the stretch are gone, and it goes on behind it."""
        method, index, step = self._method, learner.index, sync.step
        first = method.before(step)
        marks = self.marks[index]
        learner.body.settle()
        lost = between(marks[first], marks.get(step, learner.progress))
        since = method.received_before(step)
        earlier = max(0, first - since) - self._gap(index, since, first)
        method.overwritten += lost.steps * method.fragments + earlier * len(sync.fragments)
        learner.drop(lost, learner.body.blame)
        self.dropped[index].append((first, step))
        ahead = {at: without(mark, lost) for at, mark in marks.items() if at > step}
        self.marks[index] = {step: marks[first], **ahead}
        method.shifts[index] += max(0, step - method.at(learner))
        position = method.positions[index]
        position.completed = max(step, position.completed)

    def _go_back(self, step: int, blame: Blame) -> None:
        """All learners go back to the end of a step, and what they did since is gone."""
        method = self._method
        clock = method.run.clock
        for learner in method.learners:
            index = learner.index
            learner.body.settle()
            learner.abandon(blame)
            lost = between(self.marks[index][step], learner.progress)
            learner.drop(lost, blame)
            method.overwritten += lost.steps * method.fragments
            self.marks[index] = {step: learner.progress}
            method.shifts[index] += step - method.at(learner)
            position = method.positions[index]
            position.offset, position.gate, position.completed = 0, None, step
            if method.run.tape is not None and not learner.lost_hardware:
                back = tape.Rejoin(seconds(clock.now), index, index, method.arrived_by(step))
                method.run.tape.append(back)
            clock.after(0, Rank.NEXT, method.go_next, learner)
        method.syncs = {s: sync for s, sync in method.syncs.items() if sync.started is not None}

    def move(self, index: int, steps: int, done: Unsaved) -> None:
        """Take it that a unit has taken that many steps more, with that done in them."""
        self.marks[index] = {
            step + steps: plus(mark, done) for step, mark in self.marks[index].items()
        }
