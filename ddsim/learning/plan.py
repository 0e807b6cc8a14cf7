"""What has to be known of a tape before it is replayed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ddsim.learning.config import LearningConfig
from ddsim.learning.errors import TapeError
from ddsim.learning.job import step_tokens
from ddsim.learning.tape import Event, JobSteps, Merge, Receive, Rejoin, Rollback, Save, Steps


@dataclass
class Plan:
    """Totals and last uses.

    `totals` are each learner's steps, in full ones; `job_total` the tokens that a job keeps.
    `let_go` has the slots whose results nobody needs after an event, by its place on the tape;
    `rejoins` the slot that made each fragment which a learner takes when it begins anew.
    """

    totals: list[float]
    job_total: float = 0.0
    is_job: bool = False
    let_go: dict[int, list[int]] = field(default_factory=dict)
    rejoins: dict[int, list[int | None]] = field(default_factory=dict)


def plan(tape: Sequence[Event], config: LearningConfig) -> Plan:
    """Go through a tape once; raises TapeError where it does not make sense."""
    result = Plan([0.0] * config.learners)
    made: list[list[int]] = [[] for _ in range(config.fragments)]
    last_use: dict[int, int] = {}
    saved = 0.0
    before = 0.0
    for place, event in enumerate(tape):
        if event.time < before:
            raise TapeError(f"the tape goes back in time at event {place}: {event}")
        before = event.time
        match event:
            case Steps():
                _known((event.learner,), config, place)
                result.totals[event.learner] += event.steps * event.share
            case Merge():
                _known(event.learners, config, place)
                last_use[event.slot] = place
                for fragment in event.fragments:
                    made[fragment].append(event.slot)
            case Receive():
                if event.slot not in last_use:
                    raise TapeError(f"nothing was merged before event {place}: {event}")
                last_use[event.slot] = place
            case Rejoin():
                slots = [_newest(slots, event.arrived) for slots in made]
                result.rejoins[place] = slots
                last_use.update({slot: place for slot in slots if slot is not None})
            case JobSteps():
                result.is_job = True
                result.job_total += event.steps * step_tokens(config, event.shares)
            case Save():
                result.is_job = True
                saved = result.job_total
            case Rollback():
                result.job_total = saved
    for slot, place in last_use.items():
        result.let_go.setdefault(place, []).append(slot)
    return result


def _newest(slots: list[int], arrived: int) -> int | None:
    return next((slot for slot in reversed(slots) if slot <= arrived), None)


def _known(learners: Iterable[int], config: LearningConfig, place: int) -> None:
    for learner in learners:
        if not 0 <= learner < config.learners:
            count = config.learners
            raise TapeError(f"no learner {learner} among {count}, at event {place} of the tape")
