import numpy as np
import pytest
from scenario_text import problems_of, scenario

from ddsim.scenario import Scenario, ScenarioError, load

NETWORK = """
network:
  bandwidth: 5 Gbit/s
  regions:
    a: {bandwidth: 1 Gbit/s}
    b: {upload: 1 Gbit/s, download: 2 Gbit/s, latency: 7 ms}
  links:
    - {between: [a, b], bandwidth: 1 Gbit/s}
"""
UNITS = {"cluster": {"units": [{"name": "a", "chips": 8}, {"name": "b", "chips": 8}]}}


def bandwidths(made: Scenario) -> set[float]:
    """Every rate of a region or link."""
    regions = made.regions().values()
    access = {rate for region in regions for rate in (region.upload, region.download)}
    return access | {link.bandwidth for link in made.network.links}


def test_an_override_changes_its_path_alone() -> None:
    """All else stays as it was, the first scenario too."""
    made = scenario()
    changed = made.with_({"training.quorum": 2})
    assert (made.training.quorum, changed.training.quorum) == (1, 2)
    assert changed.with_({"training.quorum": 1}) == made


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("network.bandwidth", "2 Gbit/s"),
        ("restart.time", "5 s"),
        ("methods", ["diloco"]),
        ("methods", "[diloco, data_parallel]"),
        ("chaos_only", "true"),
        ("failures.repair", "{exponential: {mean: 5 min}}"),
        ("failures.repair.exponential.mean", "5 min"),
        ("checkpoint.interval", "1 step"),
        ("description", "a: b"),
        ("study", {"training.quorum": [1, 2]}),
    ],
)
def test_a_text_and_a_mapping_say_the_same(path: str, value: object) -> None:
    """PATH=VALUE is read as YAML, and so is a text in a mapping."""
    made = scenario()
    changed = made.with_({path: value})
    assert changed != made
    if isinstance(value, str):
        assert made.with_([f"{path}={value}"]) == changed


def test_nothing_is_the_default() -> None:
    """None, null and an empty value take a setting back."""
    made = scenario("seed: 5\n")
    for nothing in ({"seed": None}, ["seed=null"], ["seed="]):
        assert made.with_(nothing).seed == 0


def test_numpy_numbers_are_numbers() -> None:
    """What a sweep computes can be put in."""
    made = scenario().with_({"training.quorum": np.int64(2), "training.grace": np.float64(0.25)})
    assert (made.training.quorum, made.training.grace) == (2, 0.25)


def test_the_last_override_wins() -> None:
    """In one call and in calls after each other."""
    assert scenario(overrides=["seed=1", "seed=2"]).seed == 2
    assert scenario(overrides=["seed=1"]).with_(["seed=3"]).seed == 3


def test_the_networks_bandwidth_replaces_every_own() -> None:
    """Of regions and of links; their latencies stay."""
    made = scenario(NETWORK)
    assert bandwidths(made) == {1e9, 2e9}
    changed = made.with_({"network.bandwidth": "10 Gbit/s"})
    assert bandwidths(changed) == {10e9}
    assert changed.regions()["b"].latency == 0.007


def test_a_regions_bandwidth_can_be_overridden_after_the_networks() -> None:
    """Overrides apply one after the other."""
    changes = {"network.bandwidth": "10 Gbit/s", "network.regions.a.bandwidth": "3 Gbit/s"}
    assert bandwidths(scenario(NETWORK, changes)) == {3e9, 10e9}


def test_a_region_of_a_list_can_be_given_a_bandwidth() -> None:
    """The others stay as they are."""
    made = scenario("network: {regions: [a, b]}\n", {"network.regions.b.upload": "1 Gbit/s"})
    assert list(made.regions()) == ["a", "b"]
    assert made.regions()["b"].upload == 1e9


@pytest.mark.parametrize("path", ["cluster.units.1.chips", "cluster.units[1].chips"])
def test_an_item_of_a_list_is_named_by_its_number(path: str) -> None:
    """Numbers count from 0."""
    made = scenario(overrides={**UNITS, path: 16})
    assert [unit.chips for unit in made.units()] == [8, 16]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("network.bandwidth=5", "network.bandwidth: 5, a number without a unit; a bandwidth in"),
        ("network.bandwidth=5 GB/s", "5 GB/s would be 40 Gbit/s"),
        ("network.bandwith=5 Gbit/s", 'did you mean "network.bandwidth"?'),
        ("quorum=2", 'did you mean "training.quorum"?'),
        ("training.quorum.x=2", 'unknown path "training.quorum.x"'),
        ("source=x", 'unknown path "source"'),
        ("training.quorum=9", "training.quorum: 9, with 4 learners; 1 to 4"),
        ("cluster.units.0.chips=9", "item 0 of cluster.units; the scenario gives no cluster.units"),
        ("chaos.0.at=1 h", "item 0 of chaos; the scenario gives no chaos"),
        ("cluster.units.a.chips=9", "the number of an item, from 0"),
        ("network.regions.a.upload=1 Gbit/s", "the scenario lists no network.regions"),
        ("training=5", "training: 5; a mapping"),
        ("model=gpt5", "of a known model model.name: 1B, 10B"),
        ("seed", '"seed" without a value; PATH=VALUE'),
        ("=5", '"=5" without a path; PATH=VALUE'),
        ("training.step_time=", "training.step_time: not given; a time in"),
        ("methods=[{}]", "methods: a list without a name in it; a list of method names"),
        (f"python={'x' * 400}", "python.0: no file"),
        ("methods=[dilco]", 'did you mean "diloco"?'),
        (f"cluster.chips={'1' * 400}", "a number of 400 characters"),
    ],
)
def test_a_wrong_override_is_named_as_it_was_given(override: str, message: str) -> None:
    """The option stands where file, line and column would."""
    text = problems_of(overrides=[override])
    assert text.startswith(f"--set {override}: ")
    assert message in text


def test_learners_cannot_be_set_where_units_are_listed() -> None:
    """The two exclude each other, and the message says so."""
    with pytest.raises(ScenarioError, match=r"^--set cluster.learners=8: cluster.learners: 8 besi"):
        load("chaos_drill", {"cluster.learners": 8})


def test_an_item_that_is_not_there_cannot_be_set() -> None:
    """The message says which there are."""
    with pytest.raises(ScenarioError, match=r"item 4 of cluster.units; 0 to 3"):
        load("chaos_drill", {"cluster.units.4.chips": 8})


def test_a_number_does_not_stand_for_a_quantity() -> None:
    """Python numbers carry no unit either."""
    text = problems_of(overrides={"network.bandwidth": 5e9})
    assert "a number without a unit" in text


def test_problems_of_file_and_overrides_come_together() -> None:
    """The file's in its order, then the overrides'."""
    lines = problems_of("seed: -1\nduration: 5\n", {"training.grace": 2}).splitlines()
    assert [line.split(": ")[1] for line in lines] == ["seed", "duration", "training.grace"]
