"""A replay does what the tape says, to the last bit."""

import random
from typing import Any

import numpy as np
import pytest
from learning_by_hand import ByHand

import ddsim
from ddsim.engine import tape as t
from ddsim.engine.run import Run
from ddsim.learning import LearningConfig, OuterConfig, Schedule, even, replay
from ddsim.learning.replay import Replay
from ddsim.learning.setup import config_of
from ddsim.methods import get
from ddsim.world.histories import Histories

SMALL = {"width": 8, "hidden": 12, "blocks": 5, "evaluated": 64}


def compare(tape: t.Tape, config: LearningConfig, seed: int) -> None:
    """Assert that learners and the merged model are the same by hand, bit for bit."""
    theirs = ByHand(config, seed, tape)
    ours = Replay(tape, config, seed)
    ours.run()
    ours.crew.settle()
    assert ours.curve.diverged is None
    merged = ours.layout.views(ours.keeper.parameters)
    for name, value in theirs.x.items():
        np.testing.assert_array_equal(merged[name], value)
    for index, one in enumerate(theirs.learners):
        mine = ours.layout.views(ours.crew.parameters[index])
        for name, value in one.x.items():
            np.testing.assert_array_equal(mine[name], value)


def asynchronous_tape(learners: int, slots: int, fragments: int, seed: int) -> t.Tape:
    """Learners on clocks of their own; some miss slots, lose their hardware, copy, come back."""
    draw = random.Random(seed)
    tape: t.Tape = []
    inboxes: list[list[int]] = [[] for _ in range(learners)]
    fetching: dict[int, int] = {}
    for slot in range(1, slots + 1):
        now = float(slot)
        parts = (slot % fragments,)
        there = [index for index in range(learners) if draw.random() < 0.7] or [0]
        for index in there:
            for _ in range(draw.choice([1, 1, 2])):
                tape.append(t.Steps(now, index, draw.choice([1, 2]), draw.choice([1.0, 0.75, 0.5])))
            tape.append(t.Answer(now, index, slot, parts))
        weights = tuple(1.0 + index % 2 for index in there)
        tape.append(t.Merge(now, slot, parts, tuple(there), weights))
        for index, inbox in enumerate(inboxes):
            inbox.append(slot)
            if index not in fetching and draw.random() < 0.1:
                fetching[index] = slot
                tape.append(t.Fetch(now, index, (index + 1) % learners))
            if draw.random() < 0.1:
                peer = draw.choice([None, *(other for other in range(learners) if other != index)])
                if fetching.pop(index, None) is not None:
                    peer = (index + 1) % learners
                tape.append(t.Rejoin(now, index, peer, max(0, slot - draw.choice([0, 3]))))
                inbox.clear()
            elif draw.random() < 0.6:
                tape += [t.Receive(now, index, earlier) for earlier in inbox]
                inbox.clear()
    return tape


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("merge", "bits"), [("mean", 32), ("radial_directional", 4)])
def test_an_asynchronous_schedule_is_replayed_to_the_last_bit(
    seed: int, merge: Any, bits: int
) -> None:
    """Answers, delays, absences and returns go where the tape puts them."""
    tape = asynchronous_tape(4, 30, 6, seed)
    outer = OuterConfig(0.7, 0.9, merge, bits)
    config = LearningConfig(
        "language_model",
        **even(4, 8),
        fragments=6,
        options=SMALL,
        schedule=Schedule(0.01),
        outer=outer,
    )
    compare(tape, config, seed)


SCENARIO = """\
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s, payload_bits: 4, inner_steps: 6, fragments: 6}
duration: 100 s
cluster: {chips: 64, chips_per_slice: 8, learners: 4, jitter: 0.05}
failures: {chip_mtbi: 1 h, repair: 10 s, detection: 1 s}
elastic: {downscale: 1 s, upscale: 1 s}
restart: {time: 5 s}
network: {regions: [a, b], bandwidth: 20 Gbit/s, latency: 10 ms}
chaos: [{at: 40 s, fault: kill, target: unit 1, for: 15 s}]
learning: {problem: language_model, batch_size: 8, inner: {learning_rate: 0.01}}
"""


def tape_of(scenario: Any, method: str) -> tuple[t.Tape, Any]:
    """Run a method and return its tape and its outcome."""
    settled = scenario.for_method(method)
    cluster, history = Histories(0).of(settled)
    one = Run(settled, cluster, history, 0)
    one.tape = []
    instance = get(method)(one)
    instance.start()
    one.clock.run(one.horizon)
    return one.tape, instance.close(one.horizon)


@pytest.fixture
def scenario(tmp_path: Any) -> Any:
    """Four learners with failures, one of them lost whole and taken back."""
    file = tmp_path / "learning.yaml"
    file.write_text(SCENARIO)
    return ddsim.load(file, {f"learning.options.{name}": size for name, size in SMALL.items()})


@pytest.mark.parametrize(
    "method",
    [
        pytest.param("diloco", marks=pytest.mark.slow),
        pytest.param("streaming_diloco", marks=pytest.mark.slow),
        "decoupled_diloco",
    ],
)
def test_the_simulator_s_schedule_is_replayed_to_the_last_bit(scenario: Any, method: str) -> None:
    """The engine's own log of merges, by hand, gives the same parameters."""
    tape, _ = tape_of(scenario, method)
    assert any(isinstance(event, t.Rejoin) for event in tape)
    compare(tape, config_of(scenario.for_method(method), method), 3)


@pytest.mark.parametrize(
    ("method", "policy"),
    [
        ("data_parallel", "in_memory"),
        ("data_parallel", "fixed"),
        ("data_parallel", "none"),
        ("elastic_data_parallel", "none"),
    ],
)
def test_a_job_s_schedule_is_replayed_to_the_last_bit(
    scenario: Any, method: str, policy: str
) -> None:
    """Steps on what is up, saves and rollbacks, by hand, give the same parameters."""
    changes = {"checkpoint.policy": policy}
    if policy == "fixed":
        changes |= {"checkpoint.interval": "10 s"}
    tape, _ = tape_of(scenario.with_(changes), method)
    assert any(isinstance(event, t.Rollback) for event in tape) == (method == "data_parallel")
    assert any(isinstance(event, t.Save) for event in tape) == (policy != "none")
    config = config_of(scenario.for_method(method), method)
    theirs = ByHand(config, 3, tape)
    ours = Replay(tape, config, 3)
    assert ours.run().diverged is None
    assert ours.job.steps > 5
    for name, value in theirs.job.x.items():
        np.testing.assert_array_equal(ours.layout.views(ours.job.parameters)[name], value)


METHODS = [
    "data_parallel",
    "elastic_data_parallel",
    "diloco",
    "streaming_diloco",
    "decoupled_diloco",
]


@pytest.mark.parametrize("method", METHODS)
def test_tokens_of_the_curve_are_those_of_the_run(scenario: Any, method: str) -> None:
    """What the tape counts agrees with what the engine does."""
    tape, outcome = tape_of(scenario, method)
    settled = scenario.for_method(method)
    (curve,) = replay(tape, config_of(settled, method), [0], end=settled.duration)
    last = curve.points[-1]
    assert last.time == settled.duration
    assert last.tokens == pytest.approx(outcome.tokens)
    assert last.steps == pytest.approx(outcome.steps)
    if method in ("data_parallel", "elastic_data_parallel", "decoupled_diloco"):
        assert last.merged == pytest.approx(outcome.tokens_merged)


@pytest.mark.slow
def test_a_curve_is_the_same_on_any_number_of_workers(scenario: Any) -> None:
    """Two processes and one give equal curves."""
    alone, shared = (ddsim.run(scenario, replications=2, jobs=jobs) for jobs in (1, 2))
    for one, other in zip(alone.results, shared.results, strict=True):
        assert one.learning is not None
        assert one.learning == other.learning
