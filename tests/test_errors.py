"""What every error for a person has in common."""

import pickle

import pytest

from ddsim.errors import DdsimError
from ddsim.learning import LearningError
from ddsim.logs import Problem as Fault
from ddsim.logs import TraceError
from ddsim.registry import UnknownNameError
from ddsim.scenario import Problem, ScenarioError
from ddsim.study import StoreError
from ddsim.world.distributions import DistributionError


@pytest.mark.parametrize(
    "error",
    [
        ScenarioError([Problem("a.yaml", 3, 1, "seed", "-1", "at least 0")]),
        TraceError([Fault("a.csv", 3, "no number", "a number")]),
        DistributionError("weibull", "shape", "found -1", "a number > 0 is needed"),
        LearningError("problem mlp: no data"),
        UnknownNameError('unknown tool "hamer"'),
        StoreError("the disk is full"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_comes_whole_out_of_a_worker_process(error: DdsimError) -> None:
    """With its message, and with all that it carries beside it."""
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), vars(copy)) == (str(error), vars(error))
