"""What the words of a log mean: which are failures, which are not, and of what."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from ddsim.logs.forms import Pattern
from ddsim.scenario.failures import Domain


def _texts(value: object) -> object:
    return [str(item) for item in value] if isinstance(value, list | tuple) else value


def _keys(value: object) -> object:
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else value


class Cause(BaseModel):
    """A cause of failures as a scenario will have it: its name, what it takes out, and how."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cause: str
    domain: Domain = "slice"
    unallocated: bool = False


Words = Annotated[frozenset[str], BeforeValidator(_texts)]
Causes = Annotated[dict[str, Cause], BeforeValidator(_keys)]


class _Rules(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    ignore: dict[str, Pattern] = {}
    """Rows that do not count: by column, a regular expression that is found in it."""
    failed: Causes = {}
    """Words that are failures, and of what."""

    def ignores(self, column: str) -> re.Pattern[str]:
        """The expression by which a column says that a row does not count."""
        return re.compile(self.ignore[column])


class JobRules(_Rules):
    """What the states of jobs mean.

    `censored`: the job ended, or goes on, without a failure. `ignored`: it never ran. `retried`:
    what ended an attempt that another followed.
    """

    censored: Words = frozenset()
    ignored: Words = frozenset()
    retried: Cause | None = None


class PointRules(_Rules):
    """What the words of a log of failures mean.

    `ignored`: known words that are no failures; `others`: what all other words are, by default an
    error. `filled`: columns one of which is filled, and says the cause by its name. Failures of
    one node within `together` seconds of each other are one incident.
    """

    ignored: Words = frozenset()
    others: Literal["error", "ignored", "failed"] = "error"
    filled: tuple[str, ...] = ()
    together: float = 0.0


class SampleRules(BaseModel):
    """Samples of what is there; `preempted`: the value that says so where there is but one node."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    preempted: Literal[0, 1] | None = None
