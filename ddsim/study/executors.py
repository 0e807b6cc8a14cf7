"""Where a study's tasks run: in this process, in worker processes, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager

from ddsim.study.errors import StudyError
from ddsim.workers.lanes import Lane, SerialExecutor, process_lanes

EXECUTORS = ("local", "dask")
_PRELOAD = ("ddsim.study.work", "ddsim.scenario.schema")


@contextmanager
def open_lanes(
    executor: str | Executor,
    jobs: int,
    scheduler: str | None = None,
    files: Mapping[str, str] | None = None,
) -> Iterator[list[Lane]]:
    """Give the lanes of an executor by name, or of one that is given, and close them afterwards.

    `local`: this process for one job, else so many worker processes. `dask`: the cluster of the
    scheduler at that address, whose workers have to have `files` (absolute, with their hashes).
    Raises StudyError for what cannot be had.
    """
    if isinstance(executor, Executor):
        yield [Lane(lambda: executor, jobs, deaths=())]  # its owner mends and closes it
        return
    if executor == "dask":
        from ddsim.study.cluster import dask_lane

        with dask_lane(scheduler, files or {}) as lane:
            yield [lane]
        return
    if executor != "local":
        raise StudyError(f'no executor "{executor}"; there are {" and ".join(EXECUTORS)}')
    if jobs == 1:
        yield [Lane(SerialExecutor, 1, ahead=False)]
        return
    with process_lanes(jobs, _PRELOAD) as lanes:
        yield lanes
