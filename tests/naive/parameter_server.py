"""async_local_sgd: learners on their own clocks, and a server that applies what arrives."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

from simpy import Event

from .case import Case
from .clock import Moment, Order
from .phases import EXPOSED
from .sharing import SharedLinks
from .stepping import SteppingUnit, SteppingUnits
from .worth import enter


class Worker(SteppingUnit):
    """A unit that takes its steps, sends them, and waits for the parameters that come back."""

    def __init__(self, simulation: ParameterServer, index: int) -> None:
        super().__init__(simulation, index)
        self.server = simulation
        own = self.case.units[index].step_time
        fastest = min(unit.step_time for unit in self.case.units)
        self.round = max(1, round(self.case.inner_steps * fastest / own))
        self.done = 0
        self.life = 0
        """How often it has been lost: what was sent to an earlier life comes to nothing."""
        self.awaits_parameters = False

    def waiting_account(self) -> str:
        return EXPOSED

    def completed(self) -> None:
        self.done += 1
        if self.done == self.round:
            self.done = 0
            self.awaits_parameters = True
            self.server.update_from(self)

    def lost(self) -> None:
        super().lost()
        self.life += 1
        self.done = 0

    def boundary(self) -> Generator[Event, None, None]:
        while True:
            if self.running and self.returning:
                self.returning = False
                self.awaits_parameters = True
                self.server.request_from(self)
            if self.running and not self.awaits_parameters:
                return
            yield from self.simulation.look_again()

    def received(self, life: int) -> None:
        """Parameters have arrived."""
        if life == self.life:
            self.awaits_parameters = False
            self.worth.receive(0, self.taken)
            self.simulation.stir()


class ParameterServer(SteppingUnits):
    """It stands in the region of the first unit; in that region nothing crosses a link."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.fragments = 1
        self.region = case.units[0].region
        self.links = SharedLinks(self.env, case, self.traffic)
        self.workers = [Worker(self, index) for index in self.members]

    def unit(self, index: int) -> SteppingUnit:
        return self.workers[index]

    def close(self, horizon: float) -> None:
        self.links.settle(horizon)

    def update_from(self, worker: Worker) -> None:
        """An update is on its way; it does not need its learner any more."""
        enter(worker.worth.answer([0]))
        apply = partial(self._apply, worker, worker.life, self.env.now)
        if self._beside(worker):
            Moment(self.env, 0, Order.ARRIVAL, apply)
        else:
            bits = self.case.payload_bits * self.case.parameters
            self.links.send(self._region_of(worker), self.region, bits, partial(self._later, apply))

    def request_from(self, worker: Worker) -> None:
        """A learner that has lost all asks for parameters."""
        reply = partial(self._reply, worker, worker.life)
        if self._beside(worker):
            Moment(self.env, 0, Order.ARRIVAL, reply)
        else:
            self._later(reply)

    def _apply(self, worker: Worker, life: int, start: float) -> None:
        number = len(self.merges) + 1
        self.merges.append((number, start, self.env.now, (worker.index,)))
        if life == worker.life:
            self._reply(worker, life)

    def _reply(self, worker: Worker, life: int) -> None:
        received = partial(worker.received, life)
        if self._beside(worker):
            received()
        else:
            bits = self.case.broadcast_bits * self.case.parameters
            self.links.send(
                self.region, self._region_of(worker), bits, partial(self._later, received)
            )

    def _later(self, action: partial[None]) -> None:
        assert self.case.reckoning is not None
        latency = self.case.reckoning.length(self.case.latency)
        Moment(self.env, latency, Order.ARRIVAL, action)

    def _region_of(self, worker: Worker) -> str:
        return self.case.units[worker.index].region

    def _beside(self, worker: Worker) -> bool:
        return self._region_of(worker) == self.region
