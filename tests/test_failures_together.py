"""Everything that can fail, leave, slow down or be saved, at random and all at once."""

from __future__ import annotations

import random
from typing import Any

import pytest

import ddsim
from ddsim.loading import known
from ddsim.results import MethodResult
from ddsim.scenario import Scenario, read_text, shipped, validate

TEXT = """
duration: 5 day
model: {parameters: 1e9, layers: 12}
training: {step_time: 7 min, inner_steps: 6, fragments: 3, quorum: 2}
cluster: {chips: 110, chips_per_slice: 8, slices_per_rack: 2, learners: 3}
network: {bandwidth: 0.2 Gbit/s, regions: [east, west]}
failures: {detection: 40 s, repair: {lognormal: {median: 1 h, sigma: 1}}}
"""
# mean days between failures of a part, so that each domain fails about once a day
DAYS = {"chip": 100, "slice": 14, "rack": 7, "unit": 3, "region": 2, "job": 1, "link": 2}


def random_cause(rng: random.Random, name: str) -> dict[str, Any]:
    """A cause of any domain, with some of what its domain may have."""
    domain = rng.choice(list(DAYS))
    cause: dict[str, Any] = {"name": name, "domain": domain, "mtbi": f"{DAYS[domain]} day"}
    if domain == "link":
        return cause
    extras: dict[str, Any] = {
        "replace": False,
        "state_lost": False,
        "burst": {"size": 3, "spread": "10 min"},
        "latent": "2 h",
        "notice": "1 min",
    }
    cause |= {key: value for key, value in extras.items() if rng.random() < 0.25}
    if domain != "job":
        cause |= rng.choice([{}, {"unallocated": True}, {"slow_to": 0.5}])
        if rng.random() < 0.3:
            cause["lifetime"] = {"weibull": {"shape": 0.6, "mean": cause.pop("mtbi")}}
    return cause


def random_world(seed: int) -> Scenario:
    """A small cluster under several of them, with any rules and any saves."""
    rng = random.Random(seed)
    causes = [random_cause(rng, f"cause {index}") for index in range(4)]
    aging = any("lifetime" in cause for cause in causes)
    settings: dict[str, object] = {
        "seed": seed,
        "failures.causes": causes,
        "failures.crews": rng.choice([1, 3]),
        "failures.age_while_down": rng.choice(["runs", "runs" if aging else "stops"]),
        "failures.maintenance": [
            {"target": "unit 1/slice 0-2", "at": "10 h", "for": "9 h", "every": "1 day"}
        ],
        "scavenging": [
            {"target": rng.choice(["unit 0", "unit 1"]), "leaves": "20 h", "every": "1 day"}
        ],
        "training.on_failure": ("wait", "drop", "rollback")[seed % 3],
        "elastic.stall_rule": rng.choice(["absorb", "extend"]),
        "restart.stall_rule": rng.choice(["absorb", "extend"]),
        "restart.time": rng.choice(["0 s", "10 min"]),
        "checkpoint.policy": rng.choice(["none", "fixed", "in_memory", "young", "optimal"]),
        "checkpoint.save": rng.choice(["30 s", "10 min"]),
        "checkpoint.interval": rng.choice(["1 h", "3 steps"]),
        "checkpoint.asynchronous": rng.random() < 0.5,
        "cluster.jitter": rng.choice([0.0, 0.1]),
        "cluster.speed_spread": rng.choice([0.0, 0.1]),
    }
    if rng.random() < 0.3:
        settings |= {"trace.file": str(shipped.folder() / "spot_trace.csv"), "trace.repeat": True}
    if rng.random() < 0.5:
        settings |= {
            "cluster.chips": 96,
            "restart.spares": 2,
            "restart.spare_start": "5 min",
            "restart.spares_fail": True,
        }
    return validate(read_text(TEXT, "together.yaml").with_overrides(settings), known())


def check(result: MethodResult) -> None:
    """What holds of every run."""
    assert sum(result.accounts.values()) == pytest.approx(1.0, abs=1e-9)
    assert min(result.accounts.values()) >= -1e-9
    for share in (result.goodput, result.ettr, result.uptime):
        assert -1e-9 <= share <= 1.0 + 1e-9
    assert result.steps >= 0
    assert result.tokens >= -1e-6


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_accounts_close_whatever_happens(seed: int) -> None:
    """Every chip-second of every method is in one account, and every share is one."""
    for result in ddsim.run(random_world(seed)).results:
        check(result)


@pytest.mark.slow
def test_the_same_scenario_and_seed_give_the_same_results() -> None:
    """With the methods in another order, and each in a run of its own."""
    scenario = random_world(3)
    together = {r.method: r for r in ddsim.run(scenario).results}
    for method in reversed(list(together)):
        alone = ddsim.run(scenario, methods=[method]).results[0]
        assert alone.accounts == together[method].accounts
        assert alone.extra == together[method].extra
