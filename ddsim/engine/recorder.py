"""What a run leaves behind besides the ledger: states over time, presence, merges."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

RECORDED_MERGES = 20_000


class Span(NamedTuple):
    """One unit in one state from `start` to `end` (seconds) with `healthy` chips up."""

    unit: str
    start: float
    end: float
    state: str
    healthy: int


class Merge(NamedTuple):
    """One synchronization: when what was merged began to be sent, arrived when, and who took part.

    `slot` is the slot, the step or the round. `weights` has a weight for every participant;
    methods that average evenly give none.
    """

    slot: int
    fragments: tuple[int, ...]
    start: float
    arrival: float
    participants: tuple[int, ...]
    weights: tuple[float, ...] = ()


class Presence:
    """How long at least `least` of something are there.

    `total` is that time in seconds; `breaks` counts how often it ended, for any time at all, and
    `absent` is how long the breaks took together.
    """

    __slots__ = ("_count", "_gone", "_least", "_since", "absent", "breaks", "total")

    def __init__(self, least: int = 1, count: int = 0) -> None:
        self._least = least
        self._count = count
        self._since = 0.0
        self._gone: float | None = None
        self.total = 0.0
        self.absent = 0.0
        self.breaks = 0

    def change(self, now: float, by: int) -> None:
        """Let `by` more (or fewer) be there from now on."""
        least = self._least
        before = self._count >= least
        self._count += by
        if before == (self._count >= least):
            return
        if not before:
            self._since = now
            if self._gone is not None and now > self._gone:
                self.breaks += 1
                self.absent += now - self._gone
            self._gone = None
        else:
            self.total += now - self._since
            self._gone = now

    def ask(self, now: float, least: int) -> None:
        """Let another number be enough from now on."""
        by = self._least - least
        self.change(now, by)
        self._count -= by
        self._least = least

    def state(self, now: float) -> list[float]:
        """Return the total up to now, the breaks' length and their number."""
        there = self._count >= self._least
        return [self.total + (now - self._since if there else 0.0), self.absent, self.breaks]

    def repeat(self, now: float, shift: float, gains: list[float]) -> None:
        """Let `shift` seconds up to now bring these gains, and end as they began."""
        total, absent, breaks = gains
        if self._count >= self._least:
            total -= shift  # counted when this presence ends
        self.total += total
        self.absent += absent
        self.breaks += round(breaks)
        if self._gone is not None:
            self._gone += shift

    def take_over(
        self, *, count: int, since: float, gone: float, total: float, absent: float, breaks: int
    ) -> None:
        """Go on from where somebody else has got to; `gone` is inf where enough are there."""
        self._count, self._since = count, since
        self._gone = gone if gone < inf else None
        self.total, self.absent, self.breaks = total, absent, breaks

    def close(self, now: float) -> None:
        """End the account at the horizon."""
        if self._count >= self._least:
            self.total += now - self._since
            self._since = now
        elif self._gone is not None and now > self._gone:
            self.breaks += 1
            self.absent += now - self._gone
            self._gone = now


class Attendance:
    """Whether one learner is among those that run, and among those that compute."""

    __slots__ = ("_computing", "_computing_now", "_running", "_running_now")

    def __init__(self, running: Presence, computing: Presence) -> None:
        self._running = running
        self._computing = computing
        self._running_now = self._computing_now = 0

    def note(self, now: float, running: int, computing: int) -> None:
        """Let it be (1) or not be (0) among them from now on."""
        if running != self._running_now:
            self._running.change(now, running - self._running_now)
            self._running_now = running
        if computing != self._computing_now:
            self._computing.change(now, computing - self._computing_now)
            self._computing_now = computing


class Recorder:
    """The states of every unit over time, joined where one follows itself.

    Waits within a running state are noted from `least_wait` seconds on, so that the record stays
    small where every step has one. Without `keep` nothing is noted.
    """

    def __init__(self, names: list[str], *, least_wait: float, keep: bool = True) -> None:
        self._names = names
        self.keep = keep
        self._least_wait = least_wait
        self._spans: list[list[Span]] = [[] for _ in names]
        self._open: list[tuple[float, float, str, int] | None] = [None for _ in names]
        self._waits: list[list[Span]] = [[] for _ in names]
        self.merges: list[Merge] = []

    @property
    def least_wait(self) -> float:
        """From how many seconds on a wait is noted, inf where none is."""
        return self._least_wait if self.keep else inf

    def state(self, unit: int, start: float, end: float, state: str, healthy: int) -> None:
        """Note that a unit was in a state; in the order of time for each unit."""
        if not self.keep or end <= start:
            return
        last = self._open[unit]
        if last is not None:
            if last[3] == healthy and last[2] == state:
                start = last[0]
            else:
                self._spans[unit].append(Span(self._names[unit], *last))
        self._open[unit] = start, end, state, healthy

    def wait(self, unit: int, start: float, end: float, state: str, healthy: int) -> None:
        """Note a wait of a running unit, where it is long enough to be seen."""
        if end - start >= self.least_wait:
            self._waits[unit].append(Span(self._names[unit], start, end, state, healthy))

    @property
    def noting(self) -> bool:
        """Whether another merge is noted; the record of them is cut off at some size."""
        return self.keep and len(self.merges) < RECORDED_MERGES

    def note(self, merge: Merge) -> None:
        """Note a merge that has arrived, if there is room."""
        if self.noting:
            self.merges.append(merge)

    def states(self) -> list[Span]:
        """Return all states, unit by unit in the order of time, without the waits in them."""
        self._end_open()
        return [span for spans in self._spans for span in spans]

    def _end_open(self) -> None:
        for unit, last in enumerate(self._open):
            if last is not None:
                self._spans[unit].append(Span(self._names[unit], *last))
                self._open[unit] = None

    def timeline(self) -> list[Span]:
        """Return all states with the longer waits cut out of the running ones."""
        self._end_open()
        return [
            piece
            for spans, waits in zip(self._spans, self._waits, strict=True)
            for piece in _cut(spans, waits)
        ]


def _cut(spans: list[Span], waits: list[Span]) -> list[Span]:
    if not waits:
        return spans
    pieces: list[Span] = []
    following = 0
    for span in spans:
        start = span.start
        while following < len(waits) and waits[following].start < span.end:
            wait = waits[following]
            begin, end = max(start, wait.start), min(span.end, wait.end)
            if begin > start:
                pieces.append(span._replace(start=start, end=begin))
            if end > begin:
                pieces.append(wait._replace(start=begin, end=end, healthy=span.healthy))
            start = max(start, end)
            if wait.end > span.end:
                break
            following += 1
        if span.end > start:
            pieces.append(span._replace(start=start))
    return pieces
