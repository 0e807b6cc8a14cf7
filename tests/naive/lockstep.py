"""diloco and streaming_diloco: units coupled by what they send and wait for."""

from __future__ import annotations

import math
from collections.abc import Generator
from functools import partial

from simpy import Event

from .case import Case
from .clock import Moment, Order
from .network import (
    Pipe,
    Ring,
    node_time,
    ring_factor,
    ring_latency,
    step_layer_offset,
)
from .phases import EXPOSED, WAITING
from .stepping import SteppingUnit, SteppingUnits


class Sync:
    """What is reduced after one step."""

    def __init__(self, step: int, fragments: list[int]) -> None:
        self.step = step
        self.fragments = fragments
        self.all_live_at_completion: bool | None = None
        self.started: float | None = None
        self.arrived: set[int] = set()

    @property
    def complete(self) -> bool:
        """Every fragment has arrived."""
        return self.arrived == set(self.fragments)


class LockstepUnit(SteppingUnit):
    """A unit that stops until what was sent after step s is there, tau steps later."""

    def __init__(self, simulation: LockstepUnits, index: int) -> None:
        super().__init__(simulation, index)
        self.lockstep = simulation
        self.gates: list[tuple[int, Event]] = []
        self.releasing: dict[int, float] = {}
        self.released: dict[int, dict[int, float]] = {}

    @property
    def awaited(self) -> Sync | None:
        """What the step in progress, or the next, needs."""
        return self.lockstep.sync_after(self.taken - self.lockstep.overlap)

    def waiting_account(self) -> str:
        assert self.awaited is not None
        return WAITING if self.awaited.started is None else EXPOSED

    def boundary(self) -> Generator[Event, None, None]:
        while not self.running or (self.lockstep.gate_at_boundary and self._must_wait()):
            yield from self.simulation.look_again()

    def _must_wait(self) -> bool:
        return self.awaited is not None and not self.awaited.complete

    def prepare_step(self) -> None:
        self.releasing = {}
        self.gates = []
        layers = self.case.layers
        if self.case.release == "by_layer":
            for layer in range(layers, 0, -1):
                offset = step_layer_offset(layer, layers, self.compute)
                self.count_down(offset, Order.COMPLETED, partial(self._release, layer))
        if not self.lockstep.gate_at_boundary and self.awaited is not None:
            for fragment in sorted(self.awaited.fragments):
                reached = Event(self.env)
                offset = fragment * node_time(layers, self.compute)
                self.count_down(offset, Order.NEXT, reached.succeed)
                self.gates.append((fragment, reached))

    def pass_gates(self) -> Generator[Event, None, None]:
        for fragment, reached in self.gates:
            yield reached
            assert self.awaited is not None
            if fragment in self.awaited.arrived:
                continue
            self.at_gate = True
            for countdown in self.countdowns:
                countdown.pause()
            while fragment not in self.awaited.arrived:
                yield from self.simulation.look_again()
            self.at_gate = False
            self.go_on()

    def _release(self, layer: int) -> None:
        self.releasing[layer] = self.env.now

    def completed(self) -> None:
        self.released[self.taken] = self.releasing


class LockstepUnits(SteppingUnits):
    """All units take part in everything that is sent."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        diloco = case.method == "diloco"
        self.diloco = diloco
        self.overlap = 0 if diloco else case.overlap_steps
        self.fragments = 1 if diloco else case.fragments
        self.gate_at_boundary = diloco or case.release == "end_of_step"
        self.syncs: dict[int, Sync] = {}
        regions = [unit.region for unit in case.units]
        self.ring = Ring(case, regions, self.traffic)
        self.pipe = Pipe(self.ring)
        self.units = [LockstepUnit(self, index) for index in self.members]

    def unit(self, index: int) -> SteppingUnit:
        return self.units[index]

    def due(self, step: int) -> list[int]:
        """Fragments due at a step; diloco's whole model is fragment 0."""
        steps, count = self.case.inner_steps, self.fragments
        return [p for p in range(count) if step % steps == p * steps // count]

    def sync_after(self, step: int) -> Sync | None:
        """What is sent after that step, if anything is."""
        if step < 1 or not self.due(step):
            return None
        if step not in self.syncs:
            self.syncs[step] = Sync(step, self.due(step))
        return self.syncs[step]

    def close_what_can_close(self) -> None:
        everyone_has = min(unit.taken for unit in self.units)
        all_live = all(self.live(unit) for unit in self.members)
        for step in range(1, everyone_has + 1):
            sync = self.sync_after(step)
            if sync is None or sync.started is not None:
                continue
            if sync.all_live_at_completion is None:
                sync.all_live_at_completion = all_live
            if all_live:
                self._start(sync)

    def _start(self, sync: Sync) -> None:
        now = sync.started = self.env.now
        arrival = dict.fromkeys(sync.fragments, now)
        if self.ring.used:
            for released, bits, fragment in self._to_send(sync):
                drained = self.pipe.send(released, bits)
                arrival[fragment] = drained + ring_latency(self.case, len(self.units))
        for fragment, time in arrival.items():
            if time < math.inf:
                delay = max(0.0, time - now)
                Moment(self.env, delay, Order.ARRIVAL, partial(self._arrive, sync, fragment))

    def _to_send(self, sync: Sync) -> list[tuple[float, float, int]]:
        """(release, bits, fragment) in the order of the pipe."""
        case, now = self.case, self.env.now
        payload = (
            case.payload_bits * case.parameters / self.fragments * ring_factor(len(self.units))
        )
        if case.release == "end_of_step":
            return [(now, payload, fragment) for fragment in sync.fragments]
        queue: list[tuple[float, int, float, int]] = []
        for fragment in sync.fragments:
            layers = [
                layer
                for layer in range(1, case.layers + 1)
                if (layer - 1) % self.fragments == fragment
            ]
            for layer in layers:
                released = now
                if sync.all_live_at_completion:
                    released = max(unit.released[sync.step][layer] for unit in self.units)
                queue.append((released, -layer, payload / len(layers), fragment))
        return [(released, bits, fragment) for released, _, bits, fragment in sorted(queue)]

    def _arrive(self, sync: Sync, fragment: int) -> None:
        sync.arrived.add(fragment)
        if sync.complete:
            assert sync.started is not None
            number = sync.step // self.case.inner_steps if self.diloco else sync.step
            self.merges.append((number, sync.started, self.env.now, tuple(self.members)))
        self.stir()
