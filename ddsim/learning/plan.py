"""What has to be known of a tape before it is replayed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ddsim.learning.config import LearningConfig
from ddsim.learning.errors import TapeError
from ddsim.learning.job import START, step_tokens
from ddsim.learning.tape import (
    Corrupt,
    Event,
    GoBack,
    JobSteps,
    Kept,
    Merge,
    Receive,
    Rejoin,
    Rollback,
    Save,
    Steps,
)

LearnerSave = tuple[int, int]
"""A learner, and the number of one of its saves."""


@dataclass
class Plan:
    """Totals and last uses.

    `totals` are the steps that each learner goes on from, in full ones; `job_total` the tokens that
    a job keeps. `let_go` has the slots whose results nobody needs after an event, by its place on
    the tape; `rejoins` the slot that made each fragment which a learner takes when it begins anew.
    `rollbacks` say to which save a job goes back, by their places; `kept` are the saves of learners
    that somebody goes back to, `anew` the learners of whom somebody takes what they began with.
    """

    totals: list[float]
    job_total: float = 0.0
    is_job: bool = False
    let_go: dict[int, list[int]] = field(default_factory=dict)
    rejoins: dict[int, list[int | None]] = field(default_factory=dict)
    rollbacks: dict[int, int] = field(default_factory=dict)
    kept: dict[int, LearnerSave] = field(default_factory=dict)
    anew: set[int] = field(default_factory=set)


@dataclass
class Past:
    """What was so at a learner's save: its own total, and how many slots had made each fragment."""

    place: int
    total: float
    made: list[int]


def plan(tape: Sequence[Event], config: LearningConfig) -> Plan:
    """Go through a tape once; raises TapeError where it does not make sense."""
    result = Plan([0.0] * config.learners)
    made: list[list[int]] = [[] for _ in range(config.fragments)]
    last_use: dict[int, int] = {}
    saves = [(START, 0.0)]
    nothing = [0] * config.fragments
    past = {(learner, 0): Past(START, 0.0, nothing) for learner in range(config.learners)}
    numbers = [0] * config.learners
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
                saves.append((place, result.job_total))
            case Rollback():
                del saves[max(1, len(saves) - event.saves) :]
                result.rollbacks[place], result.job_total = saves[-1]
            case Corrupt():
                _known((event.learner,), config, place)
            case Kept():
                _known((event.learner,), config, place)
                numbers[event.learner] += 1
                counts = [len(slots) for slots in made]
                now = Past(place, result.totals[event.learner], counts)
                past[event.learner, numbers[event.learner]] = now
            case GoBack():
                if len(event.learners) != len(event.saves):
                    raise TapeError(f"learners and saves differ in number at event {place}")
                source = _past(past, event.source, place, result)
                for fragment, count in enumerate(source.made):
                    del made[fragment][count:]
                for save in zip(event.learners, event.saves, strict=True):
                    result.totals[save[0]] = _past(past, save, place, result).total
    for slot, place in last_use.items():
        result.let_go.setdefault(place, []).append(slot)
    return result


def _newest(slots: list[int], arrived: int) -> int | None:
    return next((slot for slot in reversed(slots) if slot <= arrived), None)


def _past(past: dict[LearnerSave, Past], save: LearnerSave, place: int, result: Plan) -> Past:
    """Return what was so at a save, which has to be kept."""
    if save not in past:
        raise TapeError(f"no save {save[1]} of learner {save[0]} before event {place} of the tape")
    found = past[save]
    if found.place == START:
        result.anew.add(save[0])
    else:
        result.kept[found.place] = save
    return found


def _known(learners: Iterable[int], config: LearningConfig, place: int) -> None:
    for learner in learners:
        if not 0 <= learner < config.learners:
            count = config.learners
            raise TapeError(f"no learner {learner} among {count}, at event {place} of the tape")
