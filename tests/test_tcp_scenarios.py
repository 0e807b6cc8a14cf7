"""`network.tcp` in scenarios: what is allowed, for whom it holds, and what exchanges get."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

import ddsim
from ddsim.scenario import ScenarioError
from ddsim.scenario.hops import hop_latency, hop_streams
from ddsim.scenario.places import distance, measured_round_trip, place_latency
from ddsim.world.network import Network

GIGA = 1e9
WORLD: dict[str, Any] = {
    "network.efficiency": None,
    "network.bandwidth": "5 Gbit/s",
    "failures.chip_mtbi": "never",
}
REGIONS = ("us-central", "us-east", "us-south", "us-west")


def _load(**settings: Any) -> ddsim.Scenario:
    return ddsim.load("four_regions_12b", {**WORLD, **settings})


def test_efficiency_beside_tcp_is_an_error_that_says_what_to_drop() -> None:
    """One of the two says what a transfer gets."""
    with pytest.raises(ScenarioError, match=r"drop network\.efficiency.*network\.tcp"):
        ddsim.load("four_regions_12b", {"network.tcp.streams": 8})


def test_a_region_takes_what_it_does_not_say_from_the_network() -> None:
    """Field by field, and a link too."""
    regions = {"a": {"tcp": {"streams": 3}}, "b": {}, "c": {}, "d": {}}
    link = {"between": ["b", "c"], "tcp": {"congestion": "reno"}}
    said = {"network.regions": regions, "network.links": [link], "network.tcp.loss": 1e-6}
    network = _load(**said).network
    assert network.regions["a"].tcp.streams == 3
    assert network.regions["a"].tcp.loss == network.regions["b"].tcp.loss == 1e-6
    a_b, b_c, c_d = (hop_streams(network, *hop) for hop in ("ab", "bc", "cd"))
    assert a_b is not None
    assert b_c is not None
    assert c_d is not None
    assert a_b.rate == c_d.rate == pytest.approx(0.786e9, rel=1e-3)  # the poorer end's streams
    assert b_c.rate == pytest.approx(0.2375e9, rel=1e-3)


def test_a_ring_gets_its_streams_and_never_more_than_the_link() -> None:
    """0.8 Gbit/s a stream at 60 ms, and 5 Gbit/s from the seventh on; a loss takes its share."""
    rates = {
        streams: Network(_load(**{"network.tcp.streams": streams})).ring(REGIONS).rate.at(0)
        for streams in (1, 6, 7, 100)
    }
    assert rates == pytest.approx({1: 0.8e9, 6: 4.8e9, 7: 5e9, 100: 5e9})
    lossy = {"network.tcp.congestion": "bbr", "network.tcp.loss": 0.1, "network.tcp.streams": 9}
    assert Network(_load(**lossy)).ring(REGIONS).rate.at(0) == pytest.approx(4.5e9)


def test_a_parameter_server_has_streams_to_each_unit() -> None:
    """Its site carries three times what a connection does."""
    said = {"network.tcp.streams": 2, "network.collective": "parameter_server"}
    ring = Network(_load(**said)).ring(REGIONS)
    assert ring.most == pytest.approx(1.6e9)
    assert ring.wires.at(0) == pytest.approx(5e9 / 3)


def _figures(result: dict[str, Any]) -> dict[str, float]:
    """All numbers of a result that are not the simulator's own cost."""
    flat = {**result, **result["accounts"], **result["wan"]}
    left = {"events", "elapsed_s"}
    return {k: v for k, v in flat.items() if isinstance(v, int | float) and k not in left}


@pytest.mark.parametrize(
    "method",
    ["data_parallel", "diloco", "streaming_diloco", "decoupled_diloco", "async_local_sgd"],
)
def test_with_enough_streams_results_are_those_of_the_same_efficiency(method: str) -> None:
    """The first windows of 3,000 streams fill 5 Gbit/s for a round trip of 60 ms."""
    common = {"methods": [method], "duration": "4 min", "failures.chip_mtbi": "6 day"}
    plain, streams = (
        ddsim.run(_load(**common, **said)).to_dict()["results"][0]
        for said in ({"network.efficiency": 1.0}, {"network.tcp.streams": 3000})
    )
    assert _figures(streams) == pytest.approx(_figures(plain), rel=1e-9)
    assert streams["failures"] > 0


def test_more_streams_never_slow_a_run_down() -> None:
    """And one of them is slower than the link."""
    common = {"methods": ["diloco"], "duration": "12 min"}
    reached = [
        ddsim.run(_load(**common, **{"network.tcp.streams": streams})).to_dict()["results"][0]
        for streams in (1, 4, 64)
    ]
    utilizations = [result["compute_utilization"] for result in reached]
    assert utilizations == sorted(utilizations)
    assert utilizations[0] < 0.5 * utilizations[-1]


def _placed(**settings: Any) -> ddsim.Scenario:
    regions = {
        "here": {"place": "aws:us-east-1"},
        "there": {"place": "aws:us-west-2"},
        "beyond": {"place": "gcp:europe-west4"},
    }
    return _load(
        **{"network.latency": None, "network.regions": regions, "cluster.learners": 3} | settings
    )


def test_latency_follows_from_places() -> None:
    """Half of a measured round trip; else the great circle, longer, at two thirds of c."""
    network = _placed().network
    assert hop_latency(network, "here", "there") == pytest.approx(0.08698 / 2)
    meters = distance("aws:us-east-1", "gcp:europe-west4")
    assert distance("aws:eu-west-2", "aws:eu-west-3") == pytest.approx(344e3, rel=0.02)
    expected = 1.8 * meters / (299_792_458 * 2 / 3)
    assert hop_latency(network, "here", "beyond") == pytest.approx(expected)
    assert measured_round_trip("aws:us-east-1", "gcp:europe-west4") is None
    assert place_latency("aws:us-east-1", "aws:us-east-1", 1.8) == 0.0


def test_a_latency_that_is_given_stands_above_places() -> None:
    """The network's, and a region's own."""
    network = _placed(**{"network.latency": "7 ms"}).network
    assert hop_latency(network, "here", "there") == pytest.approx(0.007)
    own = {"a": {"place": "aws:us-east-1", "latency": "9 ms"}, "b": {"place": "aws:us-west-2"}}
    network = _placed(**{"network.regions": own}).network
    assert hop_latency(network, "a", "b") == pytest.approx(0.009)


def test_places_that_nobody_knows_and_regions_without_one_are_errors() -> None:
    """With what was probably meant."""
    for regions, message in (
        ({"a": {"place": "aws:us-eas-1"}}, "did you mean .aws:us-east-1."),
        ({"a": {"place": "aws:us-east-1"}, "b": {}}, "neither a place nor a latency"),
    ):
        with pytest.raises(ScenarioError, match=message):
            _placed(**{"network.regions": regions})


def test_the_resolved_scenario_loads_as_the_same(tmp_path: Any) -> None:
    """Streams and places included."""
    text = _placed(**{"network.tcp.streams": 5}).resolved()
    file = tmp_path / "again.yaml"
    file.write_text(text)
    again = ddsim.load(file)
    assert again.resolved() == text
    assert hop_streams(again.network, "here", "there") == hop_streams(
        _placed(**{"network.tcp.streams": 5}).network, "here", "there"
    )


def test_without_latency_streams_are_no_limit() -> None:
    """A window a round trip is no limit without a round trip."""
    ring = Network(_load(**{"network.tcp.streams": 1, "network.latency": "0 s"})).ring(REGIONS)
    assert (ring.most, ring.slow_start) == (inf, None)
