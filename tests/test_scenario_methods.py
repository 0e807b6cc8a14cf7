import pytest
from scenario_text import problems_of, scenario

from ddsim.scenario import MethodSpec, ScenarioError, load

SETTINGS = """
methods:
  - data_parallel: {checkpoint.policy: in_memory, restart.time: 5 s}
  - decoupled_diloco: {training: {quorum: 2, grace: 0}}
  - diloco
"""


def test_a_list_and_a_mapping_of_methods_say_the_same() -> None:
    """Names with and without settings, in both forms."""
    as_list = scenario("methods: [diloco, {decoupled_diloco: {training.quorum: 2}}]\n")
    as_mapping = scenario("methods:\n  diloco:\n  decoupled_diloco:\n    training.quorum: 2\n")
    assert as_list == as_mapping
    assert as_list.methods == (
        MethodSpec("diloco"),
        MethodSpec("decoupled_diloco", {"training.quorum": 2}),
    )


def test_settings_hold_for_their_method_alone() -> None:
    """The scenario itself and the other methods are as without them."""
    made = scenario(SETTINGS)
    assert made.checkpoint.policy == "none"
    assert made.for_method("diloco").training == made.training
    one = made.for_method("data_parallel")
    assert (one.checkpoint.policy, one.restart.time) == ("in_memory", 5.0)
    assert one.methods == (MethodSpec("data_parallel"),)


def test_nested_settings_are_taken_apart() -> None:
    """A mapping under a section's name changes the fields that it names."""
    training = scenario(SETTINGS).for_method("decoupled_diloco").training
    assert (training.quorum, training.grace, training.step_time) == (2, 0.0, 1.0)


def test_an_override_is_the_last_word() -> None:
    """It also replaces what a method's own settings say, and only that."""
    made = scenario(SETTINGS).with_({"training.quorum": 3})
    training = made.for_method("decoupled_diloco").training
    assert (training.quorum, training.grace) == (3, 0.0)
    settings = {spec.name: spec.settings for spec in made.methods}
    assert settings["decoupled_diloco"] == {"training.grace": 0}


def test_a_method_applied_can_be_overridden_further() -> None:
    """for_method gives a scenario like any other, its settings kept."""
    one = scenario(SETTINGS).for_method("data_parallel").with_({"seed": 7})
    assert (one.seed, one.checkpoint.policy) == (7, "in_memory")


def test_chosen_methods_keep_their_settings() -> None:
    """Others run without; the order is as asked for."""
    chosen = scenario(SETTINGS).choose(["streaming_diloco", "data_parallel"])
    assert [spec.name for spec in chosen.methods] == ["streaming_diloco", "data_parallel"]
    assert chosen.for_method("data_parallel").restart.time == 5.0
    assert chosen.with_({"seed": 2}).methods == chosen.methods


@pytest.mark.parametrize("names", [["dilco"], []])
def test_an_unknown_method_cannot_be_chosen(names: list[str]) -> None:
    """Nor none at all."""
    with pytest.raises(ScenarioError, match="--method"):
        scenario().choose(names)


def test_settings_are_checked_when_the_scenario_is_loaded() -> None:
    """Between the fields too, each problem at the setting's own position."""
    lines = problems_of("methods:\n  diloco:\n    training.quorum: 9\n    model.layers: 2\n")
    assert lines.splitlines() == [
        "least.yaml:6:22: methods.diloco.training.quorum: 9, with 4 learners; "
        "1 to 4, the number of learners"
    ]


def test_a_problem_of_the_scenario_is_not_repeated_for_every_method() -> None:
    """What is wrong without the settings is reported once."""
    assert len(problems_of(SETTINGS + "seed: -1\n").splitlines()) == 1


@pytest.mark.parametrize("path", ["seed", "duration", "methods", "study", "name"])
def test_what_all_methods_share_is_no_setting(path: str) -> None:
    """A comparison is of one seed and one duration."""
    text = problems_of(f"methods:\n  diloco: {{{path}: 1}}\n")
    assert "all methods of a scenario share it" in text


def test_a_study_keeps_its_values_as_given() -> None:
    """They are what with_ takes."""
    made = scenario("study:\n  network.bandwidth: [1 Gbit/s, unlimited]\n  seed: [1, 2]\n")
    assert made.study == {"network.bandwidth": ("1 Gbit/s", "unlimited"), "seed": (1, 2)}


def test_a_study_may_vary_what_holds_only_together() -> None:
    """Values are judged by themselves: a quorum of 8 is fine once there are 8 learners."""
    assert scenario("study:\n  training.quorum: [2, 8]\n  cluster.learners: [4, 8]\n").study


def test_the_shipped_comparison_gives_data_parallel_copies_in_memory() -> None:
    """Without them it would start from scratch after every failure."""
    made = load("four_regions_12b")
    assert made.for_method("data_parallel").checkpoint.policy == "in_memory"
    assert made.for_method("decoupled_diloco").checkpoint.policy == "none"
