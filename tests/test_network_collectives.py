"""What each collective sends through each site, how long it takes, and what it costs."""

from __future__ import annotations

from typing import Any

import pytest
from scenario_text import scenario

import ddsim
from ddsim import simulation
from ddsim.world.instants import ticks
from ddsim.world.network import Network

REGIONS = ["region 0", "region 1", "region 2", "region 3"]
TWO_EACH = ["a", "b", "a", "b", "c"]
PLACES = "regions: [a, b, c, d]"


def network(text: str) -> Network:
    """The network of four units."""
    return Network(scenario(f"network: {{bandwidth: 8 Gbit/s, latency: 10 ms, {text}}}\n"))


def loads(made: Network, members: list[str]) -> dict[str, float]:
    """Bits on every link for one bit of payload."""
    ring = made.ring(members)
    bits = ring.bits(1.0)
    return {link: bits * load for link, load in zip(ring.links, ring.loads, strict=True)}


def test_a_ring_of_units_sends_by_the_number_of_units() -> None:
    """2 (M - 1) / M of the payload through each site each way, in 2 (M - 1) phases."""
    made = network(PLACES)
    assert loads(made, TWO_EACH) == pytest.approx(
        {f"{way}:{region}": 1.6 for way in ("up", "down") for region in "abc"}
    )
    assert made.ring(TWO_EACH).latency == ticks(0.08)


def test_a_hierarchical_ring_sends_by_the_number_of_regions() -> None:
    """Units of one region have reduced among themselves before."""
    made = network(f"collective: hierarchical, {PLACES}")
    assert loads(made, TWO_EACH) == pytest.approx(
        {f"{way}:{region}": 4 / 3 for way in ("up", "down") for region in "abc"}
    )
    assert made.ring(TWO_EACH).latency == ticks(0.04)


def test_a_parameter_server_takes_and_gives_the_payload_of_every_unit_elsewhere() -> None:
    """Two phases; the server's site is the bottleneck: three payloads each way."""
    made = network(f"collective: parameter_server, server: a, {PLACES}")
    ring = made.ring(TWO_EACH)
    assert loads(made, TWO_EACH) == {
        "up:a": 3,
        "down:a": 3,
        "up:b": 2,
        "down:b": 2,
        "up:c": 1,
        "down:c": 1,
    }
    assert ring.latency == ticks(0.02)
    assert ring.rate.at(0) == pytest.approx(8e9 / 3)


def test_a_parameter_server_may_stand_where_no_unit_does() -> None:
    """All units send to it; by default it stands in the first region."""
    made = network(f"collective: parameter_server, server: d, {PLACES}")
    assert loads(made, ["b", "b"]) == {"up:b": 2, "down:d": 2, "up:d": 2, "down:b": 2}
    assert network(f"collective: parameter_server, {PLACES}").ring(["b", "c"]).regions[0] == "a"


def test_links_of_their_own_lie_on_the_way() -> None:
    """A ring through a and b crosses their link in both directions, and its latency counts."""
    made = network(f"{PLACES}, links: [{{between: [a, b], bandwidth: 1 Gbit/s, latency: 0.2 s}}]")
    ring = made.ring(["a", "b"])
    assert set(ring.links) == {"up:a", "down:a", "up:b", "down:b", "a>b", "b>a"}
    assert ring.rate.at(0) == 1e9
    assert ring.latency == ticks(0.4)


def test_a_fixed_cost_is_paid_once_a_synchronization() -> None:
    """Besides the phases; units of one region pay neither."""
    made = network("sync_cost: 5 s, regions: [a, b]")
    assert made.ring(["a", "b"]).latency == ticks(5.02)
    assert made.ring(["a", "a"]).latency == 0


def run(method: str, text: str, **overrides: Any) -> Any:
    """One method's result: 1e9 parameters, 4 units, 1 s steps, ten minutes."""
    return ddsim.run(
        scenario(
            f"network: {{{text}}}\n",
            {
                "training.payload_bits": 8,
                "training.inner_steps": 20,
                "duration": "10 min",
                **overrides,
            },
        ),
        [method],
    )[method]


def test_each_synchronization_of_diloco_pays_the_fixed_cost() -> None:
    """20 steps of 1 s, 8e9 x 1.5 bits at 10 Gbit/s after the last, and 3 s."""
    result = run(
        "diloco", "bandwidth: 10 Gbit/s, sync_cost: 3 s", **{"training.release": "end_of_step"}
    )
    assert result.steps == pytest.approx(600 / (20 + 1.2 + 3) * 20, abs=21)


def test_compression_divides_the_payload() -> None:
    """8 bits compressed 4 times are 2 bits, and the convention says so."""
    four = run("diloco", "bandwidth: 1 Gbit/s", **{"training.compression": 4})
    two = run("diloco", "bandwidth: 1 Gbit/s", **{"training.payload_bits": 2})
    assert four.wan == two.wan
    assert "outer gradients at 2 bits" in four.wan["convention"]


@pytest.mark.parametrize(
    ("collective", "words"),
    [
        ("ring", "ring all-reduce of 2(M-1)/M of the payload"),
        ("hierarchical", "ring all-reduce among R regions"),
        ("parameter_server", "parameter server: each unit elsewhere"),
    ],
)
def test_the_convention_names_the_collective(collective: str, words: str) -> None:
    """In every result."""
    result = run("diloco", f"bandwidth: 1 Gbit/s, collective: {collective}")
    assert words in result.wan["convention"]


@pytest.mark.parametrize("collective", ["ring", "hierarchical", "parameter_server"])
@pytest.mark.parametrize(
    "method",
    ["data_parallel", "elastic_data_parallel", "diloco", "streaming_diloco", "decoupled_diloco"],
)
def test_what_is_sent_is_received(method: str, collective: str) -> None:
    """Bytes up of all sites equal bytes down; the busiest is what the WAN columns show."""
    result = run(method, f"bandwidth: 1 Gbit/s, collective: {collective}, latency: 20 ms")
    links = result.extra["links"]
    up = [use["bytes"] for use in links if use["direction"] == "up"]
    down = [use["bytes"] for use in links if use["direction"] == "down"]
    assert len(up) == len(down) == 4
    assert sum(up) == pytest.approx(sum(down), rel=1e-12)
    assert max(*up, *down) == pytest.approx(result.wan["total_bytes"], rel=1e-12)
    assert all(use["p99_gbps"] <= use["peak_gbps"] <= 1 + 1e-9 for use in links)


def test_egress_has_its_price() -> None:
    """USD per GB of what a region sends, its own price first, and of a link besides."""
    result = run(
        "diloco",
        "bandwidth: 1 Gbit/s, price: 0.02 USD/GB, "
        "regions: {a: {price: 0.1 USD/GB}, b: , c: , d: }, "
        "links: [{between: [a, b], price: 0.05 USD/GB}]",
    )
    usd = {
        (u["link"], u["direction"]): u["usd"] / (u["bytes"] / 1e9) if u["bytes"] else 0.0
        for u in result.extra["links"]
    }
    assert usd == {
        ("a", "up"): pytest.approx(0.1),
        ("a", "down"): 0.0,
        ("b", "up"): pytest.approx(0.02),
        ("b", "down"): 0.0,
        ("c", "up"): pytest.approx(0.02),
        ("c", "down"): 0.0,
        ("d", "up"): pytest.approx(0.02),
        ("d", "down"): 0.0,
        ("a-b", "b"): pytest.approx(0.05),
    }


def test_the_99th_percentile_is_of_the_seconds() -> None:
    """A round of 20 s, of which 6.4 s are at 1 Gbit/s: 99% is full, the mean is not."""
    settings = {"duration": "1 h", "training.release": "end_of_step"}
    result = run("diloco", "bandwidth: 1 Gbit/s", **settings)
    use = result.extra["links"][0]
    assert use["p99_gbps"] == use["peak_gbps"] == pytest.approx(1.0)
    share = 12 / 32
    assert use["mean_gbps"] == pytest.approx(share, rel=0.02)


def test_rare_traffic_leaves_the_99th_percentile_at_nothing() -> None:
    """One exchange of 12 s in an hour is less than 1% of its seconds."""
    result = run(
        "diloco", "bandwidth: 1 Gbit/s", **{"duration": "1 h", "training.inner_steps": 2000}
    )
    use = result.extra["links"][0]
    assert use["peak_gbps"] == pytest.approx(1.0)
    assert use["p99_gbps"] == 0.0


def test_replications_have_the_mean_of_each_link() -> None:
    """Link by link, whatever else is reported."""
    made = scenario(
        "network: {bandwidth: 1 Gbit/s, random: "
        "{two_state: {low: 0.1, high_for: 5 min, low_for: 5 min}}}\nduration: 1 h\n"
    )
    parts = [
        simulation.simulate(made.for_method("diloco"), "diloco", replication)
        for replication in range(3)
    ]
    mean = ddsim.run(made, ["diloco"], replications=3)["diloco"].extra["links"]
    for place, use in enumerate(mean):
        each = [part.extra["links"][place] for part in parts]
        assert {(x["link"], x["direction"]) for x in each} == {(use["link"], use["direction"])}
        assert use["bytes"] == pytest.approx(sum(x["bytes"] for x in each) / 3)
        assert len({x["bytes"] for x in each}) == 3
