"""A step of data-parallel training takes what its layers, reduced one by one, take by hand.

The model of one step is that behind Table 4 of arXiv 2501.18512: forward through all layers, then
backward by activations and by parameters from the last layer down; a layer's gradients leave on a
first-in-first-out link once its backward pass is done.
"""

from __future__ import annotations

import pytest

import ddsim
from ddsim.scenario import Scenario

PARAMETERS = 12e9
LAYERS = 48
BITS = 16
UNITS = 4
EFFICIENCY = 0.8
PEAK, MFU = 459e12, 0.40
# 2^21 tokens a unit of 1,024 chips, 6 N x 1.08 FLOP each
COMPUTE = 2**21 * 6 * PARAMETERS * 1.08 / (1024 * PEAK * MFU)
STEPS = 20
THIN = [2.0, 3.0, 4.0, 5.0]
THICK = [820.0, 2_000.0, 500_000.0]


def on_the_link(gbps: float) -> float:
    """Seconds of a whole gradient at the slowest site: a ring moves 2 (M - 1) / M of it."""
    return BITS * PARAMETERS * 2 * (UNITS - 1) / UNITS / (EFFICIENCY * gbps * 1e9)


def by_formula(gbps: float) -> float:
    """max(T_c + max(C/L, 2 C/L - d), T/3 + 2 d + C), T = 3 L d and T_c = (3 L - 1) d."""
    d = COMPUTE / (3 * LAYERS - 1)
    whole = on_the_link(gbps)
    each = whole / LAYERS
    return max(COMPUTE + max(each, 2 * each - d), LAYERS * d + 2 * d + whole)


def by_hand(gbps: float) -> float:
    """The same layer by layer."""
    d = COMPUTE / (3 * LAYERS - 1)
    each = on_the_link(gbps) / LAYERS
    now = LAYERS * d  # all layers forward
    link_free = 0.0
    for layer in range(LAYERS, 0, -1):
        now += d if layer == 1 else 2 * d  # nothing lies below the first layer
        link_free = max(link_free, now) + each
    return max(now, link_free)


def scenario(**changes: object) -> Scenario:
    """The shipped scenario without failures and latency, for a number of steps."""
    return ddsim.load(
        "four_regions_12b",
        {
            "duration": "1 day",
            "training.tokens": STEPS * UNITS * 2**21,
            "network.latency": "0 s",
            "failures.chip_mtbi": "never",
            "cluster.jitter": 0,
            **{key.replace("__", "."): value for key, value in changes.items()},
        },
    )


def step_of(world: Scenario, method: str = "data_parallel") -> float:
    """Seconds that a step took in the mean."""
    result = ddsim.run(world, [method])[method]
    assert result.steps == STEPS
    return result.wall_clock_s / STEPS


@pytest.mark.parametrize("gbps", THIN + THICK)
@pytest.mark.parametrize("method", ["data_parallel", "elastic_data_parallel"])
def test_a_step_takes_what_the_layers_take(gbps: float, method: str) -> None:
    """Within 1%, and far closer: from links that carry nothing else to those that hardly show."""
    step = step_of(scenario(network__bandwidth=f"{gbps} Gbit/s"), method)
    assert step == pytest.approx(by_hand(gbps), rel=0.01)
    # each layer's reduction ends on a nanosecond
    assert step == pytest.approx(by_formula(gbps), rel=1e-9, abs=0.5e-9 * LAYERS)


@pytest.mark.parametrize("gbps", THIN + THICK)
def test_formula_and_layers_agree(gbps: float) -> None:
    """The closed form is the sum by hand."""
    assert by_formula(gbps) == pytest.approx(by_hand(gbps), rel=1e-12)


def test_the_chosen_bandwidths_try_the_whole_formula() -> None:
    """Each of its three branches is the largest at one of them."""
    d = COMPUTE / (3 * LAYERS - 1)
    branches = set()
    for gbps in THIN + THICK:
        whole = on_the_link(gbps)
        each = whole / LAYERS
        values = [COMPUTE + each, COMPUTE + 2 * each - d, LAYERS * d + 2 * d + whole]
        branches.add(values.index(max(values)))
    assert branches == {0, 1, 2}


def test_the_slowest_site_sets_the_pace() -> None:
    """With unequal accesses the ring goes at the thinnest of them, in whichever direction."""
    regions = {
        "us-central": {"bandwidth": "5 Gbit/s"},
        "us-east": {"bandwidth": "4 Gbit/s"},
        "us-south": {"upload": "3 Gbit/s", "download": "9 Gbit/s"},
        "us-west": {"bandwidth": "5 Gbit/s"},
    }
    step = step_of(scenario(network__regions=regions))
    assert step == pytest.approx(by_hand(3.0), rel=1e-9)


def test_latency_counts_once_a_step() -> None:
    """The layers are pipelined, so that a step pays the 2 (M - 1) phases of one collective."""
    step = step_of(scenario(network__bandwidth="2 Gbit/s", network__latency="30 ms"))
    assert step == pytest.approx(by_hand(2.0) + 2 * (UNITS - 1) * 0.030, rel=1e-9)


def test_bits_on_the_link_are_those_of_the_ring() -> None:
    """Every site sends 2 (M - 1) / M of 16 bits a parameter at each step."""
    result = ddsim.run(scenario(), ["data_parallel"])["data_parallel"]
    expected = STEPS * BITS * PARAMETERS * 1.5 / 8
    assert result.wan["total_bytes"] == pytest.approx(expected, rel=1e-9)
    assert "ring all-reduce of 2(M-1)/M" in result.wan["convention"]
