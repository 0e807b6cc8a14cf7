"""What a strike costs where many fall: events, and objects that a garbage collector would visit."""

from __future__ import annotations

import gc
from dataclasses import replace

import pytest

import ddsim
from ddsim.engine.clock import Clock, Rank, Wake
from ddsim.engine.run import Run
from ddsim.results import MethodResult
from ddsim.scenario import Scenario
from ddsim.simulation import simulate
from ddsim.world.histories import Histories

CHIPS = 2_400_000


def scenario(method: str, learners: int, hours: float) -> Scenario:
    """A cell of the goodput table with most failures."""
    cell = {"cluster.chips": CHIPS, "cluster.learners": learners, "duration": f"{hours} h"}
    return ddsim.load("goodput_vs_chips", cell).for_method(method)


# A strike, its return, and an end of each stall that they bring about; most are folded into
# others'. A learner has an end of the step in progress besides, after each of its stalls.
@pytest.mark.parametrize(
    ("method", "learners", "most"),
    [
        ("data_parallel", 1, 3.5),
        ("elastic_data_parallel", 1, 3.0),
        ("elastic_data_parallel", 8, 3.0),
        ("decoupled_diloco", 2, 5.0),
    ],
)
def test_a_strike_costs_a_few_events(method: str, learners: int, most: float) -> None:
    """At a strike every 13 s a job takes at most 3.5 events for each, and learners 5."""
    found = simulate(scenario(method, learners, 1), method)
    assert found.failures > 230
    assert found.events / found.failures < most


@pytest.mark.slow
def test_steps_of_learners_add_a_constant() -> None:
    """Between few and many failures, learners take at most 7 events more for each more."""

    def run(years: float) -> MethodResult:
        some = scenario("decoupled_diloco", 8, 0.3).with_({"failures.chip_mtbi": f"{years} yr"})
        return simulate(some, "decoupled_diloco")

    few, many = run(8.0), run(1.0)
    assert many.failures > 6 * few.failures
    assert (many.events - few.events) / (many.failures - few.failures) < 7


@pytest.mark.parametrize("method", ["data_parallel", "elastic_data_parallel", "decoupled_diloco"])
def test_the_timeline_changes_nothing_else(method: str) -> None:
    """Without a timeline and merges all else in the result is the same to the last bit."""
    settled = scenario(method, 4 if method == "decoupled_diloco" else 1, 0.3)
    kept = simulate(settled, method)
    without = simulate(settled, method, timeline=False)
    assert kept.timeline
    assert not without.timeline
    assert not without.merges
    assert replace(kept, timeline=[], merges=[], elapsed_s=0.0) == replace(without, elapsed_s=0.0)


def test_a_run_restores_the_collector() -> None:
    """The garbage collector is set as it was, whatever ended the run."""

    def fail(wake: Wake) -> None:
        raise ZeroDivisionError

    before = gc.get_threshold()
    clock = Clock()
    clock.after(1, Rank.NEXT, fail)
    with pytest.raises(ZeroDivisionError):
        clock.run(2)
    assert gc.get_threshold() == before


@pytest.mark.parametrize("method", ["data_parallel", "elastic_data_parallel", "decoupled_diloco"])
@pytest.mark.slow
def test_strikes_leave_no_cycles(method: str) -> None:
    """While a run is held on to, nothing in it waits for a garbage collector."""
    from ddsim import methods

    settled = scenario(method, 4 if method == "decoupled_diloco" else 1, 1)
    one = Run(settled, *Histories(0).of(settled), 0)
    made = methods.get(method)(one)
    gc.collect()
    gc.disable()
    try:
        hardware = made.start()
        one.clock.run(one.horizon)
        left = gc.collect()
    finally:
        gc.enable()
    assert hardware.strikes > 200
    assert left < 100
