"""What every error that is said to a person has in common: how it leaves the command line."""

from __future__ import annotations

from typing import Any, ClassVar


class DdsimError(Exception):
    """Something did not work; the message is meant for a person and says all there is to say.

    `exit_code` is what a command that ends with it returns.
    """

    exit_code: ClassVar[int] = 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the error come whole out of a worker process, whatever it was made from."""
        return _remade, (type(self), self.args, vars(self))


class InputError(DdsimError):
    """What was given is wrong; the message says where, what was found and what is allowed."""

    exit_code: ClassVar[int] = 2


def _remade(kind: type[DdsimError], args: tuple[Any, ...], state: dict[str, Any]) -> DdsimError:
    error = kind.__new__(kind)
    error.args = args
    vars(error).update(state)
    return error
