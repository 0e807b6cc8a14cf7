"""A progress bar on stderr."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ddsim.cli.base import Talk, prints_aside
from ddsim.progress import Progress


@contextmanager
def progress_bar(talk: Talk) -> Iterator[Progress | None]:
    """Give a callback that draws a bar; None when quiet or when stderr is not a terminal.

    What users' code prints meanwhile goes to stderr.
    """
    if talk.quiet or not sys.stderr.isatty():
        with prints_aside():
            yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with (
        Bar(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar,
        prints_aside(),
    ):
        task = bar.add_task("simulating", total=None)

        def update(done: int, total: int, label: str) -> None:
            bar.update(task, completed=done, total=total, description=label)

        yield update
