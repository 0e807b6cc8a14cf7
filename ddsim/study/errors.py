"""What can be wrong with a study, said to the person who asked for it."""

from __future__ import annotations

from ddsim.errors import DdsimError, InputError


class StudyError(InputError):
    """What was asked cannot be done: the message says what was found and what is allowed."""


class StoreError(DdsimError):
    """The store could not be written: the message says what is safe and how to go on."""
