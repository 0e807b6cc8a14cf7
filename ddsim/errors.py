"""What every error that is said to a person has in common: how it leaves the command line."""

from __future__ import annotations

from typing import ClassVar


class DdsimError(Exception):
    """Something did not work; the message is meant for a person and says all there is to say.

    `exit_code` is what a command that ends with it returns.
    """

    exit_code: ClassVar[int] = 1


class InputError(DdsimError):
    """What was given is wrong; the message says where, what was found and what is allowed."""

    exit_code: ClassVar[int] = 2
