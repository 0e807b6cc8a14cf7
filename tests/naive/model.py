"""From a case to what it comes to."""

from __future__ import annotations

from .case import Case, NaiveResult
from .decoupled import Syncer
from .job import LockstepJob
from .lockstep import LockstepUnits
from .parameter_server import ParameterServer
from .reckoning import EXACT, Reckoning, in_ticks
from .simulation import Simulation

METHODS: dict[str, type[Simulation]] = {
    "data_parallel": LockstepJob,
    "elastic_data_parallel": LockstepJob,
    "diloco": LockstepUnits,
    "streaming_diloco": LockstepUnits,
    "decoupled_diloco": Syncer,
    "async_local_sgd": ParameterServer,
}


def simulate(case: Case, reckoning: Reckoning = EXACT) -> NaiveResult:
    """Live through a case, event by event, on a clock that counts so."""
    return METHODS[case.method](in_ticks(case, reckoning)).run()
