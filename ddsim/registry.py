"""Things by name: what a scenario, a command or a user's file can ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from ddsim.errors import InputError
from ddsim.naming import listed, shown, suggestion

T = TypeVar("T")


class UnknownNameError(InputError, KeyError):
    """Nothing of that name is registered; the message says what is, and what was likely meant."""

    def __str__(self) -> str:
        """Return the message as it is, which a KeyError would quote."""
        return str(self.args[0])


class Registry(Generic[T]):
    """Things of one kind by name, in the order of their registration.

    `what` says in messages what they are. A thing is told its name in its `attribute`, if given.
    `unknown` makes the error for a name that is not there of its message.
    """

    def __init__(
        self,
        what: str,
        *,
        attribute: str | None = None,
        unknown: Callable[[str], Exception] = UnknownNameError,
    ) -> None:
        self.what = what
        self._attribute = attribute
        self._unknown = unknown
        self._things: dict[str, T] = {}

    def register(self, name: str) -> Callable[[Any], Any]:
        """Return a decorator that registers what it decorates, and returns it as it is."""

        def add(thing: T) -> T:
            self.add(name, thing)
            return thing

        return add

    def add(self, name: str, thing: T) -> None:
        """Register a thing; ValueError if another has the name.

        What is defined again, as when a notebook's cell is run twice, takes its own place.
        """
        known = self._things.get(name)
        if known is not None and _called(known) != _called(thing):
            raise ValueError(f"{self.what} {name!r} is already registered, by {_called(known)}")
        if self._attribute is not None:
            setattr(thing, self._attribute, name)
        self._things[name] = thing

    def get(self, name: str) -> T:
        """Return the thing of that name; raises what `unknown` makes where there is none."""
        if name not in self._things:
            said = f"unknown {self.what} {shown(name)}; {self.there_are(name)}"
            raise self._unknown(said)
        return self._things[name]

    def there_are(self, name: str) -> str:
        """Say what there is to one who asks for `name`: what is near to it, then all in order."""
        known = sorted(self._things)
        return f"{suggestion(name, known)}there are {listed(known, 'and')}" if known else "none yet"

    def names(self) -> tuple[str, ...]:
        """Return all names."""
        return tuple(self._things)

    def items(self) -> Iterator[tuple[str, T]]:
        """Go through names and things."""
        yield from self._things.items()

    def __contains__(self, name: object) -> bool:
        return name in self._things


def _called(thing: object) -> str:
    """What a class or a function is called where it is defined; of other things, their class."""
    return str(getattr(thing, "__qualname__", type(thing).__qualname__))
