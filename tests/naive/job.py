"""data_parallel and elastic_data_parallel: one job, a gradient reduction at every step."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial

from simpy import Event, Interrupt

from .bodies import Body, ElasticBody, ReplacingBody
from .case import Case
from .clock import Countdown, Moment, Order
from .ledger import StepRecord
from .network import Pipe, Ring, ring_factor, ring_latency, step_layer_offset
from .phases import EXPOSED, LOADING, PRODUCTIVE, RESTART, RESTORE, RUNNING, SAVE, WAITING
from .simulation import Simulation
from .worth import Worth, enter


class JobStep(StepRecord):
    """A step of all units together."""

    def __init__(self, members: Sequence[int], compute_ended: Event) -> None:
        super().__init__()
        self.loaded = dict.fromkeys(members, False)
        self.computed = dict.fromkeys(members, False)
        self.compute_ended = compute_ended
        self.compute_over = False
        self.unreleased: dict[int, set[int]] = {}
        """By layer, from the last: the units that have computed its gradients."""
        self.traffic_since = 0


class LockstepJob(Simulation):
    """All units step together; the job stalls as one body."""

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.elastic = case.method == "elastic_data_parallel"
        self.body: Body
        if self.elastic:
            stages = [(RESTART, case.restart_time)]
            if case.checkpoint_policy != "none":
                stages.insert(0, (RESTORE, case.restore))
            places = self.hardware.every_place()
            self.body = ElasticBody(self.env, case, places, stages, self)
        else:
            self.body = ReplacingBody(self.env, case, self.hardware, self)
        self.begun = 0
        self.step: JobStep | None = None
        self.saving = False
        self.countdowns: list[Countdown] = []
        self.records: list[StepRecord] = []
        self.saves: list[tuple[float, int]] = []
        """When each was there, and the steps in it; of copies in memory the last alone."""
        self.running_time: float = 0
        self.life_process = self.env.process(self._life())

    # What the simulation asks.

    def body_of(self, unit: int) -> Body:
        return self.body

    def step_of(self, unit: int) -> StepRecord | None:
        return self.step

    def stepping(self, unit: int) -> bool:
        return self.body.phase == RUNNING

    def steps_of(self, unit: int) -> float:
        return float(len(self.records))

    def worths(self) -> Sequence[Worth]:
        worth = Worth(1)
        for record in self.records:
            worth.completed(record)
        enter(worth.answer([0]))
        return [worth]

    def running_account_of(self, unit: int) -> str:
        if self.saving:
            return SAVE
        assert self.step is not None
        if self.step.compute_over:
            return EXPOSED
        if not self.step.loaded[unit]:
            return LOADING
        return WAITING if self.step.computed[unit] else PRODUCTIVE

    # What the body tells.

    def suspended(self) -> None:
        for countdown in self.countdowns:
            countdown.pause()

    def resumed(self) -> None:
        for countdown in self.countdowns:
            countdown.go()
        self.hardware_changed()
        self.stir()

    def lost(self) -> None:
        for countdown in self.countdowns:
            countdown.drop()
        self.countdowns = []
        self.saving = False
        if self.step is not None:
            self.traffic.stop(self.step.traffic_since, self.env.now)
            self.ledger.waste(self.step)
            self.step = None
        if not self.elastic:
            self._roll_back()
        self.life_process.interrupt()

    def first_return(self) -> None:
        if self.case.checkpoint_policy != "none":
            self._roll_back()

    def time_passes(self, seconds: float) -> None:
        if self.body.phase == RUNNING and not self.saving:
            self.running_time += seconds

    def hardware_changed(self) -> None:
        self._see_what_is_computed()

    # What the job does.

    def _life(self) -> Generator[Event, None, None]:
        while True:
            try:
                yield self.my_turn()
                while self.body.phase != RUNNING:
                    yield from self.look_again()
                yield from self._step()
                if self._save_is_due():
                    yield from self._save()
            except Interrupt:
                continue

    def _step(self) -> Generator[Event, None, None]:
        k, self.begun = self.begun, self.begun + 1
        step = self.step = JobStep(self.members, Event(self.env))
        step.traffic_since = len(self.traffic.stretches)
        present = [unit for unit in self.members if self.hardware.has_hardware(unit)]
        ring = Ring(self.case, [self.case.units[u].region for u in present], self.traffic)
        self.pipe = Pipe(ring)
        self.layer_bits = (
            ring_factor(len(present))
            * self.case.gradient_bits
            * self.case.parameters
            / self.case.layers
        )
        self.countdowns = []
        if ring.used:
            step.unreleased = {layer: set() for layer in range(self.case.layers, 0, -1)}
        for unit in self.members:
            self._prepare(step, unit, k)
        yield step.compute_ended
        if ring.used:
            end = self.pipe.free_at + ring_latency(self.case, len(present))
            if end > self.env.now:
                yield Moment(self.env, end - self.env.now, Order.COMPLETED)
            while self.body.phase != RUNNING:
                yield from self.look_again()
        self._complete(step)

    def _prepare(self, step: JobStep, unit: int, k: int) -> None:
        """A unit without hardware is prepared too: it may join in mid-step."""
        compute = self.clock.length(self.case.units[unit].step_time * self.case.jitter(unit, k))
        delay = self.case.delay(unit, k)
        step.loaded[unit] = delay == 0
        if delay > 0:
            self._count_down(delay, partial(self._loaded, step, unit))
        for layer in step.unreleased:
            offset = self.clock.length(step_layer_offset(layer, self.case.layers, compute))
            self._count_down(delay + offset, partial(self._layer_computed, step, unit, layer))
        self._count_down(delay + compute, partial(self._computed, step, unit))

    def _count_down(self, length: float, action: Callable[[], object]) -> None:
        length = self.clock.length(length)
        countdown = Countdown(self.env, length, Order.COMPLETED, action)
        self.countdowns.append(countdown)
        countdown.go()

    def _release(self, step: JobStep, layer: int) -> None:
        del step.unreleased[layer]
        self.pipe.send(self.env.now, self.layer_bits)

    def _loaded(self, step: JobStep, unit: int) -> None:
        step.loaded[unit] = True

    def _layer_computed(self, step: JobStep, unit: int, layer: int) -> None:
        if layer in step.unreleased:
            step.unreleased[layer].add(unit)
        self._see_what_is_computed()

    def _computed(self, step: JobStep, unit: int) -> None:
        step.computed[unit] = True
        self._see_what_is_computed()

    def _see_what_is_computed(self) -> None:
        """Release what the slowest unit that has hardware has computed; see whether it is all."""
        step = self.step
        if step is None or step.compute_over or self.body.phase != RUNNING:
            return
        present = {unit for unit in self.members if self.hardware.has_hardware(unit)}
        for layer, units in list(step.unreleased.items()):
            if present <= units:
                self._release(step, layer)
        if not all(step.computed[unit] for unit in present):
            return
        step.compute_over = True
        for countdown in self.countdowns:
            countdown.drop()
        for layer in list(step.unreleased):
            self._release(step, layer)
        step.compute_ended.succeed()

    def _complete(self, step: JobStep) -> None:
        healthy = self.hardware.healthy_chips()
        step.tokens = self.case.tokens_per_step * healthy / self.case.chips
        self.tokens += step.tokens
        self.records.append(step)
        self.step = None
        self.countdowns = []

    def _save_is_due(self) -> bool:
        case = self.case
        if case.checkpoint_policy == "none":
            return False
        if case.checkpoint_policy == "in_memory":
            return True
        if case.interval is None:
            return len(self.records) - self._saved >= case.interval_steps
        return self.running_time >= case.interval

    def _save(self) -> Generator[Event, None, None]:
        if self.case.save > 0:
            done = Event(self.env)
            self.saving = True
            self._count_down(self.case.save, done.succeed)
            yield done
            self.saving = False
            self.countdowns = []
        if self.case.checkpoint_policy == "in_memory":
            self.saves = []
        self.saves.append((self.env.now, len(self.records)))
        self.running_time = 0

    @property
    def _saved(self) -> int:
        return self.saves[-1][1] if self.saves else 0

    def corrupt(self, since: float) -> None:
        self.saves = [(when, steps) for when, steps in self.saves if when <= since]
        if self.body.phase != RUNNING:
            self._roll_back()

    def _roll_back(self) -> None:
        for step in self.records[self._saved :]:
            self.ledger.waste(step)
            self.tokens -= step.tokens
        del self.records[self._saved :]
        self.running_time = 0
