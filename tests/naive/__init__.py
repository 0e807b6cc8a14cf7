"""A deliberately naive model of the simulator's rules, to hold the engine to.

It looks at every slice, every layer and every step; it counts nothing in closed form.
"""

from .case import Case, LinkChange, NaiveResult, StrikeCase, UnitCase
from .model import simulate
from .reckoning import EXACT, NANOSECONDS, Reckoning

__all__ = [
    "EXACT",
    "NANOSECONDS",
    "Case",
    "LinkChange",
    "NaiveResult",
    "Reckoning",
    "StrikeCase",
    "UnitCase",
    "simulate",
]
