"""The tape that a run leaves behind and that training replays; `ddsim.engine.tape` defines it."""

from ddsim.engine.tape import (
    Answer,
    Event,
    Fetch,
    JobSteps,
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
    "Event",
    "Fetch",
    "JobSteps",
    "Merge",
    "Receive",
    "Rejoin",
    "Rollback",
    "Save",
    "Steps",
    "Tape",
    "Waste",
]
