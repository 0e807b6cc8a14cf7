"""A syncer's host can be lost with what it holds: who merges without it, and how it comes back."""

from __future__ import annotations

from typing import Any

import pytest
from scenario_text import problems_of, scenario

import ddsim
from ddsim.engine.run import Outcome
from ddsim.methods.local.replicated import ReplicatedUpdates
from ddsim.results import Merge, MethodResult
from ddsim.world.cluster import build
from ddsim.world.instants import SECOND, ticks
from ddsim.world.replica_faults import replica_losses

LOST, BACK, END = 300.0, 600.0, 1200.0
EVERYONE = ("unit 0", "unit 1", "unit 2", "unit 3")
CENTRAL: dict[str, object] = {
    "training__syncer": "central",
    "network": {"bandwidth": "20 Gbit/s", "server": "region 1"},
}
FRAGMENT, FETCHED = 1e9 / 10, 16.0


def lose(target: str, at: str = "5 min", length: str = "5 min") -> dict[str, Any]:
    """A replica's loss."""
    return {"at": at, "fault": "lose_replica", "target": target, "for": length}


def run(*chaos: dict[str, Any], **settings: object) -> MethodResult:
    """Four regions, steps of 1 s, ten fragments in 20 steps, twenty minutes."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    base = {
        "duration": "20 min",
        "training.inner_steps": 20,
        "training.fragments": 10,
        "training.payload_bits": 4,
        "cluster.jitter": 0.02,
        "network": {"bandwidth": "2 Gbit/s", "latency": "10 ms"},
        "chaos": list(chaos),
    }
    return ddsim.run(scenario("", {**base, **named}), ["decoupled_diloco"])["decoupled_diloco"]


def merges(result: MethodResult, start: float, end: float) -> list[Merge]:
    """Merges that closed in a stretch of time."""
    return [merge for merge in result.merges if start < merge.start < end]


def share(result: MethodResult, unit: str, start: float, end: float) -> float:
    """The share of the merges in which a unit took part."""
    found = merges(result, start, end)
    return sum(unit in merge.learners for merge in found) / len(found)


def who(result: MethodResult, start: float, end: float) -> set[tuple[str, ...]]:
    """Who took part in them."""
    return {merge.learners for merge in merges(result, start, end)}


def seconds(result: MethodResult, account: str) -> float:
    """A unit's mean seconds in an account."""
    return result.accounts[account] * result.wall_clock_s


def fetched(result: MethodResult, region: str) -> float:
    """What a region has received that it had missed, in bits."""
    uses = {(use["link"], use["direction"]): use for use in result.extra["links"]}
    return 8 * float(uses[region, "down"]["recovery_bytes"])


@pytest.mark.parametrize("target", ["unit 2", "region 2"])
@pytest.mark.parametrize("form", ["replicas", pytest.param("partitioned", marks=pytest.mark.slow)])
def test_the_others_merge_without_a_lost_replica(target: str, form: str) -> None:
    """Its learner steps on, and is in no merge until the replica has caught up."""
    result = run(lose(target), training__syncer=form)
    assert share(result, "unit 2", LOST + 1.0, BACK) == 0.0
    assert share(result, "unit 3", LOST + 1.0, BACK) > 0.5
    assert seconds(result, "productive") > END - 30.0
    assert share(result, "unit 2", 900.0, END) > 0.5


def test_a_replica_that_is_back_fetches_every_fragment() -> None:
    """All of the parameters at the bits of a broadcast, at a quarter of the link.

    What is merged meanwhile is fetched again.
    """
    result = run(lose("unit 2"))
    whole = 10 * FRAGMENT * FETCHED
    assert whole * (1 - 1e-9) <= fetched(result, "region 2") <= 2 * whole
    first = next(m.start for m in result.merges if m.start > BACK and "unit 2" in m.learners)
    assert first >= BACK + whole / (0.25 * 2e9)


@pytest.mark.parametrize("quorum", [1, 4])
@pytest.mark.parametrize("form", ["replicas", pytest.param("partitioned", marks=pytest.mark.slow)])
def test_learners_in_step_to_the_bit_merge_together_again(form: str, quorum: int) -> None:
    """A learner's count goes on with its steps while nobody hears it."""
    result = run(lose("unit 2"), cluster__jitter=0, training__syncer=form, training__quorum=quorum)
    assert who(result, 900.0, END) == {EVERYONE}


def test_hosts_can_be_lost_at_random() -> None:
    """A cause of domain `replica` strikes the hosts beside the units, each at its rate."""
    often = {"name": "host", "domain": "replica", "mtbi": "10 min", "repair": "1 s"}
    settings = {"failures.causes": [often], "duration": "20 h"}
    one = scenario("", {**settings, "failures.detection": "1 s"})
    losses = replica_losses(one, build(one), 0)
    expected = 4 * 120
    assert abs(len(losses) - expected) < 5 * expected**0.5
    assert {loss.units for loss in losses} == {(0,), (1,), (2,), (3,)}
    assert [loss.end - loss.time for loss in losses] == [ticks(2.0)] * len(losses)
    assert losses == replica_losses(one, build(one), 0) != replica_losses(one, build(one), 1)


def test_a_central_syncers_own_host_is_one_more() -> None:
    """Nothing is merged while it is gone."""
    often = {"name": "host", "domain": "replica", "mtbi": "10 min", "repair": "50 s"}
    one = run(**CENTRAL, failures__causes=[often], cluster__jitter=0)
    made = scenario(
        "", {"failures.causes": [often], "duration": "20 min", "training.syncer": "central"}
    )
    losses = [loss for loss in replica_losses(made, build(made), 0) if not loss.units]
    assert losses
    for loss in losses:
        assert not merges(one, loss.time / SECOND + 5.0, min(loss.end / SECOND, END))


def test_an_exchange_under_way_begins_anew_without_it() -> None:
    """What its hop had carried by then was sent in vain; nobody else is held up for long."""
    thin = {"network": {"bandwidth": "500 Mbit/s"}, "training__payload_bits": 8}
    without, result = run(**thin), run(lose("unit 2", "300.7 s"), **thin)
    assert share(result, "unit 2", LOST + 5.0, BACK) == 0.0
    lost = seconds(without, "productive") - seconds(result, "productive")
    assert lost < 60.0


def test_answers_that_a_lost_replica_gave_count_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight losses while exchanges queue, and quiet at the end: all that is counted has arrived."""
    outcomes: list[Outcome] = []
    close = ReplicatedUpdates.close

    def noted(self: ReplicatedUpdates, horizon: int) -> Outcome:
        outcomes.append(close(self, horizon))
        return outcomes[-1]

    monkeypatch.setattr(ReplicatedUpdates, "close", noted)
    losses = [lose("unit 2", f"{30 * turn + 20.7} s", "5 s") for turn in range(8)]
    ends = [{"at": "280 s", "fault": "kill", "target": unit, "for": "never"} for unit in EVERYONE]
    thin = {"network": {"bandwidth": "500 Mbit/s"}, "training__payload_bits": 8}
    told = run(*losses, *ends, duration="5 min", **thin).merges
    tokens = 1 / 4  # of a learner's step; tokens x tokens a step is a weight
    steps = sum(sum(merge.weights) for merge in told) / tokens**2
    (outcome,) = outcomes
    assert outcome.participation == pytest.approx(
        sum(len(merge.learners) for merge in told) / 4 / len(told)
    )
    assert outcome.merged == pytest.approx(steps)
    assert outcome.tokens_merged == pytest.approx(steps * tokens / 10)


def test_a_quorum_of_all_waits_for_the_replica() -> None:
    """With K = M no slot closes meanwhile; afterwards all take part again."""
    result = run(lose("unit 2"), training__quorum=4)
    assert not merges(result, LOST + 1.0, BACK)
    assert seconds(result, "waiting_on_peers") == pytest.approx(0.75 * (BACK - LOST), rel=0.1)
    assert who(result, 900.0, END) == {EVERYONE}
    assert len(merges(result, 900.0, END)) > 130


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 5))]
)
def test_a_quorum_of_all_goes_on_with_jitter(seed: int) -> None:
    """A learner that was ahead answers again what it had answered before the loss."""
    faults = [lose(f"unit {n % 4}", f"{50 + 70 * n} s", "20 s") for n in range(12)]
    result = run(*faults, training__quorum=4, cluster__jitter=0.3, seed=seed)
    assert len(merges(result, 1000.0, END)) > 50


def test_a_replica_lost_on_unlimited_links_is_back_at_once() -> None:
    """With its host back, nothing keeps it from taking part."""
    result = run(lose("unit 2"), network={})
    assert share(result, "unit 2", LOST + 1.0, BACK - 1.0) == 0.0
    assert share(result, "unit 2", BACK + 5.0, END) > 0.5


def test_the_source_of_a_fetch_can_be_lost_too() -> None:
    """The replica that catches up then fetches from another."""
    result = run(lose("unit 2"), lose("unit 0", "610 s", "100 s"))
    assert share(result, "unit 2", 900.0, END) > 0.5
    assert share(result, "unit 0", 900.0, END) > 0.5


def test_all_replicas_lost_stop_all_merges() -> None:
    """The learners step on; the first replica to come back is what the others fetch from."""
    faults = [lose(f"unit {n}", "5 min", f"{100 + 10 * n} s") for n in range(4)]
    result = run(*faults)
    assert not merges(result, LOST + 1.0, LOST + 100.0)
    for unit in EVERYONE:
        assert share(result, unit, 900.0, END) > 0.5
    assert seconds(result, "productive") > END - 30.0


def test_a_central_syncer_that_is_lost_stops_all_merges() -> None:
    """Until it is back; it has kept what it had."""
    result = run(lose("region 1", "300.5 s"), **CENTRAL)
    assert not merges(result, LOST + 1.0, BACK)
    waited = seconds(result, "waiting_on_peers") + seconds(result, "exposed_communication")
    # the learner of that site has no host, and so waits for nobody
    assert waited == pytest.approx(0.75 * (BACK - LOST), rel=0.05)
    assert len(merges(result, BACK, END)) > 250


def test_another_host_than_the_central_one_stops_its_own_learner() -> None:
    """The others go on; it fetches from the centre."""
    result = run(lose("region 2"), **CENTRAL)
    assert share(result, "unit 2", LOST + 1.0, BACK) == 0.0
    assert share(result, "unit 2", 900.0, END) > 0.5
    assert fetched(result, "region 0") == 0.0 < fetched(result, "region 2")


def test_a_region_that_fails_takes_its_replica_along() -> None:
    """Its learner waits in `restart` for the parameters, and then for a peer's moments."""
    cause = {"name": "power", "domain": "region", "count": 1, "per": "20 min", "repair": "2 min"}
    result = run(failures__causes=[cause], seed=3, duration="40 min", restart__time="5 s")
    rejoins = result.extra["rejoins"]
    assert rejoins
    whole = 10 * FRAGMENT * FETCHED / 8
    for rejoin in rejoins:
        assert rejoin["bytes"] >= whole + 64e9 / 8
        assert rejoin["parameter_staleness_slots"] is None or (
            0 <= rejoin["parameter_staleness_slots"] <= 20
        )
    assert rejoins[0]["copy_s"] > 64e9 / 0.5e9


@pytest.mark.parametrize(
    "form", ["replicas", pytest.param("partitioned", marks=pytest.mark.slow), "central"]
)
def test_accounts_close_whatever_is_lost(form: str) -> None:
    """Every chip-second stands in one account, and no share leaves its bounds."""
    faults = [lose(f"region {n % 4}", f"{50 + 90 * n} s", f"{30 + 10 * n} s") for n in range(11)]
    kills = [
        {"at": f"{80 + 100 * n} s", "fault": "kill", "target": f"unit {n % 3}", "for": "50 s"}
        for n in range(10)
    ]
    result = run(*faults, *kills, training__syncer=form, training__quorum=2, cluster__jitter=0.1)
    assert sum(result.accounts.values()) == pytest.approx(1.0, abs=1e-9)
    assert result.participation is not None
    assert 0.0 <= result.participation <= 1.0
    assert result.merged_share is not None
    assert 0.0 <= result.merged_share <= 1.0


@pytest.mark.parametrize("busy", [pytest.param(0.2, marks=pytest.mark.slow), 1.5])
def test_a_merge_takes_the_syncers_compute(busy: float) -> None:
    """It lies between a slot's closing and its arrival; one after another where it is slow."""
    network: dict[str, object] = {"network": {}, "training__overlap_steps": 4}
    result = run(training__syncer_time=f"{busy} s", duration="10 min", **network)
    plain = run(duration="10 min", **network)
    for merge, same in zip(result.merges[:3], plain.merges[:3], strict=True):
        assert merge.arrival - merge.start == pytest.approx(busy + same.arrival - same.start)


def test_a_syncer_slower_than_the_slots_sets_the_pace() -> None:
    """A slot every 2 s and merges of 3 s: two steps take three seconds."""
    result = run(training__syncer_time="3 s", network={})
    assert result.accounts["productive"] == pytest.approx(2 / 3, abs=0.01)


def test_who_a_lost_replica_belongs_to_has_to_exist() -> None:
    """A region or a unit."""
    found = problems_of("chaos: [{at: 1 h, fault: lose_replica, target: regoin 1}]\n")
    assert "region 1" in found
    assert "a unit whose replica it is" in found
