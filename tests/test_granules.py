"""`elastic.granule`: slices that are dropped and taken back together."""

from __future__ import annotations

from typing import Any

import pytest

import ddsim
from ddsim.loading import load_text
from ddsim.results import MethodResult

TEXT = """\
duration: 1000 s
methods: [elastic_data_parallel, diloco, async_local_sgd]
model: {parameters: 1, layers: 1}
training: {step_time: 1 s, inner_steps: 10}
cluster: {chips: 16, chips_per_slice: 2, learners: 2}
elastic: {downscale: 10 s, upscale: 10 s, granule: 4}
failures: {detection: 0 s}
"""
METHODS = ("elastic_data_parallel", "diloco", "async_local_sgd", "decoupled_diloco")


def kill(number: int, at: float, length: float) -> dict[str, Any]:
    """A slice of the first unit is killed."""
    target = f"unit 0/slice {number}"
    return {"at": f"{at} s", "fault": "kill", "target": target, "for": f"{length} s"}


def run(
    *chaos: dict[str, Any], method: str = "decoupled_diloco", **changes: object
) -> MethodResult:
    """What one method made of faults."""
    settings = {key.replace("__", "."): value for key, value in changes.items()}
    scenario = load_text(TEXT, {"chaos": list(chaos), **settings})
    return ddsim.run(scenario, [method]).results[0]


def spent(result: MethodResult, account: str) -> float:
    """Chip-seconds in an account."""
    return result.accounts[account] * 16 * 1000


@pytest.mark.parametrize("method", METHODS)
def test_the_slice_beside_a_failed_one_is_stranded(method: str) -> None:
    """As long as that is away: of four slices two are left."""
    result = run(kill(1, 100.5, 200), method=method)
    assert spent(result, "failed_hardware") == pytest.approx(2 * 200)
    assert spent(result, "stranded") == pytest.approx(2 * 200)
    assert sum(result.accounts.values()) == pytest.approx(1.0, abs=1e-9)


def test_a_granule_costs_one_stall_and_comes_back_whole() -> None:
    """Both of its slices fail: no second downscale, and one upscale when the last is back."""
    one = run(kill(1, 100.5, 300))
    both = run(kill(1, 100.5, 200), kill(0, 200.5, 200))
    for account in ("elastic_downscale", "elastic_upscale"):
        assert spent(both, account) == pytest.approx(spent(one, account))
    assert spent(both, "failed_hardware") == pytest.approx(2 * 200 + 2 * 200)
    assert spent(both, "stranded") == pytest.approx(2 * 100 + 2 * 100)


def test_granules_fail_apart() -> None:
    """Slices 1 and 2 are of two granules: the unit is lost whole, and restarts."""
    result = run(kill(1, 100.5, 200), kill(2, 150.5, 200), restart__time="30 s")
    assert spent(result, "stranded") == pytest.approx(2 * 2 * 200)
    assert spent(result, "restart") == pytest.approx(4 * 30)


def test_a_spare_in_one_place_frees_the_granule() -> None:
    """Nothing is stranded once it is there: at once, where detection takes no time."""
    result = run(kill(1, 100.5, 200), restart__spares=2)
    assert spent(result, "stranded") == pytest.approx(0.0)


def test_a_granule_of_a_slice_is_none() -> None:
    """All accounts as without the setting."""
    chaos = kill(1, 100.5, 200), kill(0, 200.5, 200)
    assert run(*chaos, elastic__granule=2).accounts == run(*chaos, elastic__granule=1).accounts


def test_a_job_that_stops_for_all_strands_nothing_but_itself() -> None:
    """data_parallel needs every slice, with or without granules."""
    results = [
        run(kill(1, 100.5, 200), method="data_parallel", elastic__granule=granule).accounts
        for granule in (1, 4)
    ]
    assert results[0] == results[1]
