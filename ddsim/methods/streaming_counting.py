"""Streaming DiLoCo's quiet stretches: rounds that repeat themselves are counted.

Units in lock-step settle into a rhythm: where one round of H steps leaves everything as the round
before left it, only later, so will every round until hardware or a link changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank
from ddsim.engine.kept import Unsaved
from ddsim.engine.ledger import Account
from ddsim.world.instants import Ticks

if TYPE_CHECKING:
    from ddsim.engine.clock import Wake
    from ddsim.engine.recorder import Merge
    from ddsim.methods.streaming_diloco import StreamingDiLoCo, Sync

BOOKED = (Account.PRODUCTIVE, Account.WAITING_ON_PEERS, Account.EXPOSED_COMMUNICATION)


@dataclass(slots=True)
class Snapshot:
    """Where everything stands when a round's last fragments leave.

    `counts` and `times` are relative to that round's step and instant; two rounds of one rhythm
    agree in them. `totals` are what has been booked and done by then, `lengths` the same in time;
    `until` is when the world changes next.
    """

    time: Ticks
    until: Ticks
    merges: int
    counts: list[object]
    times: list[Ticks]
    totals: list[float]
    lengths: list[Ticks]

    def repeats(self, before: Snapshot) -> bool:
        """Whether the rounds agree."""
        return self.counts == before.counts and self.times == before.times


class Counting:
    """Looks once a round, and goes on many rounds later where the last two agree."""

    def __init__(self, method: StreamingDiLoCo) -> None:
        run = method.run
        self._method = method
        self._clock = run.clock
        self._before: Snapshot | None = None
        self._possible = (
            run.counted
            and run.tape is None
            and run.token_goal == inf
            and all(pace.steady for pace in run.paces)
            # else some of a step's fragments arrive before a look at it, and others after
            and max(map(len, method.due.values())) == 1
        )
        if self._possible:
            method.pipes.all.sent = []

    def look(self, sync: Sync) -> None:
        """Consider counting from this instant on, at which the fragments of a step leave."""
        if self._possible and sync.step % self._method.inner_steps == 0:
            self._clock.after(0, Rank.COUNT, self._try, sync)

    def _try(self, wake: Wake) -> None:
        before, self._before = self._before, None
        if not all(learner.body.running for learner in self._method.learners):
            return
        now = self._clock.now
        snapshot = self._snapshot(wake.given)
        self._before = snapshot
        sent, self._method.pipes.all.sent = self._method.pipes.all.sent, []
        if before is None or before.until < now or not snapshot.repeats(before):
            return
        period = now - before.time
        under_way = max(0, self._method.pipes.all.free - now) + self._method.pipes.all.ring.latency
        # In the first rounds arrives what nobody has had before; and each fragment is to be
        # under way once at the most.
        early = self._method.overlap // self._method.inner_steps + 1 - (-under_way // period)
        if wake.given.step <= early * self._method.inner_steps or under_way >= period:
            return
        rounds = (snapshot.until - under_way - now) // period - 1
        if rounds < 1:
            return
        for learner in self._method.learners:
            learner.stand()
        for sync in self._method.syncs.values():
            sync.epoch += 1
        gains = [b - a for a, b in zip(before.totals, snapshot.totals, strict=True)]
        longer = [b - a for a, b in zip(before.lengths, snapshot.lengths, strict=True)]
        merges = self._method.run.recorder.noted[before.merges :]
        given = (rounds, period, gains, longer, sent, merges)
        self._clock.after(rounds * period, Rank.COUNT, self._go_on, given)

    def _snapshot(self, sync: Sync) -> Snapshot:
        method, now, step = self._method, self._clock.now, sync.step
        counts: list[object] = []
        times: list[Ticks] = [max(0, method.pipes.all.free - now)]
        for learner, position in zip(method.learners, method.positions, strict=True):
            learner.settle(now)
            gate = None if position.gate is None else position.gate.step - step
            counts += [
                method.at(learner) - step,
                learner.idle,
                learner.account,
                gate,
                position.fragment,
            ]
            times += [position.offset, 0 if learner.idle else learner.ends - now]
        for other in method.syncs.values():
            counts += [other.step - step, other.completed, other.started is None, other.members]
            times += [] if other.started is None else [other.started - now]
            for fragment, arrival in other.arrivals.items():
                counts.append(fragment)
                times.append(arrival - now)
        counts.append(len(method.held))
        if method.absences is not None:
            counts += [[last - step for _, last in item] for item in method.absences.dropped]
        change = method.pipes.all.ring.rate.next_change(now)
        until = min(self._clock.quiet_until(), change, method.run.horizon)
        merges = len(method.run.recorder.noted)
        return Snapshot(now, until, merges, counts, times, self._totals(), self._lengths())

    def _totals(self) -> list[float]:
        method = self._method
        totals: list[float] = []
        for learner in method.learners:
            totals.append(learner.tokens)
            totals += [method.run.ledger.books[learner.index][account] for account in BOOKED]
        return totals

    def _lengths(self) -> list[Ticks]:
        run, now = self._method.run, self._clock.now
        lengths = [learner.productive for learner in self._method.learners]
        return [*run.running.state(now), *run.computing.state(now), *lengths]

    def _go_on(self, wake: Wake) -> None:
        """Take up the run some rounds later, everything moved on by as much."""
        rounds, period, gains, longer, sent, merges = wake.given
        method = self._method
        gains = [gain * rounds for gain in gains]
        steps, shift = rounds * method.inner_steps, rounds * period
        take, lengths = iter(gains), iter(rounds * gain for gain in longer)
        method.arrivals += rounds * method.fragments
        steps_merged = rounds * len(method.learners) * method.fragments
        method.answers += steps_merged
        lost = method.overlap % method.inner_steps
        method.merged += steps_merged * (method.inner_steps - lost)
        method.overwritten += steps_merged * lost
        for presence in (method.run.running, method.run.computing):
            presence.repeat(shift, [next(lengths) for _ in range(3)])
        each: list[float] = []
        for learner in method.learners:
            tokens, productive = next(take), next(lengths)
            each.append(tokens / rounds)
            booked = [next(take) for _ in BOOKED]
            for account, chip_seconds in zip(BOOKED, booked, strict=True):
                method.run.ledger.post(learner.index, account, chip_seconds)
            if method.absences is not None:
                done = Unsaved([booked[0]], steps, tokens, productive)
                method.absences.move(learner.index, steps, done)
            method.positions[learner.index].completed += steps
            learner.move_on(steps, shift, tokens, productive)
        self._move_syncs(steps, shift)
        self._merge_tokens(each, rounds)
        method.pipes.all.repeat(sent, period, rounds)
        self._note(merges, rounds, period)
        self._before = None

    def _merge_tokens(self, each: list[float], rounds: int) -> None:
        """Count tokens as merged, `each` unit's a round; what is under way arrives in the first."""
        method = self._method
        before = method.sent_tokens
        last = [_later(tokens, each, rounds) for tokens in before]
        for sync in method.syncs.values():
            if sync.started is not None:
                for fragment in sync.fragments:
                    if before[fragment] != sync.tokens:
                        last[fragment] = _later(sync.tokens, each, rounds - 1)
                sync.tokens = _later(sync.tokens, each, rounds)
        method.sent_tokens = last
        gained = sum(map(sum, last)) - sum(map(sum, before))
        method.tokens_merged += gained / method.fragments

    def _note(self, merges: list[Merge[Ticks]], rounds: int, period: Ticks) -> None:
        """Record the merges of the rounds that were counted, as long as there is room."""
        recorder = self._method.run.recorder
        for turn in range(1, rounds + 1):
            if not recorder.noting:
                return
            for merge in merges:
                recorder.note(
                    merge._replace(
                        slot=merge.slot + turn * self._method.inner_steps,
                        start=merge.start + turn * period,
                        arrival=merge.arrival + turn * period,
                    )
                )

    def _move_syncs(self, steps: int, shift: Ticks) -> None:
        method, now = self._method, self._clock.now
        syncs = list(method.syncs.values())
        method.syncs.clear()
        for sync in syncs:
            sync.step += steps
            method.syncs[sync.step] = sync
            if sync.started is not None:
                sync.started += shift
            sync.completed_at += shift
            for releases in (sync.releases, *sync.passed.values()):
                for times in releases.values():
                    times[:] = [time + shift for time in times]
            for fragment, arrival in sync.arrivals.items():
                sync.arrivals[fragment] = arrival + shift
            method.await_arrivals(sync, now)


def _later(tokens: list[float], each: list[float], rounds: int) -> list[float]:
    """What every unit has sent so many rounds later, `each` a round."""
    return [sent + rounds * gained for sent, gained in zip(tokens, each, strict=True)]
