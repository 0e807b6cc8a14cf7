"""Units that step on their own, each an elastic body: what the DiLoCo family shares."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from simpy import Environment, Event, Interrupt

from .bodies import Body, ElasticBody
from .case import Case
from .clock import Countdown, Order
from .ledger import StepRecord
from .phases import LOADING, PRODUCTIVE, RESTART, RUNNING
from .simulation import Simulation
from .worth import Worth


class SteppingUnit:
    """One unit: a process that waits at the boundary, steps, and is interrupted when lost."""

    def __init__(self, simulation: SteppingUnits, index: int) -> None:
        self.simulation = simulation
        self.env: Environment = simulation.env
        self.case: Case = simulation.case
        self.index = index
        places = simulation.hardware.places[index]
        stages = [(RESTART, self.case.restart_time)]
        self.body = ElasticBody(self.env, self.case, places, stages, self)
        self.begun = 0
        self.taken = 0
        self.worth = Worth(simulation.fragments)
        self.step: StepRecord | None = None
        self.compute: float = 0
        self.delay: float = 0
        self.loading = False
        self.countdowns: list[Countdown] = []
        self.at_gate = False
        self.returning = False
        self.process = self.env.process(self._life())

    # What a method fills in.

    def boundary(self) -> Generator[Event, None, None]:
        """Wait until the next step may begin."""
        raise NotImplementedError

    def prepare_step(self) -> None:
        """Count down to whatever happens in the course of the step that begins."""

    def pass_gates(self) -> Generator[Event, None, None]:
        """Stop in mid-step for what must have arrived."""
        yield from ()

    def completed(self) -> None:
        """A step has been completed and counted."""
        raise NotImplementedError

    def waiting_account(self) -> str:
        """Where the time goes that is spent at a boundary or at a gate."""
        raise NotImplementedError

    # What the body tells.

    def suspended(self) -> None:
        for countdown in self.countdowns:
            countdown.pause()

    def resumed(self) -> None:
        self.go_on()
        self.simulation.stir()

    def lost(self) -> None:
        for countdown in self.countdowns:
            countdown.drop()
        self.countdowns = []
        self.at_gate = False
        self.returning = True
        self.worth.lose()
        if self.step is not None:
            self.simulation.ledger.waste(self.step)
            self.step = None
        self.process.interrupt()

    def first_return(self) -> None:
        """Nothing but the restart that follows."""

    # What it does.

    @property
    def running(self) -> bool:
        """Whether no stall holds it."""
        return self.body.phase == RUNNING

    @property
    def stepping(self) -> bool:
        """Whether it is in a step, computing."""
        return self.running and self.step is not None and not self.at_gate and not self.loading

    def account(self) -> str:
        """The account of its healthy chips while no stall holds it."""
        if self.step is not None and self.loading and not self.at_gate:
            return LOADING
        return PRODUCTIVE if self.stepping else self.waiting_account()

    def go_on(self) -> None:
        """Compute, unless a stall or a gate holds the unit."""
        if self.running and not self.at_gate:
            for countdown in self.countdowns:
                countdown.go()

    def count_down(
        self, length: float, order: Order, action: Callable[[], object], *, with_data: bool = True
    ) -> None:
        """Something that happens after so much compute of the step in progress."""
        length = self.simulation.clock.length(length)
        if with_data:
            length += self.delay
        self.countdowns.append(Countdown(self.env, length, order, action))

    def _life(self) -> Generator[Event, None, None]:
        while True:
            try:
                yield self.simulation.my_turn()
                yield from self.boundary()
                yield from self._step()
            except Interrupt:
                # Lost whole; it begins anew at the boundary once it runs again.
                continue

    def _step(self) -> Generator[Event, None, None]:
        jitter = self.case.jitter(self.index, self.begun)
        self.delay = self.case.delay(self.index, self.begun)
        self.begun += 1
        step_time = self.case.units[self.index].step_time * jitter
        self.compute = self.simulation.clock.length(step_time)
        self.step = StepRecord()
        over = Event(self.env)
        self.countdowns = []
        self.loading = self.delay > 0
        if self.loading:
            self.count_down(0, Order.COMPLETED, self._loaded)
        self.prepare_step()
        self.count_down(self.compute, Order.COMPLETED, lambda: self._complete(over))
        self.go_on()
        yield from self.pass_gates()
        yield over

    def _loaded(self) -> None:
        self.loading = False

    def _complete(self, over: Event) -> None:
        case, step = self.case, self.step
        assert step is not None
        healthy = sum(place.chips for place in self.body.places if place.up)
        step.tokens = case.tokens_per_step * healthy / case.chips
        self.simulation.tokens += step.tokens
        self.worth.completed(step)
        self.taken += 1
        self.step = None
        self.countdowns = []
        self.completed()
        self.simulation.stir()
        over.succeed()


class SteppingUnits(Simulation):
    """Units that step on their own."""

    fragments: int
    """Into how many the model is cut."""

    def unit(self, index: int) -> SteppingUnit:
        """The unit of that index."""
        raise NotImplementedError

    def body_of(self, unit: int) -> Body:
        return self.unit(unit).body

    def step_of(self, unit: int) -> StepRecord | None:
        return self.unit(unit).step

    def stepping(self, unit: int) -> bool:
        return self.unit(unit).stepping

    def worths(self) -> Sequence[Worth]:
        return [self.unit(index).worth for index in self.members]

    def steps_of(self, unit: int) -> float:
        return float(self.unit(unit).taken)

    def running_account_of(self, unit: int) -> str:
        return self.unit(unit).account()
