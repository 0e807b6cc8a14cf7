"""The tape that a run leaves behind and that training replays; `ddsim.engine.tape` defines it."""

from ddsim.engine.tape import (
    Answer,
    Corrupt,
    Event,
    Fetch,
    GoBack,
    JobSteps,
    Kept,
    Merge,
    Receive,
    Rejoin,
    Rollback,
    Save,
    Steps,
    Tape,
    Waste,
)

__all__ = [
    "Answer",
    "Corrupt",
    "Event",
    "Fetch",
    "GoBack",
    "JobSteps",
    "Kept",
    "Merge",
    "Receive",
    "Rejoin",
    "Rollback",
    "Save",
    "Steps",
    "Tape",
    "Waste",
]
