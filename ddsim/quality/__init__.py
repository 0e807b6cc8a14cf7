"""Laws from tokens to loss, and what they say of hours and money; nothing of the simulator.

`Outlook` is a law for one model and one way of training: it knows tokens, learners and batches.
What is not known stands as an interval from its better end to its worse. docs/quality.md has the
assumptions.
"""

from ddsim.quality.batch import Batch, critical_batch
from ddsim.quality.interval import Ends, Interval
from ddsim.quality.laws import Law, PowerLaw, get, law, make, names, options_of
from ddsim.quality.outlook import Outlook
from ddsim.quality.penalty import Gap, level, penalty, predicted_gap
from ddsim.quality.sensitivity import compute_ratio

__all__ = [
    "Batch",
    "Ends",
    "Gap",
    "Interval",
    "Law",
    "Outlook",
    "PowerLaw",
    "compute_ratio",
    "critical_batch",
    "get",
    "law",
    "level",
    "make",
    "names",
    "options_of",
    "penalty",
    "predicted_gap",
]
