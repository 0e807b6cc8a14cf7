import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenario_text import scenario

from ddsim.scenario.layout import even_parts


@given(st.integers(1, 10_000), st.integers(1, 100))
def test_parts_are_equal_but_for_the_last(total: int, parts: int) -> None:
    """Nobody gets nothing, and nothing is lost."""
    parts = min(parts, total)
    sizes = even_parts(total, parts)
    assert sum(sizes) == total
    assert len(sizes) == parts
    assert min(sizes) >= 1
    assert sorted(sizes, reverse=True) == sizes
    assert len(set(sizes[:-1])) <= 2


def test_the_last_unit_and_slice_are_smaller() -> None:
    """1,000 chips in 3 units with slices of 64."""
    units = scenario(
        overrides={"cluster": {"chips": 1000, "chips_per_slice": 64, "learners": 3}}
    ).cluster.units
    assert [unit.chips for unit in units] == [334, 334, 332]
    assert [unit.slice_count for unit in units] == [6, 6, 6]


def test_learners_are_spread_over_the_regions() -> None:
    """In turn; each its own where no region is listed."""
    assert [unit.region for unit in scenario().units()] == [f"region {n}" for n in range(4)]
    listed = scenario("network: {regions: [east, west]}\n")
    assert [unit.region for unit in listed.units()] == ["east", "west", "east", "west"]


def test_units_share_what_the_others_leave() -> None:
    """A unit without chips of its own takes its part of cluster.chips."""
    cluster = {"chips": 100, "units": [{"chips": 40}, {"name": "b"}, {"name": "c"}]}
    made = scenario(overrides={"cluster": cluster})
    assert [unit.chips for unit in made.units()] == [40, 30, 30]
    assert [unit.name for unit in made.units()] == ["unit 0", "b", "c"]
    assert (made.cluster.chips, made.cluster.learners) == (100, 3)


def test_a_region_has_its_own_bandwidth_or_the_networks() -> None:
    """Upload and download fall back to the region's bandwidth, and that to the network's."""
    text = """
network:
  bandwidth: 5 Gbit/s
  latency: 30 ms
  regions:
    a:
    b: {bandwidth: 2 Gbit/s}
    c: {upload: 1 Gbit/s}
    d: {latency: 5 ms}
"""
    regions = scenario(text).regions()
    assert [(r.upload, r.download) for r in regions.values()] == [
        (5e9, 5e9),
        (2e9, 2e9),
        (1e9, 5e9),
        (5e9, 5e9),
    ]
    assert [region.latency for region in regions.values()] == [0.03, 0.03, 0.03, 0.005]


@pytest.mark.parametrize(
    ("unit", "step_time"),
    [
        ({}, 1.0),
        ({"speed": 2}, 0.5),
        ({"step_time": "3 s"}, 3.0),
        ({"chip": "v4"}, 459 / 275),
        ({"chip": "mine", "chip_speed": "918 TFLOP/s"}, 0.5),
        ({"chip": "v4", "speed": 2}, 459 / 275 / 2),
    ],
)
def test_a_units_step_time_follows_its_speed_and_chip(
    unit: dict[str, object], step_time: float
) -> None:
    """The nominal step time is that of the cluster's chip at speed 1."""
    made = scenario(overrides={"cluster": {"chip": "v5p", "units": [{"chips": 8, **unit}]}})
    assert made.units()[0].step_time == pytest.approx(step_time, rel=1e-12)


def test_a_step_time_comes_from_the_chip() -> None:
    """Tokens a chip x FLOP a token over what the chip reaches, whatever the unit's size."""
    cluster = {"chip": "H100", "mfu": 0.5, "units": [{"chips": 8}, {"chips": 24, "chip": "A100"}]}
    changes = {"cluster": cluster, "training": {"tokens_per_step": 32e6}}
    fast, slow = scenario(overrides=changes).units()
    assert fast.step_time == pytest.approx(1e6 * 6e9 / (989e12 * 0.5), rel=1e-12)
    assert slow.step_time == pytest.approx(1e6 * 6e9 / (312e12 * 0.5), rel=1e-12)
    assert (fast.chip, slow.chip) == ("H100", "A100")
