"""Mistakes in users' own Python, said in words, with the file and line where they were made."""

from __future__ import annotations

import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import getsourcelines
from pathlib import Path
from types import ModuleType

from ddsim.scenario.errors import Problem, ScenarioError

_PACKAGE = Path(__file__).resolve().parent
_OTHERS = {
    Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")
}
"""Where nothing of a user's lies: the standard library, and what is installed."""

Place = tuple[str, int]
"""A file and a line of it."""


def mistake(error: BaseException) -> str:
    """Return what users' code raised, in words: its kind, what it says, and where it was raised.

    It may be anything but what interrupts the whole, which is raised again.
    """
    if isinstance(error, KeyboardInterrupt | GeneratorExit):
        raise error
    said = str(error).strip()
    words = f"{type(error).__name__}: {said}" if said else type(error).__name__
    place = place_of(error)
    return words if place is None else f"{words} ({place[0]}:{place[1]})"


def place_of(error: BaseException) -> Place | None:
    """Return the last line of a user's own that an error came through; None where there is none."""
    seen: set[int] = set()
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:  # SimPy raises a copy of what it caught
        seen.add(id(cause))
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    for one in reversed(causes):
        frames = traceback.extract_tb(one.__traceback__)
        lines = [(frame.filename, frame.lineno or 1) for frame in frames if _own(frame.filename)]
        if lines:
            return lines[-1]
    return None


def files_behind(cls: type) -> list[Path] | None:
    """Return the files of a user's that a class came from: its own, its bases', and those of what
    their modules take from others. None where something of it has no file, as in a shell.
    """
    found: dict[str, Path] = {}
    ahead = [base.__module__ for base in cls.__mro__]
    seen: set[str] = set()
    while ahead:
        name = ahead.pop()
        module = sys.modules.get(name)
        if name in seen or module is None:
            continue
        seen.add(name)
        file = getattr(module, "__file__", None)
        if file is None:
            if name == "__main__":
                return None
            continue
        if _own(file):
            found[name] = Path(file)
            things = [*vars(module).values()]
            ahead += [thing.__name__ for thing in things if isinstance(thing, ModuleType)]
            ahead += [of for thing in things if isinstance(of := _module_of(thing), str)]
    return [found[name] for name in sorted(found)]


def _module_of(thing: object) -> object:
    try:
        return getattr(thing, "__module__", None)
    except Exception:  # a thing of a user's, that may raise what it likes
        return None


def _own(filename: str) -> bool:
    """Whether a file is a user's: not of this package, of Python, or installed."""
    path = Path(filename)
    if filename.startswith("<") or _PACKAGE in path.parents:
        return False
    return not any(folder in path.parents for folder in _OTHERS)


@contextmanager
def blamed(method: type, what: str) -> Iterator[None]:
    """Say whose mistake it is that something raises within, where users' code had a part in it.

    `method` is the class that is simulated, `what` names it. What comes through a user's line, or
    through a method of a user's, becomes a ScenarioError with that line, or with that of the
    class; all else stays what it is, and so does what says already what is wrong.
    """
    try:
        yield
    except ScenarioError:
        raise
    except BaseException as error:
        words = mistake(error)
        place = place_of(error) or _definition(method)
        if place is None:
            raise
        found = words.removesuffix(f" ({place[0]}:{place[1]})")
        raise ScenarioError(
            [Problem(*place, 1, "python", f"{what} raised {found}", "Python that runs to its end")]
        ) from error


def _definition(cls: type) -> Place | None:
    """Where a user's class begins; None for one of this package."""
    if cls.__module__.partition(".")[0] == _PACKAGE.name:
        return None
    try:
        file = sys.modules[cls.__module__].__file__
        return (file or cls.__module__, getsourcelines(cls)[1])
    except (KeyError, AttributeError, OSError, TypeError):  # made in a shell
        return (cls.__module__, 1)
