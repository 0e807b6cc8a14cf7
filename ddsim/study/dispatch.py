"""Hands tasks to lanes and takes batches back; redoes what dying workers leave undone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field

from ddsim.study.errors import StudyError
from ddsim.study.executors import Lane
from ddsim.study.work import Batch, Task, work

ATTEMPTS = 3
"""Workers that a task may outlive; the next one that dies over it ends the study."""


@dataclass
class _Traffic:
    """What flies on one lane, in the order in which it was handed in."""

    lane: Lane
    flying: dict[Future[Batch], Task] = field(default_factory=dict)


def dispatch(
    lanes: Sequence[Lane],
    tasks: Iterable[Task],
    done: Callable[[Task, Batch], Iterable[Task]],
    name: Callable[[Task], str],
) -> None:
    """Run all tasks; `done` takes each batch as it comes and may give more tasks.

    A task whose worker dies is done again; StudyError, with the task's `name`, when it has cost
    `ATTEMPTS` workers. What a task raises is raised.
    """
    waiting = deque(tasks)
    traffic = [_Traffic(lane) for lane in lanes]
    deaths: dict[tuple[int, int], int] = {}
    while True:
        _fill(traffic, waiting)
        flying = [future for item in traffic for future in item.flying]
        if not flying:
            return
        finished, _ = wait(flying, return_when=FIRST_COMPLETED)
        for item in traffic:
            for future in [future for future in item.flying if future in finished]:
                if future not in item.flying:
                    continue  # redone with another that its worker took along
                error = _error_of(future)
                if error is None:
                    waiting.extend(done(item.flying.pop(future), future.result()))
                elif isinstance(error, item.lane.deaths):
                    _redo(item, future, waiting, deaths, name)
                else:
                    raise error


def _error_of(future: Future[Batch]) -> BaseException | None:
    try:
        return future.exception()
    except CancelledError:  # by the executor: a scheduler that went away, a pool that was closed
        return StudyError("the executor gave its tasks up; what was done before is kept")


def _fill(traffic: Sequence[_Traffic], waiting: deque[Task]) -> None:
    # a task each in turn, so that the last ones are spread
    moved = True
    while moved and waiting:
        moved = False
        for item in traffic:
            if waiting and len(item.flying) < item.lane.capacity:
                moved = _hand_in(item, waiting) or moved


def _hand_in(item: _Traffic, waiting: deque[Task]) -> bool:
    """Hand the first task in; whether there is a point in trying again at once."""
    task = waiting.popleft()
    try:
        future = item.lane.submit(work, task)
    except item.lane.deaths:  # the worker died while it had nothing to do, or a moment ago
        waiting.appendleft(task)
        if item.flying:
            return False
        item.lane.abandon()
        return True
    item.flying[future] = task
    return True


def _redo(
    item: _Traffic,
    future: Future[Batch],
    waiting: deque[Task],
    deaths: dict[tuple[int, int], int],
    name: Callable[[Task], str],
) -> None:
    """Put back what a dead worker had; the task that it was at is held responsible."""
    if item.lane.takes_all:
        lost = [task for other, task in item.flying.items() if not _succeeded(other)]
        for other in [other for other in item.flying if not _succeeded(other)]:
            del item.flying[other]
        item.lane.abandon()
    else:
        lost = [item.flying.pop(future)]
    guilty = lost[0]
    deaths[guilty.key] = deaths.get(guilty.key, 0) + 1
    if deaths[guilty.key] >= ATTEMPTS:
        raise StudyError(
            f"{name(guilty)}: {ATTEMPTS} workers died over it, perhaps for want of memory; "
            "what was done before is kept"
        )
    waiting.extendleft(reversed(lost))


def _succeeded(future: Future[Batch]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
