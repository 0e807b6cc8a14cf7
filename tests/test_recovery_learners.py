"""Saves of learners: what they cost each, and when one goes back to its own."""

from __future__ import annotations

from typing import Any

import pytest

import ddsim
from ddsim.results import MethodResult
from ddsim.scenario import Scenario, read_text, validate

DAY, HOUR = 86400.0, 3600.0
METHODS = ("diloco", "streaming_diloco", "decoupled_diloco")
TEXT = """\
duration: 1 day
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 min, inner_steps: 10, fragments: 2}
cluster: {chips: 64, chips_per_slice: 8, learners: 2}
network: {regions: [east]}
failures: {detection: 10 s}
restart: {time: 290 s}
elastic: {downscale: 50 s, upscale: 60 s}
checkpoint: {policy: fixed, interval: 55 min, save: 2 min, restore: 3 min}
"""


def kill(target: str, at: str, length: str = "30 min") -> dict[str, Any]:
    """A fault that kills a target."""
    return {"at": at, "fault": "kill", "target": target, "for": length}


def world(chaos: list[dict[str, Any]] | None = None, **settings: object) -> Scenario:
    """The scenario with these faults and settings, whose keys have __ for dots."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    return validate(read_text(TEXT, "learn.yaml").with_overrides({"chaos": chaos or [], **named}))


def one(scenario: Scenario, method: str) -> MethodResult:
    """What one method made of the scenario."""
    return ddsim.run(scenario, methods=[method]).results[0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("interval", ["55 min", "55 steps"])
def test_every_learner_saves_at_its_step_boundaries(method: str, interval: str) -> None:
    """Every 55 steps of a minute comes a save of two: 25 in a day, and nobody is down for it."""
    result = one(world(checkpoint__interval=interval), method)
    assert result.accounts["checkpoint_save"] * DAY == pytest.approx(25 * 120)
    assert result.goodput == pytest.approx(1 - 25 * 120 / DAY)
    assert result.uptime == pytest.approx(1.0)
    # the last step would end with the run, and so is not counted
    assert result.steps == pytest.approx((DAY - 25 * 120) / 60 - 1)


def test_a_save_in_each_step() -> None:
    """Policy in_memory pays for every step."""
    scenario = world(checkpoint__policy="in_memory", checkpoint__save="3 s", duration="6 h")
    for method in METHODS:
        assert one(scenario, method).goodput == pytest.approx(60 / 63, rel=1e-3)


def test_an_asynchronous_save_holds_up_for_its_stall() -> None:
    """The rest of it overlaps."""
    scenario = world(checkpoint__asynchronous=True, checkpoint__stall="6 s")
    for method in METHODS:
        result = one(scenario, method)
        assert result.accounts["checkpoint_save"] * DAY == pytest.approx(26 * 6)


@pytest.mark.parametrize("method", METHODS)
def test_a_strike_ends_a_save(method: str) -> None:
    """It is not finished, and its stall is the strike's; the save is due at the next boundary."""
    chaos = [kill("unit 0/slice 0", "3360 s")]  # a minute into the first save
    result = one(world(chaos, duration="2 h"), method)
    other = result.accounts["elastic_downscale"] * 64 * 7200
    assert other == pytest.approx(24 * 50)
    assert result.accounts["detection"] * 64 * 7200 == pytest.approx(24 * 10)
    saved = result.accounts["checkpoint_save"] * 64 * 7200
    # unit 1 saves twice if there is time; unit 0 a minute in vain, and again a step later
    assert saved > 32 * 120 + 32 * 60 + 24 * 119


def test_a_learner_with_a_peer_takes_its_state_from_there() -> None:
    """One unit is lost: no save is restored, and nothing that it did is undone."""
    result = one(world([kill("unit 0", "5000 s")]), "decoupled_diloco")
    assert result.accounts["checkpoint_restore"] == 0.0
    assert result.accounts["restart"] * DAY == pytest.approx(290 / 2)
    assert result.accounts["wasted_progress"] * DAY <= 60 / 2


def test_without_a_peer_it_goes_back_to_its_last_save() -> None:
    """Both are lost; the first to return restores, the second has a peer by then."""
    chaos = [kill("unit 0", "5000 s", "10 min"), kill("unit 1", "5000 s", "30 min")]
    result = one(world(chaos), "decoupled_diloco")
    assert result.accounts["checkpoint_restore"] * DAY == pytest.approx(180 / 2)
    # a save was complete after 3300 + 120 s; the other loses the step in progress alone
    lost = 5000 - 3420
    step = lost % 60
    assert result.accounts["wasted_progress"] * DAY == pytest.approx((lost + step) / 2)
    assert sum(result.accounts.values()) == pytest.approx(1.0)


def test_copies_at_peers_that_cost_nothing_change_nothing() -> None:
    """in_memory without a price is the same as no policy, while somebody is there."""
    for method in METHODS:
        short: dict[str, Any] = {"duration": "6 h"}
        free = one(world(checkpoint__policy="in_memory", checkpoint__save="0 s", **short), method)
        none = one(world(checkpoint__policy="none", **short), method)
        assert free.accounts == none.accounts
