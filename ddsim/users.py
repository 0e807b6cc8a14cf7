"""Mistakes in users' own Python, said in words, with the file and line where they were made."""

from __future__ import annotations

import sys
import sysconfig
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import getsourcelines
from numbers import Integral, Real
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from pydantic_core import PydanticCustomError

from ddsim.scenario.errors import Problem, ScenarioError
from ddsim.scenario.fields import Kind, Number, faults_of, refuse

_PACKAGE = Path(__file__).resolve().parent
_OTHERS = {
    Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")
}
"""Where nothing of a user's lies: the standard library, and what is installed."""

Place = tuple[str, int]
"""A file and a line of it."""

T = TypeVar("T")


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
def blamed(cls: type, what: str) -> Iterator[None]:
    """Say whose mistake it is that something raises within, as `blame` does."""
    try:
        yield
    except BaseException as error:
        said = blame(error, cls, what)
        if said is None:
            raise
        raise said from error


def blame(error: BaseException, cls: type, what: str) -> ScenarioError | None:
    """Return the error that says whose mistake it was, where users' code had a part in it.

    `cls` is the class that is made use of, `what` names it. Of what comes through a user's line, or
    through a method of a user's, the error has that line, or that of the class. None for all else,
    and for what says already what is wrong.
    """
    if isinstance(error, ScenarioError):
        return None
    words = mistake(error)
    place = place_of(error) or _definition(cls)
    if place is None:
        return None
    found = words.removesuffix(f" ({place[0]}:{place[1]})")
    return _wrong(place, f"{what} raised {found}", "Python that runs to its end")


def returned(kind: type[T], given: object, by: object, method: str, what: str) -> T:
    """Return what a method of `by` gave, if it is what it has to give.

    `what` names `by` in the ScenarioError that is raised where it is not.
    """
    if isinstance(given, kind):
        return given
    found = "None" if given is None else f"something of type {type(given).__name__}"
    said = f"{what}, {method}() returned {found}"
    raise _wrong(_place_of_method(by, method), said, f"{kind.__module__}.{kind.__name__} expected")


def held(given: T, kinds: Mapping[str, Kind], by: object, method: str, what: str) -> T:
    """Return a named tuple that a method of `by` gave with its fields as their kinds read them.

    Raises a ScenarioError with all that do not fit; `what` names `by` in it.
    """
    found: dict[str, Any] = {}
    wrong: list[tuple[str, str]] = []
    for name, kind in kinds.items():
        value = _plain(getattr(given, name))
        try:
            if isinstance(value, str) and isinstance(kind, Number):  # a file's, but not Python's
                raise refuse(repr(value), kind.allowed)
            found[name] = kind.read(value)
        except PydanticCustomError as error:
            wrong += [(f"{name}={shown}", allowed) for _, shown, allowed in faults_of(error)]
    if wrong:
        place = _place_of_method(by, method)
        raise ScenarioError(
            problem
            for one, allowed in wrong
            for problem in _wrong(place, f"{what}, {method}() returned {one}", allowed).problems
        )
    return given._replace(**found)  # type: ignore[attr-defined,no-any-return]


def _plain(value: Any) -> Any:
    """A number as Python has it, whoever's it is: numpy's, or a fraction."""
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def _wrong(place: Place, found: str, allowed: str) -> ScenarioError:
    return ScenarioError([Problem(*place, 1, "python", found, allowed)])


def _place_of_method(by: object, method: str) -> Place:
    """Where a user's method begins; where it is one that was inherited, the user's class."""
    code = getattr(getattr(type(by), method, None), "__code__", None)
    place = None if code is None else (code.co_filename, code.co_firstlineno)
    if place is not None and _own(place[0]):
        return place
    return _definition(type(by)) or place or (type(by).__module__, 1)


def _definition(cls: type) -> Place | None:
    """Where a user's class begins; None for one of this package."""
    if cls.__module__.partition(".")[0] == _PACKAGE.name:
        return None
    try:
        file = sys.modules[cls.__module__].__file__
        return (file or cls.__module__, getsourcelines(cls)[1])
    except (KeyError, AttributeError, OSError, TypeError):  # made in a shell
        return (cls.__module__, 1)
