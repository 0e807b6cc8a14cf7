"""Argument checks shared by the closed forms."""

import math


def positive(**values: float) -> None:
    """Raise ValueError unless every named value is a finite number above 0."""
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} is {value!r}; it has to be finite and above 0")


def not_negative(**values: float) -> None:
    """Raise ValueError unless every named value is a finite number of at least 0."""
    for name, value in values.items():
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} is {value!r}; it has to be finite and at least 0")
