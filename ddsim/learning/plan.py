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
    Waste,
)

LearnerSave = tuple[int, int]
"""A learner, and the number of one of its saves."""


@dataclass
class Plan:
    """Totals and last uses.

    `job_total` are the tokens that a job keeps. `progress` says of steps, by their place on the
    tape, from which share of all tokens that are kept to which the learners got at that instant,
    together. `let_go` has the slots whose results nobody needs after an event, by its place;
    `rejoins` the slot that made each fragment which a learner takes when it begins anew.
    `rollbacks` say to which save a job goes back, by their places; `kept` are the saves of learners
    that somebody goes back to, `anew` the learners of whom somebody takes what they began with.
    `marks` are after how many steps each learner keeps what it goes back to when its round is
    discarded, `discards` that number by the places at which it is, and whether nobody goes back
    to it later.
    """

    marks: list[set[int]]
    job_total: float = 0.0
    progress: dict[int, tuple[float, float]] = field(default_factory=dict)
    discards: dict[int, tuple[int, bool]] = field(default_factory=dict)
    is_job: bool = False
    let_go: dict[int, list[int]] = field(default_factory=dict)
    rejoins: dict[int, list[int | None]] = field(default_factory=dict)
    rollbacks: dict[int, int] = field(default_factory=dict)
    kept: dict[int, LearnerSave] = field(default_factory=dict)
    anew: set[int] = field(default_factory=set)


@dataclass
class Past:
    """What was so at a learner's save: what it had done, and how many slots made each fragment."""

    place: int
    tokens: float
    steps: int
    made: list[int]


class Standing:
    """What of the learners' work stands as a tape goes by, and how far they are together.

    All steps that end at one instant share evenly in how far the job gets by it, so that it does
    not matter in which order the tape has them. Of each learner `steps` are the numbers of those
    that stand, `lost` how many it had taken when it lost its hardware last.
    """

    def __init__(self, learners: int) -> None:
        self.tokens = [0.0] * learners
        self.steps: list[list[int]] = [[] for _ in range(learners)]
        self.taken = [0] * learners
        self.lost = [0] * learners
        self._spans: dict[int, tuple[float, float]] = {}
        self._together: list[int] = []
        self._now = self._begun = 0.0

    def take(self, place: int, event: Steps, tokens: float) -> None:
        """Count steps, of so many tokens together."""
        if event.time != self._now or not self._together:
            self._end_instant()
            self._now, self._begun = event.time, sum(self.tokens)
        self._together.append(place)
        who, taken = event.learner, self.taken[event.learner]
        self.tokens[who] += tokens
        self.taken[who] += event.steps
        self.steps[who] += range(taken + 1, taken + 1 + event.steps)

    def undo(self, learner: int, tokens: float, steps: int) -> None:
        """Let a learner's work stand up to so many tokens and steps only."""
        self._end_instant()
        self.tokens[learner] = tokens
        del self.steps[learner][steps:]

    def mark(self, learner: int) -> int:
        """After how many steps a learner had what it goes back to when its round is discarded."""
        stands = self.steps[learner]
        return max(stands[-1] if stands else 0, self.lost[learner])

    def progress(self) -> dict[int, tuple[float, float]]:
        """From which share of all that stands in the end to which all got, by steps' places."""
        self._end_instant()
        total = sum(self.tokens) or 1.0
        return {at: (begin / total, end / total) for at, (begin, end) in self._spans.items()}

    def _end_instant(self) -> None:
        span = self._begun, sum(self.tokens)
        self._spans.update(dict.fromkeys(self._together, span))
        self._together.clear()


def plan(tape: Sequence[Event], config: LearningConfig) -> Plan:
    """Go through a tape once; raises TapeError where it does not make sense."""
    result = Plan([set() for _ in range(config.learners)])
    standing = Standing(config.learners)
    made: list[list[int]] = [[] for _ in range(config.fragments)]
    last_use: dict[int, int] = {}
    last_discard: dict[tuple[int, int], int] = {}
    saves = [(START, 0.0)]
    nothing = [0] * config.fragments
    past = {(learner, 0): Past(START, 0.0, 0, nothing) for learner in range(config.learners)}
    numbers = [0] * config.learners
    before = 0.0
    for place, event in enumerate(tape):
        if event.time < before:
            raise TapeError(f"the tape goes back in time at event {place}: {event}")
        before = event.time
        match event:
            case Steps():
                _known((event.learner,), config, place)
                tokens = event.steps * event.share * config.tokens[event.learner]
                standing.take(place, event, tokens)
            case Waste():
                _known((event.learner,), config, place)
                who = event.learner
                left = standing.tokens[who] - event.full * config.tokens[who]
                standing.undo(who, left, max(0, len(standing.steps[who]) - event.steps))
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
                if event.peer == event.learner:
                    mark = standing.mark(event.learner)
                    result.marks[event.learner].add(mark)
                    earlier = last_discard.get((event.learner, mark))
                    if earlier is not None:
                        result.discards[earlier] = mark, False
                    last_discard[event.learner, mark] = place
                    result.discards[place] = mark, True
                else:
                    standing.lost[event.learner] = standing.taken[event.learner]
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
                who = event.learner
                now = Past(place, standing.tokens[who], len(standing.steps[who]), counts)
                past[who, numbers[who]] = now
            case GoBack():
                if len(event.learners) != len(event.saves):
                    raise TapeError(f"learners and saves differ in number at event {place}")
                source = _past(past, event.source, place, result)
                for fragment, count in enumerate(source.made):
                    del made[fragment][count:]
                for save in zip(event.learners, event.saves, strict=True):
                    then = _past(past, save, place, result)
                    standing.undo(save[0], then.tokens, then.steps)
    result.progress = standing.progress()
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
