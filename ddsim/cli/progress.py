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
def lines(talk: Talk, first: str) -> Iterator[Callable[[str, int, int], None]]:
    """Give a function that takes what is to be said, and what is done out of how much.

    The latest is said by and by, with the time so far and, by the pace since the first was, left.
    """
    began, done = monotonic(), threading.Event()
    latest, start, last = (first, 0, 0), (began, -1), began

    def take(said: str, part: int, whole: int) -> None:
        nonlocal latest, start, last
        if start[1] < 0:  # what was there before is no part of the pace
            start = monotonic(), part
        if part != latest[1]:
            last = monotonic()
        latest = said, part, whole

    def tell() -> None:
        while not done.wait(EVERY):
            now, (said, part, whole), (since, before) = monotonic(), latest, start
            left = _left(last - since, part - before, whole - part, now - last)
            talk.say(f"{said}, after {now - began:.0f} s{left}")

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield take
    finally:
        done.set()
        thread.join()


def _left(passed: float, done: float, left: float, under_way: float = 0.0) -> str:
    """How long what is left takes if each takes as long as those that are done did.

    What is under way has taken some of it. "" where none was done, or where it takes longer.
    """
    seconds = passed / done * left - under_way if done > 0 and left > 0 else 0.0
    if seconds <= 0.0:
        return ""
    about = f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
    return f", about {about} left"


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
            yield lambda done, total, label: say(
                told.format(done=done, total=total, label=label), done, total
            )
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
