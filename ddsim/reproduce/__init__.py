"""Published figures and tables, simulated beside published.

Each reproduction is a function registered by name (`names`); `reproduce` runs one and returns its
rows and figures; `write` leaves the validation table, every number and the figures in a folder.
"""

from ddsim.reproduce.registry import Found, Pace, Reproduction, names, reproduction
from ddsim.reproduce.rows import Row
from ddsim.reproduce.running import reproduce
from ddsim.reproduce.writing import FILES, write

__all__ = [
    "FILES",
    "Found",
    "Pace",
    "Reproduction",
    "Row",
    "names",
    "reproduce",
    "reproduction",
    "write",
]
