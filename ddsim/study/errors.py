"""What can be wrong with a study, said to the person who asked for it."""

from __future__ import annotations


class StudyError(Exception):
    """What was asked cannot be done: the message says what was found and what is allowed."""


class StoreError(Exception):
    """The store could not be written: the message says what is safe and how to go on."""
