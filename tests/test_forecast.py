"""What is said beforehand of what a run will take, and what wants consent."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from math import expm1, inf, nan
from typing import Any

import pytest
from command_line import ddsim as command
from scenario_text import LEAST, scenario

import ddsim
from ddsim.cli import consent
from ddsim.engine.goal import goal_of, outlook_of
from ddsim.forecast import Forecast, forecast, seconds
from ddsim.learning import cost
from ddsim.learning.cost import Cost, cost_of
from ddsim.learning.inner import AdamW
from ddsim.learning.regression import LinearRegression
from ddsim.learning.setup import config_of
from ddsim.loading import load_text
from ddsim.simulation import simulate
from ddsim.study.amount import amount

B = "four_regions_12b"
TOO_MUCH: dict[str, list[object]] = {
    "training.step_time: 1 us": ["--set", "training.step_time=1 us", "--set", "duration=10 yr"],
    "failures.chip_mtbi: 1e-09 s": ["--set", "failures.chip_mtbi=0.001 us"],
    "failures.chip_mtbi: 30 day on 1,000,000,000 chips": [
        *("--set", "cluster.chips=1e9", "--set", "failures.chip_mtbi=30 day"),
    ],
    "cluster.learners: 100,000": [
        *("--set", "cluster.learners=100000", "--set", "cluster.chips=6400000"),
    ],
    "--replications 1,000,000,000": ["--replications", 10**9],
}


@pytest.mark.parametrize("field", TOO_MUCH)
def test_what_takes_too_long_is_refused_at_once(field: str) -> None:
    """In one message: what is expected, which field makes it so, what would be less."""
    began = time.perf_counter()
    ran = command("run", B, *TOO_MUCH[field])
    assert ran.code == 2
    (said,) = ran.err.strip().splitlines()
    assert said.startswith("this takes more than an hour")
    assert f"{field}" in said
    assert "Less: " in said
    assert "--yes" in said
    assert time.perf_counter() - began < 20.0


MANY = ",".join(str(number) for number in range(1, 209))
STUDIES: dict[str, list[object]] = {
    "8,998,912 cells": [
        *("--vary", f"training.quorum={MANY}", "--vary", f"training.overlap_steps={MANY}"),
        *("--vary", f"training.inner_steps={MANY}"),
        *("--method", "decoupled_diloco", "--replications", 1),
    ],
    "1,000,000,000 replications": ["--replications", 10**9],
    "training.step_time: 1 us": [
        *("--set", "training.step_time=1 us", "--set", "duration=10 yr"),
        *("--vary", "restart.spares=0,1", "--replications", 1),
    ],
}


@pytest.mark.parametrize("name", ["sweep", "plan"])
@pytest.mark.parametrize("field", STUDIES)
def test_studies_that_take_too_long_are_refused_at_once(name: str, field: str) -> None:
    """Before any cell is built."""
    began = time.perf_counter()
    ran = command(name, B, *STUDIES[field])
    assert ran.code == 2
    (said,) = ran.err.strip().splitlines()
    assert said.startswith("this takes more than an hour")
    assert field in said
    assert "Less: " in said
    assert time.perf_counter() - began < 20.0


SEARCHES = [
    pytest.param(
        "a duration of 10 yr", ["rates", "convergence"], "duration=10 yr", marks=pytest.mark.slow
    ),
    ("training.inner_steps: 1,000,000,000", ["bandwidth", B], "training.inner_steps=1000000000"),
]


@pytest.mark.parametrize(("field", "words", "setting"), SEARCHES)
def test_searches_that_take_too_long_are_refused_at_once(
    field: str, words: list[str], setting: str
) -> None:
    """For learning rates, and for bandwidths, whose time is in proportion to a round."""
    ran = command(*words, "--set", setting)
    assert ran.code == 2
    (said,) = ran.err.strip().splitlines()
    assert said.startswith("this takes more than an hour")
    assert field in said
    assert "Less: " in said


def test_what_has_no_end_is_told_to_take_one() -> None:
    """Not to do so many tokens, which nobody can say; they are the reason, as there is no end."""
    never = ["--set", "duration=never", "--set", "training.tokens=1e10"]
    ran = command("run", B, *never, "--set", "network.latency=1000 yr")
    assert ran.code == 2
    assert "the reason: training.tokens: 1e+10 without a duration" in ran.err
    assert "Less: a duration, or --yes" in ran.err


def test_a_study_is_as_long_as_its_longest_values() -> None:
    """A cell that takes a hundred times longer makes two of them fifty times as long."""
    world = scenario("", {"methods": ["diloco"], "duration": "10 day"})
    plain = amount(world, {"elastic.upscale": ["1 s", "2 s"]}, 3)
    assert (plain.cells, plain.runs) == (2, 6)
    longer = amount(world, {"duration": ["10 day", "1000 day"]}, 3)
    assert 20 < longer.whole.seconds / plain.whole.seconds < 60


def test_above_a_minute_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """And begun unasked; below nothing is said."""
    short = ["run", B, "--method", "data_parallel", "--set", "duration=1 h"]
    assert "expected" not in command(*short).err
    monkeypatch.setattr(consent, "MINUTE", 0.0)
    ran = command(*short)
    assert ran.code == 0
    assert ran.err.startswith("to be expected: about ")


def test_what_wants_consent_wants_it_below_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is above its limit is asked about, also where that is less than a minute."""
    monkeypatch.setattr(consent, "HOUR", 1.0)
    some = Forecast(strikes=0.0, steps=1.0, merges=0.0, seconds=30.0, memory=1e6)
    with pytest.raises(consent.TooMuchError):
        consent.agree(some, of="training.step_time", less="Less: a duration", given=False)


@pytest.mark.parametrize("limit", ["time", "memory"])
def test_consent_begins_it_all_the_same(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is the time or the memory that is beyond its limit."""
    if limit == "time":
        monkeypatch.setattr(consent, "HOUR", 0.0)
    else:
        monkeypatch.setattr(consent, "free_memory", lambda: 1e6)
    short = ["run", B, "--method", "data_parallel", "--set", "duration=1 h"]
    assert command(*short).code == 2
    ran = command(*short, "--yes")
    assert ran.code == 0
    assert ran.err.startswith("this takes more ")


CASES: list[dict[str, Any]] = [
    {},
    {"failures.chip_mtbi": "20 h"},
    {"failures.chip_mtbi": "20 h", "failures.repair": "30 min"},
    {"cluster.learners": 8, "training.inner_steps": 6},
    {"network.bandwidth": "1 Gbit/s"},
    {"failures.causes": [{"name": "a", "domain": "slice", "mtbi": "10 h"}]},
    {"failures.causes": [{"name": "a", "domain": "job", "count": 20, "per": "1 h"}]},
]


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("method", ["elastic_data_parallel", "diloco", "decoupled_diloco"])
def test_strikes_and_merges_are_within_a_factor_of_three(case: int, method: str) -> None:
    """Of what comes, where enough comes to tell."""
    world = scenario("", {"duration": "1 h", "training.step_time": "8 s", **CASES[case]})
    expected = forecast(world.choose([method]))
    result = simulate(world.for_method(method), method)
    if max(expected.strikes, result.failures) > 8:
        assert 1 / 3 < expected.strikes / result.failures < 3
    if result.merges:
        assert 1 / 3 < expected.merges / len(result.merges) < 3


THIN = {"network.bandwidth": "0.4 Gbit/s", "training.payload_bits": 16}
MANY_AT_ONCE = {"duration": "2 min", "training.inner_steps": 2, "training.fragments": 24}
SLOW = [{"name": f"unit {n}", "chips": 8, "step_time": f"{1 + 9 * n} s"} for n in range(4)]
MIXED = {"duration": "5 min", "cluster": {"chips_per_slice": 8, "units": SLOW}}
OLD = {"name": "old", "domain": "chip", "lifetime": {"weibull": {"shape": 3, "mean": "5 h"}}}
OTHERS: list[tuple[str, str, dict[str, Any]]] = [
    ("async_local_sgd", "", {}),
    ("async_local_sgd", "", THIN),
    ("async_local_sgd", "", {"network.latency": "2 min"}),
    ("streaming_diloco", "", THIN),
    ("streaming_diloco", "", {**THIN, "training.overlap_steps": 0, "training.fragments": 4}),
    ("streaming_diloco", "", {"network.latency": "20 s"}),
    ("streaming_diloco", "", MANY_AT_ONCE),
    ("decoupled_diloco", "", MANY_AT_ONCE),
    ("decoupled_diloco", "", MIXED),
    ("async_local_sgd", "", {**MIXED, "training.inner_steps": 60}),
    ("diloco", "", {**THIN, "network.collective": "parameter_server"}),
    ("decoupled_diloco", "", {**THIN, "training.syncer": "central"}),
    ("decoupled_diloco", "", {"checkpoint": {"policy": "in_memory", "save": "9 s"}}),
    ("diloco", "", {"checkpoint": {"policy": "fixed", "interval": "1 min", "save": "9 min"}}),
    ("streaming_diloco", "", {"cluster.chips_per_slice": 16, "failures.chip_mtbi": "6 h"}),
    ("elastic_data_parallel", "", {"cluster.chips": 4096, "failures.causes": [OLD]}),
    ("elastic_data_parallel", "spot_trace", {"duration": "5 h", "cluster.chips": 6400}),
    ("diloco", "scavenging", {"duration": "1 day"}),
]


LONG = len(OTHERS) - 2
"""From which on they are shipped scenarios."""


@pytest.mark.parametrize(
    "case",
    [*range(LONG), *(pytest.param(n, marks=pytest.mark.slow) for n in range(LONG, len(OTHERS)))],
)
def test_what_slows_merges_or_strikes_is_reckoned_with(case: int) -> None:
    """Links, servers, saves, units that stand for others, young hardware, traces."""
    method, name, overrides = OTHERS[case]
    hour = {"duration": "1 h", **overrides}
    world = (ddsim.load(name, hour) if name else load_text(LEAST, hour)).choose([method])
    expected = forecast(world)
    result = simulate(world.for_method(method), method)
    struck = method == "elastic_data_parallel"
    came = result.failures if struck else len(result.merges)
    said = expected.strikes if struck else expected.merges
    assert came > 7
    assert 1 / 3 < said / came < 3


def test_each_change_of_a_planned_flap_counts() -> None:
    """Every millisecond for 100 s, of which the run has 50."""
    flap = {"at": "3550 s", "fault": "flap", "target": "us-west", "every": "1 ms", "for": "100 s"}
    calm, flapping = (
        forecast(ddsim.load(B, {"duration": "1 h", "chaos": plan}).choose(["diloco"]))
        for plan in ([], [flap])
    )
    each = seconds.CHANGE + seconds.CHANGE_OF_ONE
    assert flapping.seconds - calm.seconds == pytest.approx(50_000 * each, rel=0.2)
    assert flapping.most == "changes"
    assert flapping.memory - calm.memory > 50_000 * 100


def test_flaps_that_take_too_long_are_refused_at_once() -> None:
    """Forty of a million changes each, none of which is laid out."""
    flap = "{at: 1 h, fault: flap, target: us-west, every: 1 ms, for: 1000 s}"
    ran = command("run", B, "--set", f"chaos=[{', '.join([flap] * 40)}]")
    assert ran.code == 2
    assert "this takes more than an hour" in ran.err
    assert "the reason: chaos: 40,000,040 changes of links" in ran.err


def test_links_that_vary_take_their_time() -> None:
    """Each instant of changes, and each change of a region's."""
    vary = {"lognormal": {"sigma": 0.5, "correlation": "1 h", "every": "1 min"}}
    changes = {"duration": "1 day", "network.random": vary}
    for name in ("decoupled_diloco", "diloco"):
        calm, varying = (
            forecast(ddsim.load("intellect1", how).choose([name])).seconds
            for how in ({"duration": "1 day"}, changes)
        )
        each = seconds.CHANGE + 14 * seconds.CHANGE_OF_ONE
        assert varying - calm == pytest.approx(1440 * each)


def test_a_goal_bounds_what_is_expected() -> None:
    """A run without an end lasts until its tokens are done."""
    world = scenario("", {"duration": "never", "training.tokens": 1e3})
    assert 1e3 <= forecast(world.choose(["diloco"])).steps <= 10e3
    assert forecast(world).seconds < 60.0


LOSS = {"duration": "never", "training.loss": 2.2, "quality.law": "chinchilla_besiroglu"}
LOSS |= {"model": {"parameters": 8e9, "layers": 32}, "training.tokens_per_step": 4e6}


@pytest.mark.parametrize("name", ["data_parallel", "diloco", "async_local_sgd"])
def test_a_goal_of_loss_is_expected_at_the_tokens_of_its_law(name: str) -> None:
    """A run without an end lasts until the law says that its loss is as low."""
    world = load_text(LEAST, {**LOSS, "methods": [name]})
    tokens = goal_of(world, outlook_of(world, name != "data_parallel")).all_merged
    goal = {"training.loss": None, "training.tokens": tokens}
    assert forecast(world).steps == pytest.approx(forecast(world.with_(goal)).steps)


def test_a_loss_out_of_reach_is_expected_to_end_early() -> None:
    """Where it cannot be come to in time, a day is simulated."""
    far = scenario("", {**LOSS, "training.loss": 1.991})
    day = scenario("", {**LOSS, "training.loss": None, "duration": "1 day"})
    assert forecast(far).steps == forecast(day).steps


RESTARTS: dict[str, Any] = {
    "duration": "never",
    "failures.chip_mtbi": "80 h",
    "failures.repair": "1 min",
}
RESTARTS |= {"cluster": {"learners": 2, "chips": 8, "chips_per_slice": 4}}


@pytest.mark.parametrize("hours", [1, 20])
def test_what_failures_take_back_is_in_the_time_to_a_goal(hours: float) -> None:
    """A job that is struck at a rate r and saves nothing computes (exp(r T) - 1) / r for T."""
    steps = 3600.0 * hours  # of a second
    tokens = steps * scenario().training.tokens_per_step
    goal = {**RESTARTS, "training.tokens": tokens}
    kept, lost = (
        forecast(scenario("", {**goal, "checkpoint.policy": policy}).choose(["data_parallel"]))
        for policy in ("in_memory", "none")
    )
    struck = hours / 10
    assert lost.steps / kept.steps == pytest.approx(expm1(struck) / struck, rel=0.6)


def test_a_run_that_keeps_nothing_wants_consent() -> None:
    """Where failures come faster than its goal, each takes all back."""
    never = ["--set", "duration=never", "--set", "failures.chip_mtbi=10 h"]
    without = ["--set", "training.tokens=1e12", "--set", "checkpoint.policy=none"]
    ran = command("run", B, "--method", "data_parallel", *never, *without)
    assert ran.code == 2
    assert "--yes" in ran.err


@pytest.mark.parametrize("seconds_said", [inf, nan])
def test_what_has_no_end_is_said_in_words(seconds_said: float) -> None:
    """And wants consent."""
    endless = Forecast(strikes=inf, steps=inf, merges=0.0, seconds=seconds_said, memory=nan)
    with pytest.raises(consent.TooMuchError, match="nothing that would end it"):
        consent.agree(endless, of="training.tokens", less="Less: a duration", given=False)


def test_a_training_counts_by_its_steps_points_and_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of all learners takes 2 s here, and a point of the curve 10 s."""
    monkeypatch.setattr("ddsim.forecast.cost.cost_of", lambda config: Cost(2.0, 10.0))
    learning = {"learning": {"problem": "quadratic", "seeds": 3, "evaluations": 5}}
    plain = forecast(scenario("", {"methods": ["diloco"]}))
    trained = forecast(scenario("", {"methods": ["diloco"], **learning}))
    steps = plain.steps / 4  # of four learners
    assert trained.seconds - plain.seconds == pytest.approx(3 * (2.0 * steps + 5 * 10.0), rel=1e-3)


@pytest.mark.slow
def test_only_small_batches_are_tried_for_what_large_ones_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Time and memory grow as they did, in proportion to the examples."""
    tried: list[int] = []
    plain = LinearRegression.batch

    def batch(self: LinearRegression, rng: Any, size: int, shard: Any) -> Any:
        tried.append(size)
        return plain(self, rng, size, shard)

    monkeypatch.setattr(LinearRegression, "batch", batch)
    monkeypatch.setattr("ddsim.learning.cost.TRIES", 1)
    monkeypatch.setattr("ddsim.learning.cost.LEAST", 1e-3)
    settings = {"learning.problem": "linear_regression", "learning.options": {}}
    config = config_of(ddsim.load("convergence", settings), "diloco")
    some, many = (
        cost_of(replace(config, batches=(size,) * config.learners)) for size in (10**6, 10**8)
    )
    assert max(tried) < 10**6
    example = 33 * 4  # bytes of its features and its answer
    assert 2 * example < some.memory / 1e6 / config.learners < 5 * example
    assert many.memory / some.memory == pytest.approx(100, rel=0.05)
    assert many.step > 10 * some.step


LARGE = {"learning.batch_size": 100_000_000, "learning.seeds": 1_000_000}


@pytest.mark.slow
@pytest.mark.parametrize("field", LARGE)
def test_a_training_that_takes_too_long_is_refused_by_its_own_field(field: str) -> None:
    """A batch that would not fit is not computed to see how long it takes."""
    ran = command("run", "convergence", "--set", f"{field}={LARGE[field]}")
    assert ran.code == 2
    (said,) = ran.err.strip().splitlines()
    assert said.startswith("this takes more than an hour")
    assert f"the reason: {field}: {LARGE[field]:,}. Less: {field} of " in said


def test_the_optimizer_of_each_learner_is_part_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of small batches it is half of what a training takes."""
    world = ddsim.load("convergence").choose(["diloco"]).for_method("diloco")
    config = config_of(world, "diloco")
    optimizing: list[object] = []

    def timed(work: Callable[[], object]) -> float:
        work()
        return 1.0

    stepped = AdamW.step
    monkeypatch.setattr(cost, "_timed", timed)
    monkeypatch.setattr(AdamW, "step", lambda *all_: optimizing.append(stepped(*all_)))
    assert cost_of(config).step == cost.BESIDES + 8
    assert len(optimizing) == 1


def test_steps_are_trained_where_a_learner_comes_back() -> None:
    """It gets moments from a peer, so that all take their steps though nothing is merged."""
    few = {"duration": "10 min", "training.inner_steps": 10_000, "failures.chip_mtbi": "never"}
    crashes = {"failures.causes": [{"name": "crash", "domain": "job", "count": 20, "per": "1 h"}]}
    kept, lost = (
        forecast(ddsim.load("convergence", {**few, **more}).choose(["diloco"]))
        for more in ({}, crashes)
    )
    assert kept.merges < 1 > lost.merges
    assert lost.trained > 5 * kept.trained


def test_what_has_left_is_not_struck() -> None:
    """Of four units two are there all the time, and the others some of it."""
    changes = {"duration": "5 h", "failures.chip_mtbi": "0.05 yr"}
    world = ddsim.load("scavenging", changes).choose(["elastic_data_parallel"])
    (came,) = ddsim.run(world, replications=3).results
    assert forecast(world).strikes == pytest.approx(came.failures, rel=0.2)


@pytest.mark.slow
def test_what_a_step_of_a_training_takes_is_in_proportion_to_its_learners() -> None:
    """Those beyond what is timed at once take as long each."""
    few, many = (
        cost_of(replace(config, batches=(8,) * count, tokens=(1.0,) * count))
        for config in [config_of(ddsim.load("convergence"), "diloco")]
        for count in (64, 640)
    )
    assert 5 < many.step / few.step < 20


def test_runs_add_up() -> None:
    """Time by the number of runs and of workers, memory by workers and by results that are kept."""
    one = Forecast(strikes=1, steps=2, merges=3, seconds=4, memory=5)
    assert one.times(10, jobs=2).seconds == 20
    assert one.times(10, jobs=2, kept=False).memory == 10
    assert one.times(10).memory > 5


@pytest.mark.parametrize("learners", [".inf", ".nan", "[]", "many"])
def test_learners_that_are_no_number_are_refused_as_ever(learners: str) -> None:
    """With the field's own message."""
    ran = command("run", B, "--set", f"cluster.learners={learners}")
    assert ran.code == 2
    assert "cluster.learners: " in ran.err
    assert "ddsim: " not in ran.err
