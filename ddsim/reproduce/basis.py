"""What a simulated number owes to the source that it stands beside."""

from dataclasses import dataclass
from typing import Literal

from ddsim.reproduce.foretold import Foretold

Kind = Literal["identity", "calibrated", "predicted", "declined"]

KINDS: dict[Kind, str] = {
    "identity": "arithmetic, or the source's own formula",
    "calibrated": "the scenario was given values from the source",
    "predicted": "nothing of it went in",
    "declined": "not comparable",
}
"""Each kind with what it means."""


@dataclass(frozen=True, slots=True)
class Basis:
    """How a number came about.

    why: of an identity which formula, of a calibrated number which values went in, of a declined
        one why it cannot be compared; empty for one that is predicted.
    guess, guessed: a naive guess at what is predicted, in the row's unit, and how it was made.
    system: the measured system that is predicted; empty where the source is no measurement.
    beyond: what explains an error of a prediction that is larger than `EXPLAINED_FROM`.
    foretold: of a prediction that was committed before its value entered the tree.
    """

    kind: Kind
    why: str = ""
    guess: float | None = None
    guessed: str = ""
    system: str = ""
    beyond: str = ""
    foretold: Foretold | None = None


EXPLAINED_FROM = 0.15
"""The relative error from which a prediction carries a sentence."""


def identity(why: str) -> Basis:
    """A number that follows from the source by `why`."""
    return Basis("identity", why)


def calibrated(by: str) -> Basis:
    """A number of a scenario that values of the source went into: `by` says which."""
    return Basis("calibrated", by)


def declined(why: str) -> Basis:
    """A number that cannot be held against the published one, and why."""
    return Basis("declined", why)


def predicted(
    guess: float,
    guessed: str,
    *,
    system: str = "",
    beyond: str = "",
    foretold: Foretold | None = None,
) -> Basis:
    """A number that nothing of the source's went into, beside a naive guess at it."""
    return Basis("predicted", "", guess, guessed, system, beyond, foretold)
