"""What stands and what is down: strikes arrive here, and repaired slices come back."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Protocol

from ddsim.engine.clock import Rank
from ddsim.engine.ledger import Account
from ddsim.world.instants import NEVER, Ticks, later

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ddsim.engine.clock import Clock, Wake
    from ddsim.engine.losses import Blame
    from ddsim.world.cluster import UnitPlan
    from ddsim.world.strike import Strike


class UnitState:
    """One unit's hardware now.

    `down` maps a slice that is down to its way back, `detected` to when its failure is known.
    `failing` has what struck a slice that is down, and since when its time is not counted; `blame`
    is what struck last, or had taken down what came back last. `away` chips are not down but out of
    the job; `joined` says that what came back last had been. `granule` neighbouring slices are in
    use together or not at all: `idle` chips are up beside one that is not, and `healthy` ones can
    be used. `slowed` are the slow-downs in force: whose they are, of which slices, and to what
    share of their speed.
    """

    __slots__ = (
        "_away",
        "_broken",
        "away",
        "blame",
        "detected",
        "down",
        "failing",
        "granule",
        "healthy",
        "idle",
        "index",
        "joined",
        "plan",
        "slice_count",
        "slowed",
    )

    def __init__(self, plan: UnitPlan, granule: int = 1) -> None:
        self.plan = plan
        self.index = plan.index
        self.slice_count = plan.slice_count
        self.granule = granule
        self.healthy = plan.chips
        self.idle = 0
        self._broken: Counter[int] = Counter()
        self.down: dict[int, Return] = {}
        self.detected: dict[int, Ticks] = {}
        self.away = 0
        self.joined = False
        self.slowed: list[tuple[Blame, Sequence[int], float]] = []
        self.failing: dict[int, tuple[Blame, Ticks]] = {}
        self.blame: Blame = ("", "")
        self._away: dict[int, Blame] = {}

    @property
    def failed(self) -> int:
        """Chips that are down."""
        return self.plan.chips - self.healthy - self.away - self.idle

    @property
    def rate(self) -> float:
        """Its speed as a share of what it should be: that of its slowest slice that is up."""
        if not self.slowed:
            return 1.0
        down = self.down
        shares = [
            share for _, slices, share in self.slowed if any(index not in down for index in slices)
        ]
        return min(shares, default=1.0)

    @property
    def slowest(self) -> Blame:
        """What slows it down most."""
        return min(self.slowed, key=lambda item: item[2])[0]

    @property
    def absence(self) -> Account:
        """Where a unit without hardware has its time."""
        away = self.away == self.plan.chips
        return Account.UNALLOCATED if away else Account.FAILED_HARDWARE

    def take(self, index: int, strike: Strike) -> None:
        """Count a slice that was up as down, or as out of the job."""
        size = self.plan.size(index)
        if self.granule == 1:
            self.healthy -= size
        else:
            self._count_out(index, size)
        if strike.unallocated:
            self.away += size
            self._away[index] = strike.blame
        else:
            self.failing[index] = strike.blame, strike.time

    def give_back(self, index: int) -> None:
        """Count a slice that was down or out of the job as up again."""
        size = self.plan.size(index)
        if self.granule == 1:
            self.healthy += size
        else:
            self._count_in(index, size)
        self.joined = index in self._away
        if self.joined:
            self.away -= size
            self.blame = self._away.pop(index)
        else:
            self.blame, _ = self.failing.pop(index)
            del self.detected[index]
        del self.down[index]

    def idles(self, slices: Iterable[int]) -> bool:
        """Whether none of these slices, used together with others, is: one beside each is down."""
        return all(self._broken[index // self.granule] for index in slices)

    def _count_out(self, index: int, size: int) -> None:
        together = index // self.granule
        if self._broken[together]:
            self.idle -= size
        else:
            chips = self._chips_of(together)
            self.healthy -= chips
            self.idle += chips - size
        self._broken[together] += 1

    def _count_in(self, index: int, size: int) -> None:
        together = index // self.granule
        self._broken[together] -= 1
        if self._broken[together]:
            self.idle += size
        else:
            chips = self._chips_of(together)
            self.healthy += chips
            self.idle -= chips - size

    def _chips_of(self, together: int) -> int:
        first = together * self.granule
        beyond = min(first + self.granule, self.plan.slice_count)
        return sum(self.plan.size(index) for index in range(first, beyond))


class Return:
    """Slices that will come back together at `time`; `joining`: to the job that they left."""

    __slots__ = ("joining", "slices", "time")

    def __init__(self, time: Ticks, slices: list[int], *, joining: bool = False) -> None:
        self.time = time
        self.slices = slices
        self.joining = joining


class Struck(Protocol):
    """What hardware belongs to: all changes of it go through that."""

    @property
    def stepping(self) -> bool:
        """Whether it steps at this instant."""
        ...

    @property
    def over(self) -> bool:
        """Whether all that it had to do was done before now."""
        ...

    def settle(self) -> None:
        """Book all time up to now, before the hardware changes."""
        ...

    def take(self, unit: UnitState, slices: Iterable[int], strike: Strike) -> None:
        """Slices of the unit go down or out of the job; it has settled."""
        ...

    def give_back(self, unit: UnitState, slices: Iterable[int]) -> None:
        """Slices of the unit are up again; it has settled."""
        ...

    def struck(self, unit: UnitState, strike: Strike) -> None:
        """Slices of the unit have gone down, or none: the job itself has failed."""
        ...

    def returned(self, unit: UnitState) -> None:
        """Slices of the unit have come back."""
        ...

    def changed_pace(self) -> None:
        """A unit has become slower or faster."""
        ...


class Hardware:
    """All units' hardware under one failure history.

    `bodies[i]` is what unit i belongs to. `strikes` counts the failures that hit something,
    `struck_by` the same by cause and domain; `noted`, unless it is None, when each of them hit
    which unit first, and its cause. With `age_stops`, a strike on what does not step is
    ignored: its clock stands still, which for constant hazards is the same. At most `crews`
    repairs are under way at once, None for any number; the others wait in the order of detection,
    and each failure's slices come back on their own. `granules[i]` is how many slices of unit i are
    in use together or not at all; what happens to one beside which another is down changes nothing
    for the body.
    """

    def __init__(
        self,
        clock: Clock,
        plans: Sequence[UnitPlan],
        history: Iterable[Strike],
        *,
        age_stops: bool,
        crews: int | None = None,
        granules: Sequence[int] = (),
    ) -> None:
        self.clock = clock
        self.units = [UnitState(plan, granules[plan.index] if granules else 1) for plan in plans]
        self.bodies: list[Struck] = []
        self.strikes = 0
        self.struck_by: Counter[Blame] = Counter()
        self.noted: list[tuple[Ticks, int, str]] | None = None
        self._incident = -1
        self._history: Iterator[Strike] = iter(history)
        self._age_stops = age_stops
        self._crews = crews
        self._repairing = 0
        self._queue: deque[tuple[UnitState, Return, Ticks]] = deque()

    def start(self, bodies: Iterable[Struck]) -> None:
        """Let the history begin."""
        self.bodies = list(bodies)
        self._await_strike()

    def _await_strike(self) -> None:
        strike = next(self._history, None)
        if strike is not None:
            self.clock.after(strike.time - self.clock.now, Rank.STRIKE, self._strike, strike)

    def _strike(self, wake: Wake) -> None:
        strike: Strike = wake.given
        unit, body = self.units[strike.unit], self.bodies[strike.unit]
        down = unit.down
        hit = [index for index in strike.slices if index not in down]
        same = strike.incident >= 0 and strike.incident == self._incident
        if strike.unallocated:
            body.settle()
            hit += self._taken_over(unit, strike)
        hits = bool(hit) if strike.slices else unit.healthy > 0
        if hits and (not self._age_stops or same or strike.unallocated or body.stepping):
            body.settle()
            if body.over:
                return
            blame = strike.blame
            if not (same or strike.planned):
                self.strikes += 1
                self._incident = strike.incident
                self.struck_by[blame] += 1
                if self.noted is not None:
                    self.noted.append((self.clock.now, strike.unit, strike.cause))
            unit.blame = blame
            if strike.slow_to < 1.0:
                self._slow(unit, strike)
            elif not hit:
                body.struck(unit, strike)
            else:
                idle = unit.granule > 1 and unit.idles(hit)
                self.take_down(unit, hit, strike)
                if not idle:
                    body.struck(unit, strike)
        self._await_strike()

    def _slow(self, unit: UnitState, strike: Strike) -> None:
        """Slow a unit down until the strike is over."""
        slowed = strike.blame, strike.slices, strike.slow_to
        unit.slowed.append(slowed)
        self.bodies[unit.plan.index].changed_pace()
        self.clock.after(strike.repair, Rank.BACK, self._recover, (unit, slowed))

    def _recover(self, wake: Wake) -> None:
        unit, slowed = wake.given
        body = self.bodies[unit.plan.index]
        body.settle()
        unit.slowed.remove(slowed)
        body.changed_pace()

    def _taken_over(self, unit: UnitState, strike: Strike) -> list[int]:
        """Slices that are down and leave the job before they would be back; they count as up
        again, so that they can leave.
        """
        end = later(self.clock.now, strike.detection + strike.repair)
        taken = []
        for index in strike.slices:
            waiting = unit.down.get(index)
            if waiting is None or index not in waiting.slices:
                continue
            if waiting.time < end or self._crews is not None:
                waiting.slices.remove(index)
                self.fill(unit, [index])
                taken.append(index)
        return taken

    def take_down(self, unit: UnitState, hit: list[int], strike: Strike) -> None:
        """Take slices out of a unit and see to it that they come back."""
        self.bodies[unit.index].take(unit, hit, strike)
        now = self.clock.now
        delay = strike.detection + strike.repair
        if self._crews is not None and strike.repair > 0 and not strike.unallocated:
            self._take_to_crew(unit, hit, strike)
            return
        back = Return(later(now, delay), list(hit), joining=strike.unallocated)
        whole = len(strike.slices) == unit.slice_count
        if whole and unit.down and not strike.unallocated:
            # A unit that is struck as a whole comes back as a whole, with what was down before.
            failed = {i: waiting for i, waiting in unit.down.items() if not waiting.joining}
            latest = max((waiting.time for waiting in failed.values()), default=0)
            for index, waiting in failed.items():
                if index in waiting.slices:
                    waiting.slices.remove(index)
                    back.slices.append(index)
            if latest > back.time:
                back.time, delay = latest, latest - now
        for index in back.slices:
            unit.down[index] = back
        if not strike.unallocated:
            for index in hit:
                unit.detected[index] = later(now, strike.detection)
        self.clock.after(delay, Rank.BACK, self._back, (unit, back))

    def _take_to_crew(self, unit: UnitState, hit: list[int], strike: Strike) -> None:
        """Take slices out; once that is known their repair waits for a crew."""
        back = Return(NEVER, list(hit))
        for index in hit:
            unit.down[index] = back
            unit.detected[index] = later(self.clock.now, strike.detection)
        job = unit, back, strike.repair
        self.clock.after(strike.detection, Rank.SPARE, self._ask_for_crew, job)

    def _ask_for_crew(self, wake: Wake) -> None:
        self._queue.append(wake.given)
        self._send_crews()

    def _send_crews(self) -> None:
        assert self._crews is not None
        while self._queue and self._repairing < self._crews:
            unit, back, repair = self._queue.popleft()
            self._repairing += 1
            back.time = later(self.clock.now, repair)
            self.clock.after(repair, Rank.BACK, self._repaired, (unit, back))

    def _repaired(self, wake: Wake) -> None:
        self._repairing -= 1
        self._send_crews()
        self._back(wake)

    def _back(self, wake: Wake) -> None:
        unit, back = wake.given
        if back.slices:
            body = self.bodies[unit.index]
            body.settle()
            if self.fill(unit, back.slices):
                body.returned(unit)

    def fill(self, unit: UnitState, slices: Sequence[int]) -> bool:
        """Put slices back in their places; return whether any chip can be used again."""
        before = unit.healthy
        self.bodies[unit.index].give_back(unit, slices)
        return unit.healthy > before
