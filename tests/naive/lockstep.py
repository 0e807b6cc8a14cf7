"""diloco and streaming_diloco: units coupled by what they send and wait for."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from functools import partial

from simpy import Event

from .case import Case
from .clock import Moment, Order
from .ledger import StepRecord
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
from .worth import Answer, enter


class Sync:
    """What is reduced after one step."""

    def __init__(self, step: int, fragments: list[int]) -> None:
        self.step = step
        self.fragments = fragments
        self.all_live_at_completion: bool | None = None
        self.started: float | None = None
        self.arrived: set[int] = set()
        self.members: tuple[int, ...] = ()

    @property
    def complete(self) -> bool:
        """Every fragment has arrived."""
        return self.arrived == set(self.fragments)


@dataclass
class Kept:
    """A completed step that still counts, and which one of the job it was."""

    number: int
    record: StepRecord


class LockstepUnit(SteppingUnit):
    """A unit that stops until what was sent after step s is there, tau steps later."""

    def __init__(self, simulation: LockstepUnits, index: int) -> None:
        super().__init__(simulation, index)
        self.lockstep = simulation
        self.gates: list[tuple[int, Event]] = []
        self.releasing: dict[int, float] = {}
        self.released: dict[int, dict[int, float]] = {}
        self.completed_at: dict[int, float] = {}
        self.answers: dict[int, Answer] = {}
        self.kept: list[Kept] = []
        self.own: int | None = None
        self.out = False
        self.known_at: float = 0

    def lost(self) -> None:
        super().lost()
        if self.case.on_failure == "leave":
            self.own = 0
            self.answers = {
                step: answer
                for step, answer in self.answers.items()
                if self.lockstep.syncs[step].started is not None
            }
            self.known_at = self.env.now + self.body.detection
            Moment(self.env, self.body.detection, Order.DETECTED, self.simulation.stir)

    def _complete(self, over: Event) -> None:
        assert self.step is not None
        self.kept.append(Kept(self.taken + 1, self.step))
        super()._complete(over)

    def forget(self, after: int, upto: float) -> None:
        """The steps of the job with a number in (after, upto] come to nothing."""
        lost = [item for item in self.kept if after < item.number <= upto]
        self.kept = [item for item in self.kept if not after < item.number <= upto]
        for item in lost:
            self.simulation.ledger.waste(item.record)
            self.simulation.tokens -= item.record.tokens

    def go_back(self, number: int) -> None:
        """Stand at the end of that step of the job again."""
        self.forget(number, math.inf)
        if self.step is not None:
            for countdown in self.countdowns:
                countdown.drop()
            self.countdowns = []
            self.at_gate = False
            self.simulation.ledger.waste(self.step)
            self.step = None
            self.process.interrupt()
        self.taken = number

    @property
    def awaited(self) -> Sync | None:
        """What the step in progress, or the next, needs."""
        if self.own is not None:
            return None
        return self.lockstep.sync_after(self.taken - self.lockstep.overlap)

    def waiting_account(self) -> str:
        assert self.awaited is not None
        return WAITING if self.awaited.started is None else EXPOSED

    def boundary(self) -> Generator[Event, None, None]:
        while True:
            self._receive()
            if self.running and not (self.lockstep.gate_at_boundary and self._must_wait()):
                return
            yield from self.simulation.look_again()

    def _must_wait(self) -> bool:
        return self.awaited is not None and not self.awaited.complete

    def _receive(self) -> None:
        """Take in all that is there of what the step needs."""
        if self.awaited is not None:
            for fragment in self.awaited.arrived:
                self.worth.receive(fragment, self.awaited.step, kept=self.lockstep.mixing)

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
                # What is needed at once is awaited before the data, as at a boundary.
                self.count_down(offset, Order.NEXT, reached.succeed, with_data=fragment > 0)
                self.gates.append((fragment, reached))

    def pass_gates(self) -> Generator[Event, None, None]:
        for fragment, reached in self.gates:
            yield reached
            assert self.awaited is not None
            if fragment not in self.awaited.arrived:
                self.at_gate = True
                for countdown in self.countdowns:
                    countdown.pause()
                while fragment not in self.awaited.arrived:
                    yield from self.simulation.look_again()
                self.at_gate = False
                self.go_on()
            self._receive()

    def _release(self, layer: int) -> None:
        self.releasing[layer] = self.env.now

    def completed(self) -> None:
        if self.own is not None:
            self.own += 1
            self.taken -= 1
            if self.own < self.case.inner_steps:
                return
            self.own, self.out = None, False
            self.taken = self.lockstep.next_due()
        sync = self.lockstep.sync_after(self.taken)
        if sync is not None:
            self.answers[self.taken] = self.worth.answer(sync.fragments)
        self.released[self.taken] = self.releasing
        self.completed_at[self.taken] = self.env.now


class LockstepUnits(SteppingUnits):
    """All units take part in everything that is sent."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        diloco = case.method == "diloco"
        self.mixing = 0 if diloco else case.mixing
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

    def steps_of(self, unit: int) -> float:
        return float(len(self.units[unit].kept))

    def close_what_can_close(self) -> None:
        if self.case.on_failure == "wait":
            self._close_with_everyone()
        elif self.case.on_failure == "leave":
            self._close_with_those_counted_on()
        else:
            self._close_with_those_who_are_there()

    def _close_with_those_who_are_there(self) -> None:
        there = tuple(unit for unit in self.members if self.hardware.has_hardware(unit))
        for step in range(1, max(unit.taken for unit in self.units) + 1):
            sync = self.sync_after(step)
            if sync is None or sync.started is not None:
                continue
            behind = [unit for unit in there if self.units[unit].taken < step]
            if not there or behind or not all(self.live(unit) for unit in there):
                return
            absent = [unit for unit in self.members if unit not in there]
            if absent and self.case.on_failure == "rollback":
                self._roll_back_to(self._due_before(step))
                return
            for unit in absent:
                self.units[unit].forget(self._due_before(step), step)
                self.units[unit].taken = max(self.units[unit].taken, step)
            sync.members = there
            times = [self.units[unit].completed_at[step] for unit in there]
            sync.all_live_at_completion = self.env.now in times
            self._start(sync)

    def next_due(self) -> int:
        """The first step after which something is to be sent that has not been."""
        step = 1
        while (sync := self.sync_after(step)) is None or sync.started is not None:
            step += 1
        return step

    def _close_with_those_counted_on(self) -> None:
        while True:
            step = self.next_due()
            sync = self.sync_after(step)
            assert sync is not None
            counted = tuple(
                index
                for index, unit in enumerate(self.units)
                if not unit.out
                and (self.hardware.has_hardware(index) or self.env.now < unit.known_at)
            )
            ready = [self.live(u) and step in self.units[u].answers for u in counted]
            if not counted or not all(ready):
                return
            for index, unit in enumerate(self.units):
                unit.out = index not in counted
            sync.members = counted
            times = [self.units[unit].completed_at[step] for unit in counted]
            sync.all_live_at_completion = self.env.now in times
            self._start(sync)

    def _due_before(self, step: int) -> int:
        return max((s for s in range(1, step) if self.due(s)), default=0)

    def _roll_back_to(self, step: int) -> None:
        self.syncs = {s: sync for s, sync in self.syncs.items() if sync.started is not None}
        for unit in self.units:
            unit.go_back(step)
        self.stir()

    def _close_with_everyone(self) -> None:
        everyone_has = min(unit.taken for unit in self.units)
        all_live = all(self.live(unit) for unit in self.members)
        for step in range(1, everyone_has + 1):
            sync = self.sync_after(step)
            if sync is None or sync.started is not None:
                continue
            if sync.all_live_at_completion is None:
                sync.all_live_at_completion = all_live
            if all_live:
                sync.members = tuple(self.members)
                self._start(sync)

    def _start(self, sync: Sync) -> None:
        now = sync.started = self.env.now
        for member in sync.members:
            enter(self.units[member].answers[sync.step])
        arrival = dict.fromkeys(sync.fragments, now)
        self.ring = Ring(self.case, [self.case.units[m].region for m in sync.members], self.traffic)
        self.pipe.ring = self.ring
        if self.ring.used:
            for released, bits, fragment in self._to_send(sync):
                drained = self.pipe.send(released, bits)
                arrival[fragment] = drained + ring_latency(self.case, len(sync.members))
        for fragment, time in arrival.items():
            if time < math.inf:
                delay = max(0, time - now)
                Moment(self.env, delay, Order.ARRIVAL, partial(self._arrive, sync, fragment))

    def _to_send(self, sync: Sync) -> list[tuple[float, float, int]]:
        """(release, bits, fragment) in the order of the pipe."""
        case, now = self.case, self.env.now
        payload = case.payload_bits * case.parameters / self.fragments
        payload *= ring_factor(len(sync.members))
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
                    released = max(self.units[m].released[sync.step][layer] for m in sync.members)
                queue.append((released, -layer, payload / len(layers), fragment))
        return [(released, bits, fragment) for released, _, bits, fragment in sorted(queue)]

    def _arrive(self, sync: Sync, fragment: int) -> None:
        sync.arrived.add(fragment)
        if sync.complete:
            assert sync.started is not None
            number = sync.step // self.case.inner_steps if self.diloco else sync.step
            self.merges.append((number, sync.started, self.env.now, sync.members))
        self.stir()
