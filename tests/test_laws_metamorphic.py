"""Changes of a scenario whose effect is known without knowing the result."""

from __future__ import annotations

import pytest
from replicated import METHODS, all_methods, estimate, goodput, runs, world

from ddsim.results import MethodResult
from ddsim.scenario import Scenario

SHARES = (
    "goodput",
    "time_goodput",
    "uptime",
    "merge_uptime",
    "participation",
    "merged_share",
    "compute_utilization",
    "ettr",
    "steps",
    "failures",
)
HISTORIES = 8


def unlucky(**changes: object) -> Scenario:
    """Four units of four slices that fail and are lost whole, with jitter and checkpoints."""
    settings: dict[str, object] = {
        "duration": "40 min",
        "cluster__chips": 64,
        "cluster__chips_per_slice": 4,
        "cluster__jitter": 0.05,
        "training__overlap_steps": 2,
        "training__quorum": 2,
        "failures__chip_mtbi": "5 h",
        "failures__repair": {"exponential": {"mean": "5 min"}},
        "failures__detection": "5 s",
        "restart__time": "30 s",
        "checkpoint__policy": "fixed",
        "checkpoint__interval": "2 min",
        "checkpoint__save": "4 s",
        "checkpoint__restore": "10 s",
        "chaos": [{"at": "10 min", "fault": "kill", "target": "unit 1", "for": "10 min"}],
    }
    return world(**{**settings, **changes})


def assert_alike(one: MethodResult, other: MethodResult) -> None:
    """Everything without a dimension is the same."""
    for name in SHARES:
        found, expected = getattr(one, name), getattr(other, name)
        if expected is None:
            assert found is None, name
        else:
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9), name
    for account, share in one.accounts.items():
        assert share == pytest.approx(other.accounts[account], abs=1e-9), account


@pytest.mark.slow
def test_unlimited_links_are_no_network() -> None:
    """Units in four regions on unlimited links do what units in one region do, whatever fails."""
    apart = all_methods(unlucky(network__regions=["a", "b", "c", "d"]))
    together = all_methods(unlucky(network__regions=["a"]))
    for method in METHODS:
        assert_alike(apart[method], together[method])
        assert apart[method].tokens == pytest.approx(together[method].tokens)
        assert apart[method].wan["total_bytes"] > 0.0 == together[method].wan["total_bytes"]


@pytest.mark.slow
def test_links_of_immense_bandwidth_come_to_unlimited_ones() -> None:
    """As the bandwidth grows, so does the goodput towards the one without a limit.

    Decoupled DiLoCo comes near alone: an update that takes any time at all is received a step
    later by the learner whose answer closed its slot.
    """
    huge = all_methods(unlucky(network__bandwidth="1_000_000_000 Tbit/s"))
    unlimited = all_methods(unlucky())
    for method in METHODS:
        near = 1e-3 if method == "decoupled_diloco" else 1e-6
        assert huge[method].goodput == pytest.approx(unlimited[method].goodput, abs=near)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.125, 7.0])
def test_scaling_all_times_changes_nothing_dimensionless(scale: float) -> None:
    """Every time in the scenario times c, every bandwidth over c: the same shares and counts."""

    def scaled(c: float) -> Scenario:
        return unlucky(
            duration=f"{40 * c!r} min",
            training__step_time=f"{c!r} s",
            network__bandwidth=f"{20 / c!r} Gbit/s",
            network__latency=f"{20 * c!r} ms",
            failures__chip_mtbi=f"{5 * c!r} h",
            failures__repair={"exponential": {"mean": f"{5 * c!r} min"}},
            failures__detection=f"{5 * c!r} s",
            elastic__downscale=f"{10 * c!r} s",
            elastic__upscale=f"{12 * c!r} s",
            restart__time=f"{30 * c!r} s",
            checkpoint__interval=f"{2 * c!r} min",
            checkpoint__save=f"{4 * c!r} s",
            checkpoint__restore=f"{10 * c!r} s",
            chaos=[
                {"at": f"{20 * c!r} min", "fault": "kill", "target": "unit 1", "for": f"{c!r} min"},
                {
                    "at": f"{30 * c!r} min",
                    "fault": "throttle",
                    "target": "region 2",
                    "to": f"{2 / c!r} Gbit/s",
                    "for": f"{9 * c!r} min",
                },
            ],
        )

    one, other = all_methods(scaled(1.0)), all_methods(scaled(scale))
    for method in METHODS:
        assert_alike(one[method], other[method])
        assert one[method].wan["total_bytes"] == pytest.approx(other[method].wan["total_bytes"])


def steady(**changes: object) -> Scenario:
    """The same without jitter, the plan and short steps, which cost the simulator time."""
    settings: dict[str, object] = {
        "duration": "2 h",
        "cluster__jitter": 0.0,
        "training__step_time": "20 s",
    }
    return unlucky(chaos=[], **{**settings, **changes})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.slow
def test_more_failures_lower_the_mean_goodput(method: str) -> None:
    """Over many histories, six times the failures and more cost goodput beyond any doubt.

    On one history they need not: a failure may fall into a stall that another has begun.
    """
    means = [
        goodput(steady(failures__chip_mtbi=mtbi), method, HISTORIES)
        for mtbi in ("64 h", "10 h", "1 h")
    ]
    assert means[0].exceeds(means[1])
    assert means[1].exceeds(means[2])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.slow
def test_longer_repairs_lower_the_mean_goodput(method: str) -> None:
    """The same strikes with thirty times the repair leave less."""
    short, long = (
        goodput(steady(failures__repair=repair), method, HISTORIES) for repair in ("30 s", "15 min")
    )
    assert short.exceeds(long)


@pytest.mark.slow
def test_a_larger_cluster_meets_more_failures() -> None:
    """Strikes grow with the chips: twice the chips, twice the strikes, within 5 standard errors."""
    few, many = (
        estimate(
            [
                result.failures / chips
                for result in runs(
                    steady(cluster__chips=chips, failures__chip_mtbi="50 h"),
                    "elastic_data_parallel",
                    HISTORIES,
                )
            ]
        )
        for chips in (1024, 2048)
    )
    assert not few.exceeds(many)
    assert not many.exceeds(few)


@pytest.mark.slow
def test_a_unit_that_never_fails_is_not_touched_by_one_that_does() -> None:
    """With K = 1 a decoupled learner's own time does not depend on what befalls the others."""
    kills = [
        {"at": f"{10 * i + 5} min", "fault": "kill", "target": "unit 1", "for": "4 min"}
        for i in range(4)
    ]
    quiet = all_methods(unlucky(chaos=[], chaos_only=True, training__quorum=1))
    drill = all_methods(unlucky(chaos=kills, chaos_only=True, training__quorum=1))
    decoupled = [
        [span for span in results["decoupled_diloco"].timeline if span.unit == "unit 0"]
        for results in (quiet, drill)
    ]
    assert decoupled[0] == decoupled[1]
    assert drill["diloco"].accounts["waiting_on_peers"] > 0.2


@pytest.mark.parametrize("bandwidth", ["6 Gbit/s", "40 Gbit/s", "unlimited"])
@pytest.mark.slow
def test_counted_steps_are_those_that_are_stepped_through(bandwidth: str) -> None:
    """Jitter of a trillionth, which has every step simulated by itself, changes nothing that shows.

    Without it steps between two events are counted in closed form.
    """
    settings: dict[str, object] = {
        # no step ends where something else happens: the order of the two would show
        "duration": "2399.37 s",
        "chaos": [{"at": "613.471 s", "fault": "kill", "target": "unit 1", "for": "611.119 s"}],
        "network__bandwidth": bandwidth,
        "network__latency": "5 ms",
        "training__quorum": 1,
        "failures__chip_mtbi": "20 h",
    }
    counted = all_methods(unlucky(cluster__jitter=0.0, **settings))
    stepped = all_methods(unlucky(cluster__jitter=1e-12, **settings))
    for method in METHODS:
        one, other = counted[method], stepped[method]
        for account, share in one.accounts.items():
            assert share == pytest.approx(other.accounts[account], abs=1e-6), (method, account)
        assert one.steps == pytest.approx(other.steps, abs=1.0)
        assert one.tokens == pytest.approx(other.tokens, rel=1e-3)
        assert one.wan["total_bytes"] == pytest.approx(other.wan["total_bytes"], rel=1e-3)
        if bandwidth != "unlimited":  # there whole fragments pass at the edges of a second
            assert one.wan["peak_gbps"] == pytest.approx(other.wan["peak_gbps"], rel=1e-3)
        assert len(one.merges) == pytest.approx(len(other.merges), abs=2)
