"""Tapes of runs in which nothing fails and nothing takes time but the steps."""

from __future__ import annotations

from ddsim.engine.fragments import due_fragments
from ddsim.learning.tape import Answer, Event, JobSteps, Merge, Receive, Steps


def data_parallel(learners: int, steps: int) -> list[Event]:
    """Return a job of so many steps, of a second each."""
    return [JobSteps(float(steps), steps, (1.0,) * learners, 0.0)]


def diloco(learners: int, steps: int, inner_steps: int, fragments: int = 1) -> list[Event]:
    """Return rounds of `inner_steps` steps, each merged at once; steps of a part of one follow."""
    tape: list[Event] = []
    everyone = tuple(range(learners))
    everything = tuple(range(fragments))
    weights = (1.0,) * learners
    for slot in range(1, steps // inner_steps + 1):
        now = float(slot * inner_steps)
        for learner in everyone:
            tape.append(Steps(now, learner, inner_steps, 1.0))
            tape.append(Answer(now, learner, slot, everything))
        tape.append(Merge(now, slot, everything, everyone, weights))
        tape += [Receive(now, learner, slot) for learner in everyone]
    return tape


def streaming(
    learners: int,
    steps: int,
    inner_steps: int,
    fragments: int,
    overlap: int = 0,
) -> list[Event]:
    """Return steps whose due fragments are merged at once and received `overlap` steps later.

    Without overlap it is what Decoupled DiLoCo does, too, when all answer every slot.
    """
    tape: list[Event] = []
    everyone = tuple(range(learners))
    due = due_fragments(inner_steps, fragments)
    weights = (1.0,) * learners
    for step in range(1, steps + 1):
        now = float(step)
        tape += [Steps(now, learner, 1, 1.0) for learner in everyone]
        parts = due.get(step % inner_steps, ())
        if parts:
            tape += [Answer(now, learner, step, parts) for learner in everyone]
            tape.append(Merge(now, step, parts, everyone, weights))
        earlier = step - overlap
        if earlier > 0 and earlier % inner_steps in due:
            tape += [Receive(now, learner, earlier) for learner in everyone]
    return tape
