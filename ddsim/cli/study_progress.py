"""A study's progress on stderr."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ddsim.cli.base import Talk, prints_aside
from ddsim.cli.progress import lines

if TYPE_CHECKING:
    from ddsim.study import Progress


@contextmanager
def study_bar(talk: Talk) -> Iterator["Callable[[Progress], None] | None"]:
    """Give a callback that draws a bar, or without a terminal says a line; None when quiet.

    What users' code prints meanwhile goes to stderr.
    """
    if talk.quiet:
        with prints_aside():
            yield None
        return
    if not sys.stderr.isatty():
        with lines(talk, "simulating") as say, prints_aside():
            yield lambda state: say(
                f"{state.replications} of {state.expected} replications done, "
                f"{state.cells_done} of {state.cells} cells",
                state.replications,
                state.expected,
            )
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.fields[cells]}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f} replications"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[width]}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar, prints_aside():
        task = bar.add_task("", total=1, cells="", width="")

        def update(state: "Progress") -> None:
            width = state.half_width
            bar.update(
                task,
                completed=state.replications,
                total=max(state.expected, 1),
                cells=f"{state.cells_done} of {state.cells} cells",
                width="" if width is None else f"widest +/- {width:.2g}",
            )

        yield update
