"""Hands tasks to lanes and takes results back; redoes what dying workers leave undone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ddsim.errors import DdsimError
from ddsim.workers.lanes import Lane

Task = TypeVar("Task")
Result = TypeVar("Result")

ATTEMPTS = 3
"""Workers that a task may outlive; the next one that dies over it ends everything."""


PULSE = 1.0
"""Seconds between two looks at whether a lane still has workers."""


class WorkersError(DdsimError):
    """Tasks were not done: their workers died, or an executor gave them up."""


@dataclass(eq=False)
class _Item(Generic[Task]):
    """A task, and how many workers it has cost."""

    task: Task
    deaths: int = 0


@dataclass
class _Traffic(Generic[Task, Result]):
    """What flies on one lane, in the order in which it was handed in."""

    lane: Lane
    flying: dict[Future[Result], _Item[Task]] = field(default_factory=dict)


def dispatch(
    lanes: Sequence[Lane],
    tasks: Iterable[Task],
    work: Callable[[Task], Result],
    done: Callable[[Task, Result], Iterable[Task]],
    name: Callable[[Task], str],
) -> None:
    """Let lanes do the `work` of all tasks; `done` takes each result and may give more tasks.

    `work` is a function of a module, which worker processes import. A task whose worker dies is
    done again; WorkersError, with the task's `name`, when it has cost `ATTEMPTS` workers. What a
    task raises is raised.
    """
    waiting = deque(_Item(task) for task in tasks)
    traffic: list[_Traffic[Task, Result]] = [_Traffic(lane) for lane in lanes]
    while True:
        _fill(traffic, waiting, work)
        flying = [future for each in traffic for future in each.flying]
        if not flying:
            return
        watches = [each.lane.watch for each in traffic if each.flying]
        pulse = PULSE if any(watches) else None
        finished, _ = wait(flying, pulse, return_when=FIRST_COMPLETED)
        if not finished or any(future.cancelled() for future in finished):
            _look(watches)
        for each in traffic:
            for future in [future for future in each.flying if future in finished]:
                if future not in each.flying:
                    continue  # redone with another that its worker took along
                error = _error_of(future)
                if error is None:
                    item = each.flying.pop(future)
                    waiting.extend(_Item(task) for task in done(item.task, future.result()))
                elif isinstance(error, each.lane.deaths):
                    _redo(each, future, waiting, name)
                else:
                    raise error


def _look(watches: Iterable[Callable[[], None] | None]) -> None:
    for watch in watches:
        if watch is not None:
            watch()


def _error_of(future: Future[Any]) -> BaseException | None:
    try:
        return future.exception()
    except CancelledError:  # by the executor: a scheduler that went away, a pool that was closed
        return WorkersError("the executor gave its tasks up")


def _fill(
    traffic: Sequence[_Traffic[Task, Result]],
    waiting: deque[_Item[Task]],
    work: Callable[[Task], Result],
) -> None:
    # a task each in turn, so that the last ones are spread
    moved = True
    while moved and waiting:
        moved = False
        for each in traffic:
            if waiting and len(each.flying) < each.lane.capacity:
                moved = _hand_in(each, waiting, work) or moved


def _hand_in(
    each: _Traffic[Task, Result], waiting: deque[_Item[Task]], work: Callable[[Task], Result]
) -> bool:
    """Hand the first task in; whether there is a point in trying again at once."""
    item = waiting.popleft()
    try:
        future = each.lane.submit(work, item.task)
    except each.lane.deaths:  # the worker died while it had nothing to do, or a moment ago
        waiting.appendleft(item)
        if each.flying:
            return False
        each.lane.abandon()
        return True
    each.flying[future] = item
    return True


def _redo(
    each: _Traffic[Task, Result],
    future: Future[Result],
    waiting: deque[_Item[Task]],
    name: Callable[[Task], str],
) -> None:
    """Put back what a dead worker had; the task that it was at is held responsible."""
    if each.lane.takes_all:
        lost = [item for other, item in each.flying.items() if not _succeeded(other)]
        for other in [other for other in each.flying if not _succeeded(other)]:
            del each.flying[other]
        each.lane.abandon()
    else:
        lost = [each.flying.pop(future)]
    guilty = lost[0]
    guilty.deaths += 1
    if guilty.deaths >= ATTEMPTS:
        raise WorkersError(
            f"{name(guilty.task)}: {ATTEMPTS} workers died over it, perhaps for want of memory"
        )
    waiting.extendleft(reversed(lost))


def _succeeded(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
