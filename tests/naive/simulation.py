"""What every method shares: the clock, the hardware, the strikes, the books."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from simpy import Environment, Event

from .bodies import Body
from .case import Case, Merge, NaiveResult, StrikeCase
from .clock import Moment, Order
from .hardware import Hardware
from .ledger import Ledger, StepRecord
from .network import Traffic
from .phases import FAILED, RESTART, UNALLOCATED
from .worth import Worth, tokens_merged


class Simulation:
    """One case being lived through; a method says what its units do."""

    def __init__(self, case: Case) -> None:
        assert case.reckoning is not None
        self.case = case
        self.clock = case.reckoning
        self.env = Environment()
        regional = case.method != "data_parallel"
        self.hardware = Hardware(self.env, case, regional, self._hardware_back)
        self.members = range(len(case.units))
        self.traffic = Traffic()
        self.ledger = Ledger(
            self.hardware.places, self.phase_of, self.running_account_of, self.step_of
        )
        self.changed = Event(self.env)
        self.strikes = 0
        self.tokens: float = 0
        self.merges: list[Merge] = []
        for strike in case.strikes:
            self._expect(strike)

    # What a method fills in.

    def body_of(self, unit: int) -> Body:
        """The body that the unit belongs to."""
        raise NotImplementedError

    def running_account_of(self, unit: int) -> str:
        """The account of the unit's healthy chips while its body runs."""
        raise NotImplementedError

    def step_of(self, unit: int) -> StepRecord | None:
        """The step that the unit is in."""
        raise NotImplementedError

    def stepping(self, unit: int) -> bool:
        """Whether the unit ages under the rule that it does so only while it steps."""
        raise NotImplementedError

    def hardware_changed(self) -> None:
        """Slices went or came, and any stall that follows from it has begun."""

    def corrupt(self, since: float) -> None:
        """Saves from after that instant are found to be worth nothing."""
        raise NotImplementedError

    def time_passes(self, seconds: float) -> None:
        """Nothing changes for this long."""

    def close_what_can_close(self) -> None:
        """Barriers and slots look whether their time has come."""

    def close(self, horizon: float) -> None:
        """The run ends, with what is under way."""

    def steps_of(self, unit: int) -> float:
        """Steps completed, less those rolled back."""
        raise NotImplementedError

    def worths(self) -> Sequence[Worth]:
        """Per unit, what became of its steps."""
        raise NotImplementedError

    # What they share.

    def phase_of(self, unit: int) -> str:
        """The phase of the unit's body."""
        return self.body_of(unit).phase

    def live(self, unit: int) -> bool:
        """Has hardware and is not in restart; reconfiguring is live."""
        return self.hardware.has_hardware(unit) and self.phase_of(unit) not in (FAILED, RESTART)

    def stir(self) -> None:
        """Something has changed: whoever waits looks again, after closings and arrivals."""
        changed, self.changed = self.changed, Event(self.env)
        changed.succeed()
        Moment(self.env, 0, Order.CLOSING, self.close_what_can_close)

    def my_turn(self) -> Moment:
        """The moment of this instant at which units do what they do next."""
        return Moment(self.env, 0, Order.NEXT)

    def look_again(self) -> Generator[Event, None, None]:
        """Wait for any change, then for one's turn."""
        yield self.changed
        yield self.my_turn()

    def run(self) -> NaiveResult:
        """Live through the case; what would happen at exactly its end does not happen."""
        horizon = self.case.duration
        while self.env.peek() < horizon:
            self.ledger.book(self.env.now, self.env.peek())
            self.time_passes(self.env.peek() - self.env.now)
            self.env.step()
        self.ledger.book(self.env.now, horizon)
        self.close(horizon)
        assert isinstance(self.env.now, int) or not self.clock.whole
        accounts = [dict(account) for account in self.ledger.accounts]
        if self.case.spares > 0:
            # Outside the places there are always as many slices as there are spares: each place
            # that one of them took is a place less for the slice that it replaced.
            chips = self.case.spares * self.case.units[0].slices[0]
            accounts.append({UNALLOCATED: chips * horizon})
        seconds = self.clock.seconds
        worths = self.worths()
        portions = [portion for worth in worths for portion in worth.standing()]
        return NaiveResult(
            accounts=[
                {name: seconds(value) for name, value in account.items()} for account in accounts
            ],
            spans=[
                [(seconds(start), seconds(end), state, up) for start, end, state, up in spans]
                for spans in self.ledger.spans
            ],
            steps=[self.steps_of(unit) for unit in self.members],
            tokens=float(self.tokens),
            merges=[
                (number, seconds(start), seconds(arrival), who)
                for number, start, arrival, who in self.merges
            ],
            wan_bytes=float(self.traffic.busiest_bytes(horizon)),
            merged=float(sum(portion.merged for portion in portions)),
            overwritten=float(sum(portion.overwritten for portion in portions)),
            pending=float(sum(portion.pending for portion in portions)),
            tokens_merged=float(tokens_merged(worths)),
            strikes=self.strikes,
            late_answers=self.late(),
        )

    def late(self) -> int | None:
        """How many answers came after their slot had closed; None where there are none to give."""
        return None

    def _expect(self, strike: StrikeCase) -> None:
        Moment(self.env, strike.time, Order.STRIKE, lambda: self._strike(strike))

    def _strike(self, strike: StrikeCase) -> None:
        if self.case.age_while_down == "stops" and not self.stepping(strike.unit):
            return
        if not self.hardware.strike(strike):
            return
        self.strikes += 1
        if strike.since is not None:
            self.corrupt(strike.since)
        self.body_of(strike.unit).struck(strike.detection)
        self.hardware_changed()
        self.stir()

    def _hardware_back(self, unit: int) -> None:
        self.body_of(unit).returned()
        self.hardware_changed()
        self.stir()
