"""Training the model of a scenario along what a run of it recorded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ddsim.learning.replay import replay
from ddsim.learning.setup import config_of, seeds_of

if TYPE_CHECKING:
    from ddsim.learning.curve import Curve
    from ddsim.progress import Progress
    from ddsim.results import Recording
    from ddsim.scenario import Scenario


def train(
    scenario: Scenario, method: str, recording: Recording, progress: Progress | None = None
) -> list[Curve]:
    """Return the loss of a model trained along a recording, a curve for each of the seeds.

    The scenario is settled for the method, and has a learning section. `progress` is told of the
    steps of a training, and of which seed it is.
    """
    folder = scenario.learning.checkpoints
    return replay(
        recording.events,
        config_of(scenario, method),
        seeds_of(scenario, recording.replication),
        progress,
        end=recording.end,
        checkpoints=None if folder is None else Path(folder),
        files=scenario.document.python_files(),
    )
