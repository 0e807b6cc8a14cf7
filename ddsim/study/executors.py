"""Where a study's tasks run: in this process, in worker processes, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module

from ddsim.study.errors import StudyError
from ddsim.workers.lanes import Lane, SerialExecutor, process_lanes

EXECUTORS = ("local", "dask")
_PRELOAD = ("ddsim.study.work", "ddsim.scenario.schema")
_PATIENCE = "10 s"
"""How long to look for a Dask scheduler."""


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
    with process_lanes(jobs, _PRELOAD) as lanes:
        yield lanes


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
