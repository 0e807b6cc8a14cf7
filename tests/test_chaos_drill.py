"""The shipped drill: who stops when a unit is taken away and given back, and where it is booked.

Four units of four slices of 64 chips. Lost: a slice of beta by one of its chips (20 min), a slice
of gamma (30 min), alpha whole (2 h to 3 h), delta whole (8 h to 8:30 h).
"""

from __future__ import annotations

from itertools import pairwise

import pytest

import ddsim
from ddsim.results import MethodResult, Results, Span

pytestmark = pytest.mark.slow  # ten hours of five methods

CALM = {"cluster.jitter": 0}
CHIPS, UNIT, SLICE = 1024, 256, 64
HOUR, MINUTE = 3600.0, 60.0
DURATION = 10 * HOUR
DETECTION, DOWNSCALE, UPSCALE, RESTART = 10.0, 10.0, 10.0, 75.0
# Of 12 billion parameters, over a quarter of 80% of 5 Gbit/s, 30 ms away: moments of 64 bits, and
# where no replica is beside the unit the parameters and the outer momentum too.
COPY = {
    method: 12e9 * (64 if method == "decoupled_diloco" else 128) / (0.25 * 0.8 * 5e9) + 0.03
    for method in ("diloco", "streaming_diloco", "decoupled_diloco")
}
SLICES_LOST = 20 * MINUTE + 30 * MINUTE
UNITS_LOST = 60 * MINUTE + 30 * MINUTE
ALPHA = (2 * HOUR, 3 * HOUR)
LEARNERS = ("diloco", "streaming_diloco", "decoupled_diloco")
STALLS = ("detection", "elastic_downscale", "elastic_upscale", "restart", "stranded")


@pytest.fixture(scope="module")
def drill() -> Results:
    """The drill with every method, without jitter, so that sums are closed forms."""
    return ddsim.run(ddsim.load("chaos_drill", CALM))


def chip_seconds(result: MethodResult, account: str) -> float:
    """What an account holds."""
    return result.accounts[account] * CHIPS * DURATION


def spans(result: MethodResult, unit: str, start: float, end: float) -> list[Span]:
    """The states of a unit that reach into a stretch of time."""
    timeline = (span for span in result.timeline if span.unit == unit)
    return [span for span in timeline if span.start < end and span.end > start]


def test_accounts_close(drill: Results) -> None:
    """Every chip-second of the drill stands in one account."""
    for result in drill.results:
        assert sum(result.accounts.values()) == pytest.approx(1.0, abs=1e-9)


def test_decoupled_is_always_up(drill: Results) -> None:
    """At every instant a learner of Decoupled DiLoCo steps, and enough are live for a merge."""
    decoupled = drill["decoupled_diloco"]
    assert decoupled.uptime == pytest.approx(1.0, abs=1e-12)
    assert decoupled.merge_uptime == pytest.approx(1.0, abs=1e-12)
    assert decoupled.mtbi_s is None


@pytest.mark.parametrize("method", ["data_parallel", "elastic_data_parallel"])
def test_jobs_are_interrupted(drill: Results, method: str) -> None:
    """Every one of the four losses stops a job that all units form."""
    assert drill[method].failures == 4
    assert drill[method].mtbi_s == pytest.approx(DURATION / 4)
    assert drill[method].uptime < 1.0


def test_data_parallel_waits_for_its_hardware(drill: Results) -> None:
    """It is stranded until each loss is repaired, then restarts as a whole."""
    result = drill["data_parallel"]
    without_slice, without_unit = CHIPS - SLICE, CHIPS - UNIT
    detection = 2 * DETECTION * (without_slice + without_unit)
    stranded = (SLICES_LOST - 2 * DETECTION) * without_slice
    stranded += (UNITS_LOST - 2 * DETECTION) * without_unit
    assert chip_seconds(result, "detection") == pytest.approx(detection)
    assert chip_seconds(result, "stranded") == pytest.approx(stranded)
    assert chip_seconds(result, "restart") == pytest.approx(4 * RESTART * CHIPS)
    assert result.mttr_s == pytest.approx((SLICES_LOST + UNITS_LOST) / 4 + RESTART)
    stopped = SLICES_LOST + UNITS_LOST + 4 * RESTART
    assert result.uptime == pytest.approx(1.0 - stopped / DURATION)


def test_an_elastic_job_shrinks_and_grows(drill: Results) -> None:
    """All stop for the downscale, go on without what is lost, and stop again for its return."""
    result = drill["elastic_data_parallel"]
    shrinking = 2 * (CHIPS - SLICE) + 2 * (CHIPS - UNIT)
    assert chip_seconds(result, "detection") == pytest.approx(DETECTION * shrinking)
    assert chip_seconds(result, "elastic_downscale") == pytest.approx(DOWNSCALE * shrinking)
    assert chip_seconds(result, "elastic_upscale") == pytest.approx(4 * UPSCALE * CHIPS)
    assert chip_seconds(result, "stranded") == chip_seconds(result, "restart") == 0.0
    stopped = 4 * (DETECTION + DOWNSCALE + UPSCALE)
    assert result.uptime == pytest.approx(1.0 - stopped / DURATION)


@pytest.mark.parametrize("method", LEARNERS)
def test_units_stall_alone(drill: Results, method: str) -> None:
    """A unit that loses a slice shrinks and grows by itself; one that is lost whole restarts,
    until it has what it fetches from a peer.
    """
    result = drill[method]
    assert chip_seconds(result, "detection") == pytest.approx(2 * DETECTION * (UNIT - SLICE))
    assert chip_seconds(result, "elastic_downscale") == pytest.approx(
        2 * DOWNSCALE * (UNIT - SLICE)
    )
    assert chip_seconds(result, "elastic_upscale") == pytest.approx(2 * UPSCALE * UNIT)
    assert chip_seconds(result, "restart") == pytest.approx(2 * (RESTART + COPY[method]) * UNIT)
    assert result.accounts["stranded"] == 0.0


@pytest.mark.parametrize("method", ["diloco", "streaming_diloco"])
def test_the_lock_step_methods_wait_for_the_lost_unit(drill: Results, method: str) -> None:
    """Three units wait for the fourth through nearly all of both losses, until it has restarted."""
    waiting = chip_seconds(drill[method], "waiting_on_peers")
    both = (UNITS_LOST + 2 * (RESTART + COPY[method])) * (CHIPS - UNIT)
    assert 0.9 * both < waiting < 1.02 * both


def test_nobody_waits_for_peers_in_decoupled(drill: Results) -> None:
    """With K = 1 nobody waits for a lost learner."""
    assert drill["decoupled_diloco"].accounts["waiting_on_peers"] == pytest.approx(0.0, abs=1e-12)


def test_failed_hardware_is_the_same_for_all(drill: Results) -> None:
    """What is down is down, whoever trains on it."""
    lost = SLICES_LOST * SLICE + UNITS_LOST * UNIT
    for result in drill.results:
        assert chip_seconds(result, "failed_hardware") == pytest.approx(lost)


def test_faults_of_links_are_exposed_communication_alone(drill: Results) -> None:
    """Without the throttle and the cut no stall changes, only the waits for bytes do."""
    scenario = ddsim.load("chaos_drill", CALM)
    kills = [
        {
            "at": f"{entry.at} s",
            "fault": "kill",
            "target": entry.target,
            "for": f"{entry.duration} s",
        }
        for entry in scenario.chaos
        if entry.fault == "kill"
    ]
    calm = ddsim.run(scenario.with_({"chaos": kills}), ["data_parallel", "elastic_data_parallel"])
    for without in calm.results:
        with_links = drill[without.method]
        for account in STALLS:
            assert with_links.accounts[account] == pytest.approx(without.accounts[account])
        exposed = "exposed_communication"
        assert with_links.accounts[exposed] > without.accounts[exposed]


def test_the_timeline_shows_the_unit_leave_and_return(drill: Results) -> None:
    """Alpha has no hardware for its hour, restarts, and runs; of the others none even stalls."""
    result = drill["decoupled_diloco"]
    before, lost, restart, after = spans(
        result, "alpha", ALPHA[0] - 1, ALPHA[1] + RESTART + COPY["decoupled_diloco"] + 1
    )
    assert (before.state, lost.state, restart.state, after.state) == (
        "running",
        "failed_hardware",
        "restart",
        "running",
    )
    assert (lost.start, lost.end) == pytest.approx(ALPHA)
    assert restart.end - restart.start == pytest.approx(RESTART + COPY["decoupled_diloco"])
    assert (lost.healthy_chips, after.healthy_chips) == (0, UNIT)
    for unit in ("beta", "gamma", "delta"):
        (span,) = spans(result, unit, *ALPHA)
        assert span.state == "running"
        assert span.start < ALPHA[0] < ALPHA[1] + RESTART + COPY["decoupled_diloco"] < span.end


@pytest.mark.parametrize("method", ["data_parallel", "diloco", "streaming_diloco"])
def test_the_timeline_shows_the_others_stop(drill: Results, method: str) -> None:
    """While alpha is away, nobody runs for more than a round of any method that needs it."""
    for unit in ("beta", "gamma", "delta"):
        states = spans(drill[method], unit, ALPHA[0] + 2 * MINUTE, ALPHA[1] - MINUTE)
        assert "running" not in {span.state for span in states}
    lost = [s for s in spans(drill[method], "alpha", *ALPHA) if s.state == "failed_hardware"]
    assert [(s.start, s.end) for s in lost] == [pytest.approx(ALPHA)]


def test_merging_goes_on_without_the_lost_unit(drill: Results) -> None:
    """A merge at every step through the loss, none of them with alpha; the log has every second."""
    result = drill["decoupled_diloco"]
    during = [m for m in result.merges if ALPHA[0] + MINUTE < m.start < ALPHA[1]]
    slots, every = [m.slot for m in during], result.merges_every
    assert slots == list(range(slots[0], slots[-1] + 1, every))
    assert not any("alpha" in m.learners for m in during)
    assert max(after.start - before.start for before, after in pairwise(during)) < every * 2.0


def test_nothing_goes_faster_than_its_link(drill: Results) -> None:
    """Units are lost and copy their state, at 80% of 5 Gbit/s."""
    for result in drill.results:
        assert result.wan["peak_gbps"] <= 4.0 + 1e-6, result.method
        for link in result.extra["links"]:
            assert link["p99_gbps"] <= link["peak_gbps"] <= 4.0 + 1e-6, result.method
