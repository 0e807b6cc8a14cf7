"""What `run` and `sweep` saved, read for the commands that show it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ddsim.results import Results
    from ddsim.study import Study

MANIFEST, RESULTS = "manifest.json", "results.json"
_ODD = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What comes of numbers and names that can be read and are none that a run leaves."""


def read(folder: Path) -> "Results | Study":
    """Return the study or the result in a folder; a UsageError says what is wrong with it."""
    if (folder / MANIFEST).is_file():
        from ddsim.study import Study

        return Study.load(folder)
    from ddsim.results import Results

    try:
        return Results.load(folder)
    except (FileNotFoundError, ValueError) as error:
        raise click.UsageError(str(error)) from error


@contextmanager
def shown(*folders: Path) -> Iterator[None]:
    """Lay to the files of saved results what goes wrong while they are shown."""
    try:
        yield
    except _ODD as error:
        files = [
            str(folder / name) if folder.is_dir() else str(folder)
            for folder in folders
            for name in (MANIFEST, RESULTS)
            if not folder.is_dir() or (folder / name).is_file()
        ]
        what = f"{' or '.join(dict.fromkeys(files))}: cannot be shown; damaged, or changed by hand"
        raise click.UsageError(f"{what} ({type(error).__name__}: {error})") from error
