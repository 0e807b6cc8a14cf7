"""Where tasks run: in this process, in worker processes, or on a Dask cluster.

Everything above speaks to `concurrent.futures.Executor` alone. Worker processes are one executor
each, so that a process that dies takes nothing along but the task that it was at.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

from ddsim.study.errors import StudyError

T = TypeVar("T")
EXECUTORS = ("local", "dask")
_PATIENCE = "10 s"
"""How long to look for a Dask scheduler."""


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
    its tasks end with it.
    """

    def __init__(
        self,
        make: Callable[[], Executor],
        width: int,
        *,
        ahead: bool = True,
        deaths: tuple[type[BaseException], ...] = (BrokenExecutor,),
        takes_all: bool = True,
    ) -> None:
        self._make = make
        self._executor: Executor | None = None
        self.width = width
        self.capacity = width + (width if ahead else 0)
        self.deaths = deaths
        self.takes_all = takes_all

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

    def close(self) -> None:
        """End worker processes without waiting for the tasks that they still have."""
        executor, self._executor = self._executor, None
        if not isinstance(executor, ProcessPoolExecutor):
            return
        # the standard interface waits for a running task, which may take hours after Ctrl-C
        processes = list((executor._processes or {}).values())
        executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


@contextmanager
def open_lanes(
    executor: str | Executor, jobs: int, scheduler: str | None = None
) -> Iterator[list[Lane]]:
    """Give the lanes of an executor by name, or of one that is given, and close them afterwards.

    `local`: this process for one job, else so many worker processes. `dask`: the cluster of the
    scheduler at that address. Raises StudyError for what cannot be had.
    """
    if isinstance(executor, Executor):
        yield [Lane(lambda: executor, jobs, deaths=())]  # its owner mends and closes it
        return
    if executor == "dask":
        with _dask_lane(scheduler) as lane:
            yield [lane]
        return
    if executor != "local":
        raise StudyError(f'no executor "{executor}"; there are {" and ".join(EXECUTORS)}')
    if jobs == 1:
        yield [Lane(SerialExecutor, 1, ahead=False)]
        return
    lanes = [Lane(_process, 1) for _ in range(jobs)]
    try:
        yield lanes
    finally:
        for lane in lanes:
            lane.close()


def _process() -> Executor:
    # a server that has imported the simulator forks workers at once, and safely beside threads
    context = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")
    if hasattr(context, "set_forkserver_preload"):
        context.set_forkserver_preload(["ddsim.study.work", "ddsim.scenario.validation"])
    return ProcessPoolExecutor(1, mp_context=context, initializer=_begin_worker)


def _begin_worker() -> None:
    """Leave Ctrl-C and the standard output to the parent, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # what users' code prints; the standard output is for results alone
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


@contextmanager
def _dask_lane(scheduler: str | None) -> Iterator[Lane]:
    if scheduler is None:
        raise StudyError(
            "the executor dask needs the address of a running scheduler: "
            "--scheduler tcp://HOST:8786 (`dask scheduler` prints its own)"
        )
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise StudyError(
            "the executor dask needs the packages dask and distributed: pip install 'ddsim[dask]'"
        ) from None
    try:
        client = distributed.Client(scheduler, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise StudyError(f"no Dask scheduler at {scheduler}: {reason}") from None
    try:
        threads = sum(client.nthreads().values())
        if not threads:
            raise StudyError(f"the Dask scheduler at {scheduler} has no workers; start some first")
        yield Lane(
            lambda: client.get_executor(pure=False),
            threads,
            deaths=(distributed.KilledWorker,),
            takes_all=False,
        )
    finally:
        client.close()
