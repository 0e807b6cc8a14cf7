"""What a run leaves behind besides the ledger: states over time, presence, merges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from ddsim.engine.thinned import Thinned
from ddsim.engine.tracks import Stay, Track
from ddsim.world.instants import NEVER, SECOND, Ticks, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.engine.hardware import UnitState

RECORDED_MERGES = 20_000
"""How many merges a run keeps; of more it keeps every second, fourth, eighth ..."""
_DIGITS = 7  # of a share of time

Time = TypeVar("Time", int, float)


class Span(NamedTuple):
    """One unit in one state from `start` to `end` (seconds) with `healthy` chips up.

    `computing` is the share of these chips' time that went into compute.
    """

    unit: str
    start: float
    end: float
    state: str
    healthy: int
    computing: float = 0.0


Wait = tuple[Ticks, Ticks, str]
"""From when until when a running unit waited, and for what."""


class Merge(NamedTuple, Generic[Time]):
    """One synchronization: when its exchange began, when it arrived, and who took part.

    Times are ticks while the run lasts, and seconds in what the recorder hands out. `slot` is the
    slot, the step or the round. `weights` has a weight for every participant; methods that average
    evenly give none.
    """

    slot: int
    fragments: tuple[int, ...]
    start: Time
    arrival: Time
    participants: tuple[int, ...]
    weights: tuple[float, ...] = ()


class Presence:
    """How long at least `least` of something are there.

    `total` is that time in ticks; `breaks` counts how often it ended, for any time at all, and
    `absent` is how long the breaks took together.
    """

    __slots__ = ("_count", "_gone", "_least", "_since", "absent", "breaks", "total")

    def __init__(self, least: int = 1, count: int = 0) -> None:
        self._least = least
        self._count = count
        self._since: Ticks = 0
        self._gone: Ticks = NEVER
        self.total: Ticks = 0
        self.absent: Ticks = 0
        self.breaks = 0

    def change(self, now: Ticks, by: int) -> None:
        """Let `by` more (or fewer) be there from now on."""
        least = self._least
        before = self._count >= least
        self._count += by
        if before == (self._count >= least):
            return
        if not before:
            self._since = now
            if now > self._gone:
                self.breaks += 1
                self.absent += now - self._gone
        else:
            self.total += now - self._since
            self._gone = now

    def ask(self, now: Ticks, least: int) -> None:
        """Let another number be enough from now on."""
        by = self._least - least
        self.change(now, by)
        self._count -= by
        self._least = least

    def take_over(
        self, *, count: int, since: Ticks, gone: Ticks, total: Ticks, absent: Ticks, breaks: int
    ) -> None:
        """Go on from where somebody else has got to; `gone` is NEVER where enough are there."""
        self._count, self._since, self._gone = count, since, gone
        self.total, self.absent, self.breaks = total, absent, breaks

    def close(self, now: Ticks) -> None:
        """End the account at the horizon."""
        if self._count >= self._least:
            self.total += now - self._since
            self._since = now
        elif now > self._gone:
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

    def note(self, now: Ticks, running: int, computing: int) -> None:
        """Let it be (1) or not be (0) among them from now on."""
        if running != self._running_now:
            self._running.change(now, running - self._running_now)
            self._running_now = running
        if computing != self._computing_now:
            self._computing.change(now, computing - self._computing_now)
            self._computing_now = computing


class States:
    """The states of every unit over time; times are ticks, and seconds in what is handed out.

    It needs nothing of the run, so that whoever has it can ask for spans when they are wanted.
    Waits from `shown_from` on are long enough to be seen.
    """

    def __init__(self, names: list[str], shown_from: Ticks) -> None:
        self._names = names
        self.shown_from = shown_from
        self._tracks: list[Track] = []
        self._waits: list[list[Wait]] = [[] for _ in names]

    def track(self, units: Sequence[UnitState]) -> Track:
        """Return the track of units that stall together."""
        track = Track(units)
        self._tracks.append(track)
        return track

    def wait(self, unit: int, start: Ticks, end: Ticks, state: str) -> None:
        """Note a wait within a running state, in the order of time for each unit."""
        self._waits[unit].append((start, end, state))

    def spans(self, least: Ticks) -> list[Span]:
        """Return all states, unit by unit in the order of time.

        Waits of `least` and longer are cut out of the running ones.
        """
        of_units = {unit: stays for track in self._tracks for unit, stays in track.stays()}
        return [
            Span(name, seconds(start), seconds(end), state, healthy, _share(stay))
            for unit, name in enumerate(self._names)
            for stay in _cut(
                of_units.get(unit, []),
                [wait for wait in self._waits[unit] if wait[1] - wait[0] >= least],
            )
            for start, end, state, healthy, _ in [stay]
        ]


class Recorder:
    """The states of every unit over time, and the merges.

    It takes ticks, and hands out seconds; `noted` are the merges in ticks, thinned where there are
    many. Waits within a running state are noted from `least_wait` on, so that the record stays
    small where every step has one. Without `keep` nothing is noted.
    """

    def __init__(self, names: list[str], *, least_wait: Ticks, keep: bool = True) -> None:
        self.keep = keep
        self.kept = States(names, least_wait)
        self._least_wait = least_wait
        self.noted: Thinned[Merge[Ticks]] = Thinned(RECORDED_MERGES)

    @property
    def least_wait(self) -> Ticks:
        """From which length on a wait is noted, NEVER where none is."""
        return self._least_wait if self.keep else NEVER

    def keep_all(self) -> None:
        """Note every merge and every wait; `timeline` has the longer waits alone all the same."""
        self.keep, self._least_wait = True, 1
        self.noted = Thinned(None)

    def track(self, units: Sequence[UnitState]) -> Track | None:
        """Return where units that stall together note their states, None where nobody does."""
        return self.kept.track(units) if self.keep else None

    def wait(self, unit: int, start: Ticks, end: Ticks, state: str) -> None:
        """Note a wait of a running unit, where it is long enough to be seen."""
        if end - start >= self.least_wait:
            self.kept.wait(unit, start, end, state)

    def note(self, merge: Merge[Ticks]) -> None:
        """Note a merge that has arrived."""
        if self.keep:
            self.noted.offer(1, lambda _: merge)

    @property
    def merges(self) -> list[Merge[float]]:
        """The merges that were noted, their times in seconds."""
        return [
            Merge(slot, fragments, seconds(start), seconds(arrival), participants, weights)
            for slot, fragments, start, arrival, participants, weights in self.noted.entries
        ]

    def states(self) -> list[Span]:
        """Return all states, unit by unit in the order of time, without the waits in them."""
        return self.kept.spans(NEVER)

    def timeline(self) -> list[Span]:
        """Return all states with the longer waits cut out of the running ones."""
        return self.kept.spans(self.kept.shown_from)

    def whole(self) -> list[Span]:
        """Return all states with all waits that were noted cut out of the running ones."""
        return self.kept.spans(0)


def _share(stay: Stay) -> float:
    """Return the share of the healthy chips' time that was compute; rounding may make it more."""
    start, end, _, healthy, computed = stay
    share = computed * SECOND / (healthy * (end - start)) if healthy else 0.0
    return min(1.0, round(share, _DIGITS))


def _cut(spans: list[Stay], waits: list[Wait]) -> list[Stay]:
    if not waits:
        return spans
    pieces: list[Stay] = []
    following = 0
    for start, until, state, healthy, computed in spans:
        first = len(pieces)
        while following < len(waits) and waits[following][0] < until:
            entered, left, account = waits[following]
            begin, end = max(start, entered), min(until, left)
            if begin > start:
                pieces.append((start, begin, state, healthy, computed))
            if end > begin:
                pieces.append((begin, end, account, healthy, 0.0))
            start = max(start, end)
            if left > until:
                break
            following += 1
        if until > start:
            pieces.append((start, until, state, healthy, computed))
        pieces[first:] = _spread(pieces[first:], computed)
    return pieces


def _spread(pieces: list[Stay], computed: float) -> list[Stay]:
    """Give what was computed around some waits to the pieces between them, by their length."""
    left = sum(end - start for start, end, _, _, work in pieces if work) or 1
    return [
        (start, end, state, healthy, work and computed * (end - start) / left)
        for start, end, state, healthy, work in pieces
    ]
