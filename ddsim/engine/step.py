"""One step of a lock-step job: what of it is computed, and which of its layers have gone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ddsim.engine.course import stretched
from ddsim.engine.reduction import Stretch, drain_over
from ddsim.world.instants import NEVER, Ticks
from ddsim.world.slow_start import IDLE, Connection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ddsim.world.network import Ring


@dataclass(slots=True)
class Step:
    """The step in progress: its compute stood at `at_mark` at time `mark`, now at `done`.

    `data` says when in it every unit has its data, `first` when the first of those has that step
    in it, `times` when it has computed at the pace that it has now, `rates` the share of its speed
    that a fault leaves it, `releases` where in the compute each layer's gradients leave, once the
    last of the units `there` has them; `sent` of them have, and their link is free of them from
    `free` on, its connections as `connection` says: they are idle when a step begins. `over` says
    that the compute has ended, whatever hardware comes back. It is `even` where all units
    compute alike, at full speed and with their data there; `work` are the productive chip-seconds
    of those that do not. It is `plain` where it is nothing but that, like all others.
    """

    data: list[Ticks]
    first: Ticks
    times: list[Ticks]
    rates: list[float]
    ring: Ring
    bits: float
    releases: list[Ticks]
    there: tuple[int, ...]
    mark: Ticks
    work: list[float]
    even: bool = False
    plain: bool = False
    at_mark: Ticks = 0
    done: Ticks = 0
    sent: int = 0
    over: bool = False
    free: Ticks = 0
    connection: Connection = IDLE
    stretches: list[Stretch] = field(default_factory=list)

    @property
    def fresh(self) -> bool:
        """Whether nothing of it has been done."""
        return self.done == 0

    def anew(self, now: Ticks) -> Step:
        """Return the next step like it, from its beginning."""
        return Step(
            self.data,
            self.first,
            self.times,
            self.rates,
            self.ring,
            self.bits,
            self.releases,
            self.there,
            now,
            [0.0] * len(self.times),
            self.even,
            self.plain,
        )

    def begin_again(self, now: Ticks) -> None:
        """Be the next step like it; it is a plain one, which leaves nothing behind."""
        self.mark = now
        self.at_mark = self.done = 0
        self.over = False

    def computing(self, until: Ticks) -> Ticks:
        """How much of it up to there is compute: since a unit has its data."""
        return max(0, until - self.first)

    def drain(self, until: int, longest: Ticks) -> tuple[Ticks, list[Stretch], Connection]:
        """Send the layers up to number `until` that have not gone; return when the link is free.

        A layer that the compute did not reach before its end is released with that.
        """
        items = [
            (self.mark + max(0, min(release, longest) - self.at_mark), self.bits)
            for release in self.releases[self.sent : until]
        ]
        passed, stretches, connection = drain_over(
            self.ring, items, self.ring.rate, self.free, self.connection
        )
        return (passed[-1] if passed else self.free), stretches, connection

    def send_done(self) -> None:
        """Let those layers go that the compute has passed."""
        if not self.releases:
            return
        ready = sum(1 for release in self.releases if release <= self.done)
        if ready > self.sent:
            self.free, stretches, self.connection = self.drain(ready, NEVER)
            self.stretches += stretches
            self.sent = ready

    def go_by(self, there: tuple[int, ...], shares: Sequence[float]) -> None:
        """Let what has not gone leave when the last of the units that are there now has it."""
        if there == self.there or not self.releases:
            return
        self.there = there
        later = released(shares, [(self.data[index], self.times[index]) for index in there])
        self.releases = [
            release if release <= self.done else max(self.done, anew)
            for release, anew in zip(self.releases, later, strict=True)
        ]

    def repace(self, rates: list[float], longest_of: Callable[[Sequence[Ticks]], Ticks]) -> None:
        """Stretch what is left of the compute to the speeds that the units have now."""
        if rates is self.rates or rates == self.rates:
            return
        before = longest_of(self.times)
        done = self.done
        self.even = self.plain = False
        self.times = self.times.copy()  # others may have begun with the same
        for index, (old, new) in enumerate(zip(self.rates, rates, strict=True)):
            time, begun = self.times[index], max(self.done, self.data[index])
            if time > begun:
                self.times[index] = begun + stretched(time - begun, new / old)
            if time == before:
                done = begun
        self.rates = rates
        if before > done:
            scale = (before - done) / (longest_of(self.times) - done)
            self.releases = [
                release if release <= done else done + stretched(release - done, scale)
                for release in self.releases
            ]


def released(shares: Sequence[float], computes: Sequence[tuple[Ticks, Ticks]]) -> list[Ticks]:
    """Return where in a step the last unit has computed each share of its own.

    `computes` are from when to when each unit does.
    """
    return [
        max(begin + round(share * (end - begin)) for begin, end in computes) for share in shares
    ]


def whole_times(span: Ticks, length: Ticks, exclusive: bool) -> int:
    """How often `length` fits into `span`; `exclusive`: the last must end before its end."""
    times = (span - 1) // length if exclusive else span // length
    return times if times > 0 else 0
