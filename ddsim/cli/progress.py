"""Progress on stderr: a bar on a terminal, else a line every half a minute."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from ddsim.cli.base import Talk, prints_aside
from ddsim.progress import Progress

EVERY = 30.0
"""Seconds from one line to the next where there is no terminal."""


@contextmanager
def lines(talk: Talk, first: str) -> Iterator[Callable[[str], None]]:
    """Give a function that takes what is to be said; the latest is, with the time, by and by."""
    latest, began, done = [first], monotonic(), threading.Event()

    def tell() -> None:
        while not done.wait(EVERY):
            talk.say(f"{latest[0]}, after {monotonic() - began:.0f} s")

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield lambda said: latest.__setitem__(0, said)
    finally:
        done.set()
        thread.join()


@contextmanager
def progress_bar(
    talk: Talk,
    doing: str = "simulating",
    told: str = "{done} of {total} runs done, at {label}",
) -> Iterator[Progress | None]:
    """Give a callback that draws a bar, or without a terminal says a line; None when quiet.

    `doing` is said before anything is done, `told` is the line. What users' code prints meanwhile
    goes to stderr.
    """
    if talk.quiet:
        with prints_aside():
            yield None
        return
    if not sys.stderr.isatty():
        with lines(talk, doing) as say, prints_aside():
            yield lambda done, total, label: say(told.format(done=done, total=total, label=label))
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with (
        Bar(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar,
        prints_aside(),
    ):
        task = bar.add_task(doing, total=None)

        def update(done: int, total: int, label: str) -> None:
            bar.update(task, completed=done, total=total, description=label)

        yield update
