"""What a run says of losses: exact hours, goals reached or not, one's own law, files and tables."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import ddsim as command

import ddsim
from ddsim.loading import look_through
from ddsim.quality import critical_batch, make
from ddsim.scenario import Scenario, ScenarioError

SCENARIO = """\
duration: 30 min
methods: [data_parallel, elastic_data_parallel, diloco, streaming_diloco, decoupled_diloco]
model: {parameters: 1e9, layers: 8}
training: {step_time: 2 s, tokens_per_step: 1e6, payload_bits: 16, inner_steps: 24}
cluster: {chips: 32, chips_per_slice: 4, learners: 2}
network: {bandwidth: 20 Gbit/s, latency: 10 ms}
failures: {chip_mtbi: 400 h, repair: 2 min}
prices: {chip_hour: 2 USD}
quality: {law: chinchilla_besiroglu, target: 2.5}
"""
FAMILY = ("diloco", "streaming_diloco", "decoupled_diloco")
LAW = make("chinchilla_besiroglu", {})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two learners of 1B parameters, for half an hour."""
    file = tmp_path / "two.yaml"
    file.write_text(SCENARIO, encoding="utf-8")
    return file


def loaded(path: Path, **changes: object) -> Scenario:
    """The scenario with some paths changed; a double underscore stands for the dot."""
    return ddsim.load(path, {name.replace("__", "."): value for name, value in changes.items()})


@pytest.mark.parametrize("batched", [False, True], ids=["off", "on"])
def test_hours_are_tokens_over_tokens_per_hour_exactly(path: Path, batched: bool) -> None:
    """No penalty, all that is overwritten counts; with the batch's cost times 1 + B / B_crit."""
    results = ddsim.run(
        loaded(
            path,
            quality__penalty="none",
            quality__overwritten=1,
            quality__batch_efficiency=batched,
        )
    )
    for item in results.results:
        assert item.quality is not None
        batch = 1e6 / (2 if item.method in FAMILY else 1)
        more = 1 + batch / critical_batch(2.5) if batched else 1.0
        hours = LAW.tokens(1e9, 2.5) * more / item.tokens_per_hour
        assert item.quality["hours_to_target"] == pytest.approx([hours] * 3, rel=1e-12)
        assert item.quality["cost_to_target"] == pytest.approx([64 * hours] * 3, rel=1e-9)


def test_one_learner_is_penalized_for_nothing(path: Path) -> None:
    """M = 1: a method of the family is as certain as data-parallel."""
    item = ddsim.run(loaded(path, cluster__learners=1), ["diloco"])["diloco"]
    assert item.quality is not None
    low, mid, high = item.quality["hours_to_target"]
    assert low == mid == high


def test_tokens_per_parameter_make_a_target(path: Path) -> None:
    """It is the law's own loss after them, in small batches."""
    changes = {"quality__target": None, "quality__tokens_per_parameter": 20}
    item = ddsim.run(loaded(path, **changes), ["data_parallel"])["data_parallel"]
    assert item.quality is not None
    assert item.quality["target"] == LAW.loss(1e9, 20e9)


def test_replications_are_worth_what_they_are_together(path: Path) -> None:
    """Of the mean of tokens, not the mean of hours."""
    scenario = loaded(path, quality__penalty="none", quality__batch_efficiency=False)
    item = ddsim.run(scenario, ["data_parallel"], replications=3)["data_parallel"]
    assert item.quality is not None
    hours = LAW.tokens(1e9, 2.5) / item.tokens_per_hour
    assert item.quality["hours_to_target"][1] == pytest.approx(hours, rel=1e-12)


@pytest.mark.parametrize("method", ["data_parallel", *FAMILY, "async_local_sgd"])
def test_a_run_stops_where_the_middle_comes_to_the_loss(path: Path, method: str) -> None:
    """Within a step, or a round where all meet at a barrier, of the hours that it says."""
    scenario = loaded(path, duration="never", training__loss=4.0, quality__target=4.0)
    item = ddsim.run(scenario, [method])[method]
    assert item.goal == "reached"
    assert item.quality is not None
    hours = item.quality["hours_to_target"][1]
    assert hours is not None
    step = 2.0 * (30 if method == "diloco" else 3) / 3600
    assert hours <= item.wall_clock_s / 3600 * (1 + 1e-9)
    assert item.wall_clock_s / 3600 - hours < step


def test_a_run_whose_learners_are_cut_off_stops_where_it_says_that_it_came_to_the_loss(
    path: Path,
) -> None:
    """What they do meanwhile is overwritten when they are back, and is none of the way to it."""
    cut = [
        {"at": "2 min", "fault": "cut", "target": f"region {region}", "for": "never"}
        for region in range(2)
    ]
    goal = {"training__loss": 4.0, "quality__overwritten": 0, "quality__target": 4.0}
    scenario = loaded(path, duration="never", chaos=cut, **goal)
    item = ddsim.run(scenario, ["decoupled_diloco"])["decoupled_diloco"]
    assert item.goal == "reached"
    assert item.merged_share is not None
    assert item.merged_share < 0.9


def test_a_goal_of_tokens_is_reached_or_not(path: Path) -> None:
    """And says how far the run came."""
    item = ddsim.run(loaded(path, training__tokens=1e8), ["diloco"])["diloco"]
    assert item.goal == "reached"
    item = ddsim.run(loaded(path, training__tokens=1e12), ["data_parallel"])["data_parallel"]
    assert item.goal is not None
    assert item.goal != "reached"
    assert "of 1e+12 tokens in 0.5 h" in item.goal["unreachable"]
    assert ddsim.run(loaded(path), ["data_parallel"])["data_parallel"].goal is None


@pytest.mark.slow
def test_a_loss_that_only_one_method_reaches_leaves_it_the_others(path: Path) -> None:
    """The penalty lifts the floor of two learners above it; a run without an end still ends."""
    scenario = loaded(path, duration="never", training__loss=2.1755)
    results = ddsim.run(scenario, ["data_parallel", "diloco"])
    said = [item.goal for item in results.results]
    assert all(goal is not None and goal != "reached" for goal in said)
    assert "at this rate 2.1755 nats after" in str(said[0])
    assert "2 learners are taken to lose 0.4%" in str(said[1])
    assert [item.wall_clock_s for item in results.results] == [86400.0, 86400.0]


def test_a_loss_below_the_floor_is_refused_where_nothing_else_ends_the_run(path: Path) -> None:
    """With a duration it is an answer, in words."""
    with pytest.raises(ScenarioError, match=r"above 2\.1744, the floor of chinchilla"):
        loaded(path, duration="never", training__loss=2.0)
    item = ddsim.run(loaded(path, training__loss=2.0, quality__target=2.0), ["diloco"])["diloco"]
    assert item.goal != "reached"
    assert item.quality is not None
    assert item.quality["hours_to_target"] == [None, None, None]
    assert "no tokens are enough" in str(item.quality["unreachable"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"quality__law": None}, "needed in a quality section"),
        ({"quality__law": "chinchila_hoffmann"}, 'did you mean "chinchilla_hoffmann"'),
        ({"quality__tokens_per_parameter": 20}, "one of the two"),
        ({"quality__penalty": "some"}, "published, none, diloco_joint"),
        ({"quality__overwritten": [0, 2]}, "at most 1"),
        ({"quality__law": "power_law"}, "needs E, A, alpha, B and beta"),
        ({"quality__options": {"E": 2}}, 'unknown option "E" of chinchilla_besiroglu'),
    ],
)
def test_what_is_wrong_in_a_section_is_said(
    path: Path, changes: dict[str, object], said: str
) -> None:
    """The place, what was found, what is allowed."""
    with pytest.raises(ScenarioError) as caught:
        loaded(path, **changes)
    assert said in str(caught.value)


def test_a_goal_of_loss_needs_a_law(path: Path) -> None:
    """Without a section there is none."""
    text = path.read_text(encoding="utf-8").rsplit("quality:", 1)[0]
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"needed for training\.loss"):
        loaded(path, training__loss=3.0)


OWN = """\
from ddsim.quality import Law, law


@law("halving")
class Halving(Law):
    def __init__(self, floor=1.0):
        self._floor = floor

    def loss(self, parameters, tokens):
        if parameters > 1e10:
            raise RuntimeError("too large for me")
        return self._floor + 8.0 * 0.5 ** (tokens / 1e9)
"""


def test_a_law_of_ones_own_is_named_like_any_other(path: Path) -> None:
    """Its options, its losses, and whose mistake it is that it raises something."""
    (path.parent / "own.py").write_text(OWN, encoding="utf-8")
    changes = {
        "python": ["own.py"],
        "quality__law": "halving",
        "quality__options": {"floor": 2.0},
        "quality__batch_efficiency": False,
    }
    scenario = loaded(path, **changes)
    item = ddsim.run(scenario, ["data_parallel"])["data_parallel"]
    assert item.quality is not None
    expected = 2.0 + 8.0 * 0.5 ** (item.tokens / 1e9)
    assert item.quality["loss"][1] == pytest.approx(expected)
    with pytest.raises(ScenarioError, match="law halving raised RuntimeError: too large for me"):
        ddsim.run(scenario.with_({"model.parameters": 2e10}), ["data_parallel"])


def test_the_document_the_frame_and_what_was_saved_agree(path: Path, tmp_path: Path) -> None:
    """Quality and goal go to disk and come back; the frame has a column an end."""
    results = ddsim.run(loaded(path, training__tokens=1e8), ["data_parallel", "diloco"])
    results.save(tmp_path / "out")
    again = ddsim.Results.load(tmp_path / "out")
    assert again.to_dict() == results.to_dict()
    row = results.summary().loc["diloco"]
    quality = results["diloco"].quality
    assert quality is not None
    ends = [row[f"hours_to_target{end}"] for end in ("_best", "", "_worst")]
    assert ends == quality["hours_to_target"]


def test_the_command_says_it_and_ends_with_1_where_no_goal_was_reached(path: Path) -> None:
    """Ratios first, the target in the law's own nats, and why."""
    said = command("run", str(path), "--method", "data_parallel", "--method", "diloco")
    lines = said.out.splitlines()
    heading = next(line for line in lines if "loss at the end" in line)
    assert heading.split()[1:3] == ["hours/data_parallel", "hours"]
    assert "to 2.5 of its own nats" in said.out
    missed = command("run", str(path), "--method", "diloco", "--set", "training.loss=2.1", "--json")
    assert missed.code == 1
    (result,) = json.loads(missed.out)["results"]
    assert "floor" in result["goal"]["unreachable"]


@pytest.mark.slow
def test_a_report_has_hours_and_what_they_mean(path: Path) -> None:
    """A section of its own, with the intervals."""
    from ddsim.report import run_report

    page = run_report(ddsim.run(loaded(path), ["data_parallel", "diloco"]))
    assert "hours to the target" in page
    assert "in nats of its own" in page


def test_what_the_page_shows_works(path: Path) -> None:
    """The sections and the class of docs/quality.md, each in a scenario."""
    page = (Path(__file__).parent.parent / "docs" / "quality.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(yaml|python)\n(.*?)```", page, re.DOTALL)
    sections = [text for language, text in blocks if language == "yaml"]
    (code,) = [text for language, text in blocks if language == "python"]
    (path.parent / "own.py").write_text(code, encoding="utf-8")
    bare = path.read_text(encoding="utf-8").split("prices:", 1)[0]
    own = "python: [own.py]\nquality: {law: two_exponents, options: {floor: 1.5}, target: 3}\n"
    for section in (*sections, own):
        path.write_text(bare + section, encoding="utf-8")
        item = ddsim.run(ddsim.load(path), ["data_parallel"])["data_parallel"]
        assert item.quality is not None
        assert item.quality["hours_to_target"][1] is not None


def test_a_law_of_ones_own_is_checked_without_running_its_file(path: Path) -> None:
    """By its name and whatever options it would take."""
    (path.parent / "own.py").write_text(f"raise SystemExit\n{OWN}", encoding="utf-8")
    section = "python: [own.py]\nquality: {law: halving, options: {floor: 2}}\n"
    bare = path.read_text(encoding="utf-8").split("quality:", 1)[0]
    path.write_text(bare + section, encoding="utf-8")
    assert look_through(path).quality.law == "halving"
    with pytest.raises(ScenarioError, match='unknown law "halvin"'):
        look_through(path, {"quality.law": "halvin"})
