import re
from pathlib import Path

import pytest
from pydantic_core import PydanticCustomError
from ruamel.yaml import YAML
from scenario_text import LEAST, problems_of, scenario

from ddsim.scenario import Scenario, load, read_text, shipped, starter, validate
from ddsim.scenario.contents import Contents
from ddsim.scenario.fields import Quantity
from ddsim.scenario.paths import Slot, slots

RICH = """
name: "1.5"
description: "a: b # c"
seed: 3
duration: never
methods:
  - diloco
  - decoupled_diloco: {training.quorum: 2, network.bandwidth: 1 Gbit/s}
network:
  bandwidth: 3.3 Gbit/s
  latency: 0.1 ms
  regions: {a: {upload: 1 Mbit/s}, b: , "2": {bandwidth: unlimited}}
  links: [{between: [a, b], bandwidth: 0.7 Gbit/s}]
failures:
  chip_mtbi: 0.37 yr
  repair: {lognormal: {median: 17.3 min, sigma: 0.81}}
checkpoint: {policy: fixed, interval: 3 steps}
chaos:
  - {at: 1.1 h, fault: throttle, target: a-b, to: 11 Mbit/s, for: 7.7 min}
  - {at: 2 h, fault: kill, target: unit 3/chip 5}
study: {network.bandwidth: [1 Gbit/s, unlimited]}
"""
ODD = {"training.tokens": 1e9 / 3, "training.step_time": f"{1 / 3} s", "cluster.jitter": 0.1}

QUANTITIES = [slot for slot in slots(Contents) if type(slot.kind) is Quantity]


def again(made: Scenario) -> Scenario:
    """What its resolved text loads as."""
    return validate(read_text(made.resolved()))


@pytest.mark.parametrize("name", shipped.names())
@pytest.mark.slow
def test_a_shipped_scenario_loads_again_as_itself(name: str) -> None:
    """So does what each of its methods runs."""
    made = load(name)
    assert again(made) == made
    for spec in made.methods:
        assert again(made.for_method(spec.name)) == made.for_method(spec.name)


def test_every_kind_of_value_loads_again_as_itself() -> None:
    """To the last bit, and the text too."""
    made = scenario(RICH, ODD)
    assert again(made) == made
    assert again(made).resolved() == made.resolved()
    assert again(made).units() == made.units()


def test_scenarios_of_other_contents_are_not_equal() -> None:
    """Equality is of contents, not of files."""
    made = scenario()
    assert made != scenario(overrides={"seed": 1})
    assert made != "a text"
    assert hash(made) == hash(scenario())


def test_the_resolved_text_has_units() -> None:
    """A reader sees quantities, not SI floats."""
    text = load("four_regions_12b").resolved()
    assert "bandwidth: 5 Gbit/s" in text
    assert "repair: 20 min" in text
    assert "chip_mtbi: 1 yr" in text


def test_the_resolved_text_shows_what_does_not_divide_evenly() -> None:
    """The last unit and the last slices are smaller."""
    text = scenario(overrides={"cluster": {"chips": 1000, "chips_per_slice": 64, "learners": 3}})
    units = YAML(typ="safe").load(text.resolved())["cluster"]["units"]
    assert [unit["chips"] for unit in units] == [334, 334, 332]
    assert "5 slices of 64 and one of 14" in text.resolved()
    assert "5 slices of 64 and one of 12" in text.resolved()


@pytest.mark.parametrize(
    ("huge", "field"),
    [
        ({"model.parameters": 1e308}, "checkpoint.size"),
        ({"model.parameters": 1e308, "checkpoint.size": "1 GB"}, "model.flops_per_token"),
        ({"checkpoint.bandwidth": "1e-306 bit/s"}, "checkpoint.restore"),
    ],
)
def test_what_follows_from_other_fields_can_be_spelt(huge: dict[str, object], field: str) -> None:
    """A number that is too large for a float is refused by the name of its field."""
    said = problems_of("", huge)
    assert f"{field}: too large to compute with, as it follows from other fields" in said


@pytest.mark.parametrize("slot", QUANTITIES, ids=lambda slot: slot.path)
def test_every_quantity_that_is_read_can_be_spelt(slot: Slot) -> None:
    """What a field takes, it writes, and reads again as the same."""
    kind = slot.kind
    assert isinstance(kind, Quantity)
    base = kind.dimension.base
    for text in (kind.word, f"1e308 {base}", f"5e-324 {base}", f"0 {base}", f"0.1 {base}", "inf"):
        try:
            value = kind.read(text)
        except PydanticCustomError:
            continue
        assert kind.read(kind.write(value)) == value, text


def test_overrides_are_in_the_resolved_text() -> None:
    """What was set on top stays."""
    made = scenario(RICH, ODD).with_({"training.quorum": 3})
    assert again(made).for_method("decoupled_diloco").training.quorum == 3


def test_spares_stand_once_and_beside_the_chips() -> None:
    """No unit is said to have none where they are spread; those that units give stand there."""
    spread = load("four_regions_12b", {"restart.spares": 64}).resolved()
    assert spread.count("spares: ") == 1
    assert re.search(r"spares: 64  # slices on top of the \d+ chips of the units", spread)


def test_the_resolved_text_finds_its_python_from_any_folder(tmp_path: Path) -> None:
    """A file that stands beside the scenario is named with its whole path."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    (here / "own.py").write_text("", encoding="utf-8")
    (here / "run.yaml").write_text(LEAST + "python: [own.py]\n", encoding="utf-8")
    moved = there / "run.yaml"
    moved.write_text(load(here / "run.yaml").resolved(), encoding="utf-8")
    assert load(moved).python == (str(here / "own.py"),)
    assert load(moved).resolved() == moved.read_text(encoding="utf-8")


def test_the_starter_loads() -> None:
    """As it stands, and with its commented lines taken in."""
    text = starter()
    assert validate(read_text(text)).name == "my_training_run"
    taken_in = text.replace("# chaos:", "chaos:").replace("#   - {", "  - {")
    taken_in = taken_in.replace("# study:", "study:").replace("#   network", "  network")
    for key in ("gradient_bits", "grace", "jitter", "spares"):
        taken_in = taken_in.replace(f"# {key}:", f"{key}:")
    made = validate(read_text(taken_in))
    assert len(made.chaos) == 2
    assert made.study
