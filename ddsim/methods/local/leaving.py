"""Units that others go on without, until they are back with steps of their own to merge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.engine.clock import Rank
from ddsim.methods.local import protocol as k
from ddsim.methods.local.absences import Absences
from ddsim.world.instants import NEVER, ticks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ddsim.engine.clock import Wake
    from ddsim.methods.local.absences import Method
    from ddsim.methods.local.learner import LocalLearner
    from ddsim.world.instants import Ticks


class Leaving(Absences):
    """Says who is counted on, and sends without those who are not.

    A unit that was lost is waited for until that is detected; one whose region's access is cut, for
    `network.ring_timeout`. Once others have gone on without it, nobody waits for it until it has
    taken H steps after its return, or the rest of its round where only its link was cut; one that
    is back before they have is waited for. What it had not merged when it was lost is overwritten.
    """

    def __init__(self, method: Method) -> None:
        super().__init__(method, roll_back=False)
        units = len(method.run.cluster.units)
        self._known = [False] * units
        self._left = [False] * units
        clock = method.run.clock
        for begin, end, who in self._cuts():
            clock.after(begin, Rank.BACK, self._cut, (who, True))
            if end < NEVER:
                clock.after(end, Rank.BACK, self._cut, (who, False))
            timeout = ticks(method.run.scenario.network.ring_timeout)
            if timeout < end - begin:
                clock.after(begin + timeout, Rank.BACK, self._leave, who)

    def _cuts(self) -> Iterator[tuple[Ticks, Ticks, list[int]]]:
        """Yield when nothing gets in or out of a region, from and to, and which units it has."""
        run = self._method.run
        regions: dict[str, list[int]] = {}
        for unit in run.cluster.units:
            regions.setdefault(unit.region, []).append(unit.index)
        if len(regions) == 1:
            return
        for region, units in regions.items():
            access = run.access(region)
            since = None
            for time, rate in zip(access.times, access.values, strict=True):
                if rate > 0.0 and since is not None:
                    yield since, time, units
                    since = None
                elif rate <= 0.0 and since is None:
                    since = max(0, time)
            if since is not None:
                yield since, NEVER, units

    def _cut(self, wake: Wake) -> None:
        units, cut = wake.given
        state = self._method.state
        for unit in units:
            state.learner[unit, k.CUT_OFF] = int(cut)
            self._left[unit] = self._left[unit] and cut
        state.number[k.CHECK] = 1

    def _leave(self, wake: Wake) -> None:
        for unit in wake.given:
            self._left[unit] = True

    def lost(self, learner: LocalLearner) -> None:
        """A learner has lost what it had: that is known once it is detected."""
        clock, body = self._method.run.clock, learner.body
        self._known[learner.index] = body.detected_at <= clock.now
        if not self._known[learner.index]:
            clock.after(body.detected_at - clock.now, Rank.BACK, self._detected, learner)

    def _detected(self, wake: Wake) -> None:
        learner: LocalLearner = wake.given
        if learner.body.detected_at <= self._method.run.clock.now:
            self._known[learner.index] = True

    def look(self) -> None:
        """See who is counted on."""
        state = self._method.state
        for learner in self._method.learners:
            index = learner.index
            gone = learner.lost_hardware and self._known[index]
            if gone and not state.learner[index, k.ALONE]:
                state.learner[index, k.ALONE] = state.number[k.PERIOD]
                state.number[k.CHECK] = 1
            there = int(not (self._left[index] or (gone and learner.body.lost)))
            if there != state.learner[index, k.HARDWARE]:
                state.learner[index, k.HARDWARE] = there
                state.number[k.CHECK] = 1

    def judge(self, slot: int) -> None:
        """All that are counted on have completed a step: send it without the others."""
        state = self._method.state
        row = slot % len(state.slot)
        learner = state.learner
        everyone = range(len(learner))
        out = [m for m in everyone if not learner[m, k.HARDWARE] or learner[m, k.OUT]]
        behind = {m: max(0, slot - learner[m, k.COUNT]) for m in out if not learner[m, k.ALONE]}
        for m in out:
            k.withdraw_open(state, m)
            learner[m, k.OUT] = 1
        k.close(state, slot, row)
        if out:
            self._send_among(tuple(m for m in everyone if m not in out), row)
        else:
            k.send_layers(state, row)
        for m, steps in behind.items():
            k.step_alone(state, m, steps)
