"""What `run` and `sweep` saved, read for the commands that show it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ddsim.naming import listed

if TYPE_CHECKING:
    from ddsim.results import Results
    from ddsim.study import Study

MANIFEST, RESULTS, GALLERY = "manifest.json", "results.json", "gallery.html"
_SOME = 3
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
    except FileNotFoundError as error:
        raise click.UsageError(_instead(folder) or str(error)) from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _instead(folder: Path) -> str | None:
    """What a folder without a result or study has in place of it; None for nothing of ddsim's."""
    if (folder / GALLERY).is_file():
        return f"{folder}: a reproduction, whose page is {GALLERY}; a result or study is needed"
    beneath = [path.parent for name in (RESULTS, MANIFEST) for path in folder.glob(f"*/{name}")]
    if not beneath:
        return None
    some = [*map(str, sorted(beneath)[:_SOME]), *(["others"] if len(beneath) > _SOME else [])]
    return f"{folder}: no {RESULTS} there, but in {listed(some, 'and')}"


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
