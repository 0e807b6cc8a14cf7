"""Lanes that tasks run on: this process, worker processes, or any executor.

Everything above speaks to `concurrent.futures.Executor` alone. Worker processes are one executor
each, so that a process that dies takes nothing along but the task that it was at. They are started
when the first task comes, so that there are never more of them than tasks; and they end with
whoever started them, however that one ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic
from typing import Any, TypeVar

from ddsim.files import discard_drafts

T = TypeVar("T")
_FAREWELL = 0.5
"""Seconds in which a worker may end by itself before it is killed."""


class SerialExecutor(Executor):
    """Runs each task when it is handed in, in this process."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run the task and return it done."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Lane:
    """One executor, how many tasks it runs at a time, and how a broken one is replaced.

    `deaths` are the errors of a task whose worker died; `takes_all` says that the executor and all
    its tasks end with it. `watch` is called now and then while tasks are under way, and raises when
    there is nobody left to do them.
    """

    def __init__(
        self,
        make: Callable[[], Executor],
        width: int,
        *,
        ahead: bool = True,
        deaths: tuple[type[BaseException], ...] = (BrokenExecutor,),
        takes_all: bool = True,
        watch: Callable[[], None] | None = None,
    ) -> None:
        self._make = make
        self._executor: Executor | None = None
        self.width = width
        self.capacity = width + (width if ahead else 0)
        self.deaths = deaths
        self.takes_all = takes_all
        self.watch = watch

    def submit(self, fn: Callable[..., T], *args: Any) -> Future[T]:
        """Hand a task in; the executor is made when the first one is."""
        if self._executor is None:
            self._executor = self._make()
        return self._executor.submit(fn, *args)

    def abandon(self) -> None:
        """Leave a broken executor behind; the next task gets a new one."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)

    def dismiss(self) -> list[multiprocessing.process.BaseProcess]:
        """Tell worker processes to end, whatever tasks they still have; return them."""
        executor, self._executor = self._executor, None
        if not isinstance(executor, ProcessPoolExecutor):
            return []
        # the standard interface waits for a running task, which may take hours after Ctrl-C
        processes: list[multiprocessing.process.BaseProcess]
        processes = list((executor._processes or {}).values())
        executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        return processes


@contextmanager
def process_lanes(jobs: int, preload: Sequence[str] = ()) -> Iterator[list[Lane]]:
    """Give a lane for each of so many worker processes, and end these afterwards.

    `preload` are modules that every worker begins with.
    """
    lanes = [Lane(partial(_process, tuple(preload)), 1) for _ in range(jobs)]
    try:
        yield lanes
    except KeyboardInterrupt:
        end_server()
        raise
    finally:
        processes = [process for lane in lanes for process in lane.dismiss()]
        deadline = monotonic() + _FAREWELL
        for process in processes:
            process.join(max(0.0, deadline - monotonic()))
            if process.is_alive():
                process.kill()
                process.join()


def _process(preload: Sequence[str]) -> Executor:
    # a server that has imported the simulator forks workers at once, and safely beside threads
    context = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")
    if hasattr(context, "set_forkserver_preload"):
        context.set_forkserver_preload(list(preload))
    return ProcessPoolExecutor(1, mp_context=context, initializer=_begin_worker)


def end_server() -> None:
    """End the server of worker processes at once: while it imports, it sees nothing of its parent.

    The next worker starts another.
    """
    server = getattr(getattr(multiprocessing, "forkserver", None), "_forkserver", None)
    process = getattr(server, "_forkserver_pid", None)
    if process is not None:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _begin_worker() -> None:
    """Leave Ctrl-C and the standard output to the parent, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    sys.stdout = sys.stderr  # what users' code prints; the standard output is for results alone
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end(*_: object) -> None:
    discard_drafts()
    os._exit(1)


def _end_with(parent: Any) -> None:
    parent.join()
    _end()
