"""What stalls as one: an elastic unit or job, and the job that replaces what it lost."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Protocol

from simpy import Environment, Event, Interrupt, Process

from .case import Case
from .clock import Moment, Order
from .hardware import Hardware, Place
from .phases import (
    DETECTION,
    DOWNSCALE,
    FAILED,
    RESTART,
    RESTORE,
    RUNNING,
    STRANDED,
    UPSCALE,
)

Stages = Sequence[tuple[str, float]]


class Owner(Protocol):
    """What runs on a body and is told of its stalls."""

    def suspended(self) -> None:
        """A stall begins."""

    def resumed(self) -> None:
        """A stall, or the loss of all hardware and what came after, is over."""

    def lost(self) -> None:
        """What is in progress is lost."""

    def first_return(self) -> None:
        """Hardware is back where there was none."""


class Body(Protocol):
    """A set of places that stalls as one."""

    phase: str

    def struck(self, detection: float) -> None:
        """A strike has just taken places down."""

    def returned(self) -> None:
        """One strike's slices are back."""


class ElasticBody:
    """Goes on without what it lost, at the price of a stall then and another on return."""

    def __init__(
        self,
        env: Environment,
        case: Case,
        places: Sequence[Place],
        restart_stages: Stages,
        owner: Owner,
    ) -> None:
        self.env = env
        self.case = case
        self.places = places
        self.restart_stages = restart_stages
        self.owner = owner
        self.phase = RUNNING
        self.stall_end: float = 0
        self.moment: Moment | None = None
        self.detection: float = 0

    def struck(self, detection: float) -> None:
        """Reconfigure without what was lost; with nothing left, be lost whole."""
        if any(place.up for place in self.places):
            self._reconfigure([(DETECTION, detection), (DOWNSCALE, self.case.downscale)])
        else:
            self._leave_stage()
            self.phase = FAILED
            self.detection = detection
            self.owner.lost()

    def returned(self) -> None:
        """Take hardware in; restart on it if there was none."""
        if self.phase == FAILED:
            self.owner.first_return()
            self._begin(self.restart_stages)
        else:
            self._reconfigure([(UPSCALE, self.case.upscale)])

    def _reconfigure(self, stages: Stages) -> None:
        end = self._end_of(stages)
        if self.phase == RUNNING:
            if end > self.env.now:
                self.owner.suspended()
                self._begin(stages)
        elif self.case.elastic_rule == "extend" and end > self.stall_end:
            self._leave_stage()
            self._begin(stages)

    def _end_of(self, stages: Stages) -> float:
        end = self.env.now
        for _, length in stages:
            end += length
        return end

    def _begin(self, stages: Stages) -> None:
        self.stall_end = self._end_of(stages)
        self._enter([stage for stage in stages if stage[1] > 0])

    def _enter(self, stages: Stages) -> None:
        if not stages:
            self.phase = RUNNING
            self.owner.resumed()
            return
        (self.phase, length), *rest = stages
        self.moment = Moment(self.env, length, Order.END_OF_STALL, lambda: self._enter(rest))

    def _leave_stage(self) -> None:
        if self.moment is not None:
            self.moment.cancel()


class ReplacingBody:
    """Stops as a whole: detect, replace, restore, restart."""

    def __init__(self, env: Environment, case: Case, hardware: Hardware, owner: Owner) -> None:
        self.env = env
        self.case = case
        self.hardware = hardware
        self.owner = owner
        self.phase = RUNNING
        self.recovery: Process | None = None
        self.filled = Event(env)
        hardware.on_detected = self.returned

    def struck(self, detection: float) -> None:
        """Start the order of recovery, or start it again, or fold the strike in."""
        if self.phase == RUNNING:
            self.owner.lost()
        elif self.case.restart_rule == "extend":
            assert self.recovery is not None
            self.recovery.interrupt()
        else:
            return
        # Any phase but running: the process itself begins at this instant, after this strike.
        self.phase = DETECTION
        self.recovery = self.env.process(self._recover(detection))

    def returned(self) -> None:
        """Places may have been filled: whoever is stranded looks."""
        filled, self.filled = self.filled, Event(self.env)
        filled.succeed()

    def _recover(self, detection: float) -> Generator[Event, None, None]:
        absorb = self.case.restart_rule == "absorb"
        places = self.hardware.every_place()
        try:
            yield from self._stage(DETECTION, detection)
            known = [p for p in places if not p.up and (p.detected or not absorb)]
            yield from self._strand(known)
            yield from self._stage(RESTORE, self.case.restore)
            yield from self._stage(RESTART, self.case.restart_time)
            if absorb:
                yield from self._strand(places)
        except Interrupt:
            return
        self.phase = RUNNING
        self.owner.resumed()

    def _stage(self, phase: str, length: float) -> Generator[Event, None, None]:
        if length > 0:
            self.phase = phase
            yield Moment(self.env, length, Order.END_OF_STALL)

    def _strand(self, places: Sequence[Place]) -> Generator[Event, None, None]:
        while any(not place.up for place in places):
            self.phase = STRANDED
            yield self.filled
