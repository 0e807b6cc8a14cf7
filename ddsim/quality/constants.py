"""Constants of published laws, by the names that they have there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import inf

from ddsim.reference import rows


@cache
def constants(law: str) -> Mapping[str, float]:
    """Return the constants of a law of the reference table by symbol; KeyError for no such law."""
    found = {
        row["symbol"]: float(row["value"]) for row in rows("scaling_laws") if row["law"] == law
    }
    if not found:
        raise KeyError(law)
    return found


def fitted_sizes(law: str) -> tuple[float, float]:
    """Return the parameters of the smallest and of the largest model that a law was fitted to."""
    known = constants(law)
    return known.get("parameters_from", 0.0), known.get("parameters_to", inf)
