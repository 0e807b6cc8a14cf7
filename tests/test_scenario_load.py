import math
import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest
from scenario_text import LEAST, problems_of, scenario

from ddsim.scenario import (
    CHIPS,
    DEFAULT_METHODS,
    MODELS,
    Document,
    Interval,
    Known,
    RepairSpec,
    ScenarioError,
    load,
    shipped,
)
from ddsim.scenario.families import Family, Parameter


@pytest.mark.parametrize("name", shipped.names())
def test_a_shipped_scenario_loads_by_its_name(name: str) -> None:
    """Every shipped file is valid and named for its file."""
    assert load(name).name == name


@pytest.mark.parametrize("name", shipped.names())
def test_a_shipped_scenario_says_its_question_and_sources(name: str) -> None:
    """It opens with a comment that holds both."""
    found = shipped.find(name)
    assert found is not None
    opening = found.read_text().split("\n\n" + "name:")[0]
    assert all(line.startswith("#") for line in opening.splitlines())
    assert "?" in opening.splitlines()[0]
    assert "Where the numbers come from" in opening


def test_four_regions_step_for_0_87_s() -> None:
    """2^21 tokens x 77.76 GFLOP on 1,024 chips of 459 TFLOP/s at MFU 0.40."""
    units = load("four_regions_12b").units()
    assert [unit.chips for unit in units] == [1024] * 4
    expected = 2**21 * 6 * 12e9 * 1.08 / (1024 * 459e12 * 0.40)
    for unit in units:
        assert unit.step_time == pytest.approx(expected, rel=1e-12)
        assert unit.chip == "v5p"
    assert expected == pytest.approx(0.867, abs=0.001)


def test_the_least_scenario_has_the_documented_defaults() -> None:
    """A model, a step time and chips are all that is needed."""
    least = scenario()
    assert [spec.name for spec in least.methods] == list(DEFAULT_METHODS)
    assert (least.seed, least.duration) == (0, 86400.0)
    training = least.training
    assert (training.inner_steps, training.fragments, training.overlap_steps) == (24, 24, 2)
    assert (training.quorum, training.grace, training.payload_bits) == (1, 0.9, 32.0)
    assert least.network.bandwidth == math.inf
    assert least.failures.chip_mtbi == math.inf
    assert (least.elastic.stall_rule, least.restart.stall_rule) == ("absorb", "extend")
    assert least.checkpoint.policy == "none"


def test_a_key_that_says_nothing_is_a_key_not_given() -> None:
    """A section whose keys are all commented out is empty, not wrong."""
    assert scenario("network:\nseed:\n") == scenario()


@pytest.mark.parametrize("text", ["4_096", "4096", "4.096e3", '"4096"', "0x1000"])
def test_a_count_may_be_spelled_in_many_ways(text: str) -> None:
    """Underscores, exponents and quotes are all numbers."""
    assert scenario(overrides=[f"cluster.chips={text}"]).cluster.chips == 4096


def test_unlimited_and_never_are_infinite() -> None:
    """No limit and no failure."""
    text = "network: {bandwidth: unlimited}\nfailures: {chip_mtbi: never}\n"
    assert scenario(text).network.bandwidth == math.inf
    assert scenario(text).failures.chip_mtbi == math.inf


def test_a_run_may_be_endless_if_it_stops_at_its_tokens() -> None:
    """duration: never needs training.tokens."""
    endless = scenario(overrides={"duration": "never", "training.tokens": 1e9})
    assert endless.duration == math.inf


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("20 min", RepairSpec("constant", {"value": 1200.0})),
        ("0 s", RepairSpec("constant", {"value": 0.0})),
        ("{exponential: {mean: 1 h}}", RepairSpec("exponential", {"mean": 3600.0})),
        (
            "{lognormal: {median: 20 min, sigma: 0.8}}",
            RepairSpec("lognormal", {"median": 1200.0, "sigma": 0.8}),
        ),
        (
            "{exponentiated_weibull: {shape: 0.7, power: 2, scale: 10 min}}",
            RepairSpec("exponentiated_weibull", {"shape": 0.7, "power": 2.0, "scale": 600.0}),
        ),
    ],
)
def test_repair_is_a_time_or_a_distribution(text: str, spec: RepairSpec) -> None:
    """Times among the parameters come out in seconds."""
    assert scenario(f"failures: {{repair: {text}}}\n").failures.repair == spec


def test_a_users_distribution_can_be_named() -> None:
    """What is known says which there are."""
    takes = ("low", "high")
    family = Family(tuple(Parameter(name, "time", "") for name in takes), (takes,))
    text = "failures: {repair: {uniform: {low: 1 min, high: 2 min}}}\n"
    made = scenario(text, known=Known(families={"uniform": family}))
    assert made.failures.repair == RepairSpec("uniform", {"low": 60.0, "high": 120.0})
    assert made.with_({"seed": 3}).failures.repair == made.failures.repair
    assert "low: 1 min" in made.resolved()
    assert 'unknown distribution "uniform"' in problems_of(text)


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("30 min", Interval(1800.0, None)),
        ("1 step", Interval(None, 1)),
        ("50 steps", Interval(None, 50)),
    ],
)
def test_a_checkpoint_interval_is_a_time_or_steps(text: str, interval: Interval) -> None:
    """Either is kept as what it is."""
    made = scenario(f"checkpoint: {{policy: fixed, interval: {text}}}\n")
    assert made.checkpoint.interval == interval


def test_anchors_aliases_and_merges_are_read() -> None:
    """YAML's own means against repetition work; a key of its own wins over a merged one."""
    text = """
network:
  regions:
    east: &thin {bandwidth: 1 Gbit/s, latency: 10 ms}
    west: *thin
    north: {<<: *thin, latency: 20 ms}
"""
    regions = scenario(text).regions()
    assert [region.upload for region in regions.values()] == [1e9, 1e9, 1e9]
    assert [region.latency for region in regions.values()] == [0.01, 0.01, 0.02]


def test_explicit_sizes_win_over_the_catalogue() -> None:
    """model.name fills in what is not given."""
    made = scenario(overrides={"model": {"name": "llama3_405b", "layers": 24}})
    assert (made.model.parameters, made.model.layers) == (405e9, 24)
    assert made.model.flops_per_token == 6 * 405e9


def test_the_catalogue_has_published_figures_and_their_sources() -> None:
    """Every entry says where it comes from."""
    assert CHIPS["v5p"].flops == 459e12
    assert [MODELS[name].layers for name in ("1B", "10B", "100B")] == [24, 48, 108]
    assert MODELS["llama3_405b"].layers == 126
    assert all(chip.source for chip in CHIPS.values())
    assert all(model.source for model in MODELS.values())


def test_fragments_follow_the_inner_steps_and_the_layers() -> None:
    """P is H unless there are fewer layers."""
    assert scenario(overrides={"training.inner_steps": 12}).training.fragments == 12
    assert scenario(overrides={"training.inner_steps": 100}).training.fragments == 24


def test_users_files_are_run_between_reading_and_validating(tmp_path: Path) -> None:
    """prepare gets the files that exist, relative to the scenario, and says what is known."""
    (tmp_path / "mine.py").write_text("")
    file = tmp_path / "scenario.yaml"
    file.write_text(LEAST + "python: [mine.py]\nmethods: [mine]\n")
    seen: list[Path] = []

    def prepare(document: Document, files: Sequence[Path]) -> Known:
        seen.extend(files)
        return Known(methods=("mine",))

    assert [spec.name for spec in load(file, prepare=prepare).methods] == ["mine"]
    assert seen == [tmp_path / "mine.py"]
    with pytest.raises(ScenarioError, match='unknown method "mine"'):
        load(file)


def test_a_scenario_cannot_be_changed() -> None:
    """It is frozen, its sections too."""
    made = scenario()
    with pytest.raises(ValueError, match="frozen"):
        made.seed = 5
    with pytest.raises(ValueError, match="frozen"):
        made.training.quorum = 5


def test_a_scenario_survives_pickling() -> None:
    """Worker processes get the same scenario, and can still override it."""
    made = load("chaos_drill")
    copy = pickle.loads(pickle.dumps(made))
    assert copy == made
    assert copy.with_({"seed": 9}) == made.with_({"seed": 9})
