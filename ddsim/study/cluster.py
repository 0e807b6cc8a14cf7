"""A Dask cluster as a lane: who may work on it, and what is said when it goes away."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from importlib import import_module
from time import monotonic
from typing import Any, TypeVar

import numpy as np

import ddsim
from ddsim import sources
from ddsim.study import asking, identity
from ddsim.study.errors import StudyError
from ddsim.workers.dispatch import WorkersError
from ddsim.workers.lanes import Lane

T = TypeVar("T")
_PATIENCE = 5.0
"""Seconds to look for a scheduler, and to wait for a worker to come back."""
_LIBRARY = ("distributed", "tornado", "asyncio")


@contextmanager
def dask_lane(scheduler: str | None, files: Mapping[str, str]) -> Iterator[Lane]:
    """Give the cluster of the scheduler at that address as a lane.

    `files` are those that tasks need, absolute, with their hashes. Raises StudyError where there is
    no cluster, no worker, or one that is not like this process.
    """
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
    with _silenced():
        cluster = _Cluster(distributed, scheduler, files)
        try:
            yield cluster.lane()
        except (ImportError, AttributeError):
            cluster.refuse_strangers()  # one that joined meanwhile
            raise
        finally:
            cluster.client.close(timeout=1)


class _Cluster:
    """A client of a scheduler, and what it expects of workers."""

    def __init__(self, distributed: Any, address: str, files: Mapping[str, str]) -> None:
        self._address, self._files = address, dict(files)
        self._deaths = (distributed.KilledWorker,)
        self._alone_since: float | None = None
        try:
            # before there is a client, which takes its time to go away
            distributed.comm.get_address_host_port(address)
            self.client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise StudyError(
                f"no Dask scheduler at {address}: {reason}; `dask scheduler` prints its address "
                "when it starts"
            ) from None

    def lane(self) -> Lane:
        """The lane, once all workers have been asked."""
        threads = sum(self.client.nthreads().values())
        if not threads:
            self.client.close(timeout=1)
            raise StudyError(
                f"the Dask scheduler at {self._address} has no workers; start some first: "
                f"dask worker {self._address}"
            )
        try:
            self.refuse_strangers()
        except StudyError:
            self.client.close(timeout=1)
            raise
        return Lane(
            lambda: _Checked(self.client.get_executor(pure=False), sources.digest()),
            threads,
            deaths=self._deaths,
            takes_all=False,
            watch=self.watch,
        )

    def refuse_strangers(self) -> None:
        """Raise StudyError that names the workers that are not like this process, and why."""
        cloudpickle = import_module("cloudpickle")
        cloudpickle.register_pickle_by_value(asking)
        try:
            answers = self.client.run(asking.ask, self._files, on_error="return")
        finally:
            cloudpickle.unregister_pickle_by_value(asking)
        strange = {worker: why for worker, said in answers.items() if (why := _strange(said))}
        if strange:
            worker, why = next(iter(strange.items()))
            more = f" ({len(strange)} of {len(answers)} workers are unlike this process)"
            raise StudyError(f"the worker {worker} {why}{more if len(answers) > 1 else ''}")

    def watch(self) -> None:
        """Raise WorkersError where the cluster has gone away while it has tasks."""
        if self.client.status != "running":
            raise WorkersError(
                f"the Dask scheduler at {self._address} is gone; start it and its workers again, "
                "and repeat the command"
            )
        try:
            workers = self.client.nthreads()
        except OSError:  # it went away this moment; its status says so the next time
            return
        if workers:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = monotonic()
        elif monotonic() - self._alone_since > _PATIENCE:
            raise WorkersError(
                f"the Dask scheduler at {self._address} has lost its last worker; start others "
                f"(dask worker {self._address}), and repeat the command"
            )


def _strange(said: Any) -> str:
    """What is wrong with a worker by its answer; nothing where nothing is."""
    if not isinstance(said, dict):
        return f"cannot be asked what it has: {type(said).__name__}: {said}"
    python = f"; install the same for {said['python']}"
    if "version" not in said:
        return f"has no ddsim ({said.get('error', 'nothing said')}){python}"
    if said.get("source") != sources.digest():
        same = said["version"] == ddsim.__version__
        what = "other sources of ddsim" if same else "another ddsim:"
        return f"has {what} {said['version']}, and this is {ddsim.__version__}{python}"
    if said["numpy"] != np.__version__:
        return f"has numpy {said['numpy']}, and this process {np.__version__}{python}"
    if said["missing"]:
        return f"has no {said['missing'][0]}, or another; copy it there, to the same place"
    return ""


class _Checked(Executor):
    """An executor whose tasks begin with a look at the sources of whoever got them."""

    def __init__(self, executor: Executor, source: str) -> None:
        self._executor, self._source = executor, source

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Hand the task in."""
        return self._executor.submit(identity.only_with, self._source, fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Close it."""
        self._executor.shutdown(wait=wait, cancel_futures=cancel_futures)


@contextmanager
def _silenced() -> Iterator[None]:
    """Keep the library's own tracebacks away: what went wrong is said once, in words."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith(_LIBRARY)]
    loggers = [logging.getLogger(name) for name in {*names, *_LIBRARY}]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
