"""What a unit that was lost whole fetches from another before it steps."""

from __future__ import annotations

import pytest
from scenario_text import scenario

import ddsim
from ddsim.scenario import Known

COPIED = {"diloco": 128, "streaming_diloco": 128, "async_local_sgd": 128, "decoupled_diloco": 64}
PARAMETERS, RATE, RESTART = 8e9, 10e9, 30.0
KILL = {"at": "100 s", "fault": "kill", "target": "unit 1", "for": "1 min"}


def restarting(method: str, **more: object) -> float:
    """How long unit 1 is in restart, in seconds, beyond the stall itself; nothing else is sent."""
    overrides = {
        "methods": [method],
        "duration": "20 min",
        "model.parameters": PARAMETERS,
        "training.inner_steps": 100_000,
        "training.fragments": 1,
        "cluster.learners": 2,
        "network.bandwidth": f"{RATE / 1e9} Gbit/s",
        "network.regions": {"a": None, "b": None},
        "network.recovery_share": 1,
        "network.efficiency": 1,
        "restart.time": f"{RESTART} s",
        "chaos": [KILL],
        **more,
    }
    one = scenario("", overrides, known=Known(methods=tuple(COPIED)))
    spans = ddsim.run(one)[method].timeline
    spent = [s.end - s.start for s in spans if (s.unit, s.state) == ("unit 1", "restart")]
    return sum(spent) - RESTART


@pytest.mark.parametrize("method", ["diloco", "streaming_diloco", "decoupled_diloco"])
def test_who_has_no_replica_beside_it_fetches_parameters_and_outer_momentum_too(
    method: str,
) -> None:
    """Of 8e9 parameters over 10 Gbit/s: 102.4 s for 32 + 64 + 32 bits, 51.2 s for 64."""
    assert restarting(method) == pytest.approx(COPIED[method] * PARAMETERS / RATE)


def test_an_asynchronous_learner_fetches_its_whole_state_and_then_asks_the_server() -> None:
    """Its first steps are those from the server's parameters: that wait is its own account."""
    assert restarting("async_local_sgd") == pytest.approx(102.4)


@pytest.mark.parametrize("method", COPIED)
def test_nothing_is_copied_where_there_are_no_moments(method: str) -> None:
    """Copies that take no time are asked for so."""
    assert restarting(method, **{"restart.moment_bits": 0}) == pytest.approx(0.0)
