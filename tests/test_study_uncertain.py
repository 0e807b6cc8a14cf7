"""Inputs that are ranges or distributions, and what they do to a study."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scenario_text import problems_of, scenario
from scipy import stats
from study_case import small

import ddsim
from ddsim.scenario.uncertain import EDGE
from ddsim.study.work import sampled

RANGE = "failures: {chip_mtbi: 30 day, detection: {low: 5 s, high: 25 s}}\n"


def test_a_scenario_stands_at_the_medians() -> None:
    """`run` and `check` see a number."""
    found = scenario(RANGE)
    assert found.failures.detection == 15.0
    assert [item.path for item in found.uncertain] == ["failures.detection"]


@pytest.mark.parametrize(
    ("written", "distribution"),
    [
        ("{uniform: {low: 5 s, high: 25 s}}", stats.uniform(5, 20)),
        ("{loguniform: {low: 5 s, high: 25 s}}", stats.loguniform(5, 25)),
        ("{triangular: {low: 5 s, mode: 10 s, high: 25 s}}", stats.triang(0.25, 5, 20)),
        ("{normal: {mean: 20 s, sd: 3 s}}", stats.norm(20, 3)),
        ("{lognormal: {median: 20 s, sigma: 0.5}}", stats.lognorm(0.5, scale=20)),
    ],
)
def test_quantiles_are_those_of_the_distribution(written: str, distribution: object) -> None:
    """Against scipy's, and cut off at the outermost ten-thousandths."""
    (item,) = scenario(f"elastic: {{upscale: {written}}}\n").uncertain
    quantiles = np.linspace(0.001, 0.999, 41)
    expected = distribution.ppf(quantiles)  # type: ignore[attr-defined]
    assert [item.number(q) for q in quantiles] == pytest.approx(list(expected))
    assert item.number(0.0) == item.number(EDGE)


def test_whole_numbers_stay_whole() -> None:
    """A range of counts gives counts."""
    (item,) = scenario("restart: {spares: {low: 0, high: 4}}\n").uncertain
    assert {item.value(q) for q in np.linspace(0, 1, 101)} == {0, 1, 2, 3, 4}


def test_whole_numbers_of_a_range_are_equally_likely() -> None:
    """Its ends come as often as the others."""
    (item,) = scenario("restart: {spares: {low: 0, high: 4}}\n").uncertain
    drawn = [item.value((i + 0.5) / 1000) for i in range(1000)]
    assert [drawn.count(number) for number in range(5)] == [200] * 5


def test_parameters_of_a_repair_may_be_uncertain() -> None:
    """The distribution of repairs has an uncertain median of its own."""
    found = scenario(
        "failures: {repair: {lognormal: {median: {low: 10 min, high: 30 min}, sigma: 0.8}}}\n"
    )
    assert [item.path for item in found.uncertain] == ["failures.repair.lognormal.median"]
    assert found.failures.repair.params == {"median": 1200.0, "sigma": 0.8}


def test_a_methods_own_setting_may_be_uncertain() -> None:
    """It is drawn for that method alone."""
    found = scenario("methods: [diloco, {data_parallel: {restart.time: {low: 1 s, high: 9 s}}}]\n")
    assert found.uncertain == ()
    assert [item.path for item in found.for_method("data_parallel").uncertain] == ["restart.time"]
    assert found.for_method("data_parallel").restart.time == 5.0
    assert found.for_method("diloco").uncertain == ()


def test_resolved_keeps_what_is_uncertain(tmp_path: Path) -> None:
    """Loading the resolved scenario gives the same inputs, counts of the cluster included."""
    more = RANGE + "restart: {time: {lognormal: {median: 60 s, sigma: 0.3}}}\n"
    found = scenario(more, {"cluster.learners": {"low": 2, "high": 6}})
    path = tmp_path / "resolved.yaml"
    path.write_text(found.resolved())
    again = ddsim.load(path)
    assert again == found.with_({"name": again.name})
    assert sorted(again.uncertain, key=lambda item: item.path) == sorted(
        found.uncertain, key=lambda item: item.path
    )


def test_an_override_replaces_what_is_uncertain() -> None:
    """`--set` is the last word, a number over a range and a range over a number."""
    assert scenario(RANGE, {"failures.detection": "7 s"}).uncertain == ()
    text = "elastic.upscale={low: 1 s, high: 3 s}"
    assert [item.path for item in scenario("", [text]).uncertain] == ["elastic.upscale"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{low: 5 s}", "low; uniform takes low and high"),
        ("{low: 9 s, high: 5 s}", "9 s to 5 s; low has to lie below high"),
        ("{low: 5, high: 9 s}", "low: 5, a number without a unit"),
        ("{low: 5 GB, high: 9 s}", "low: "),
        ("{normal: {mean: 9 s, sd: 5 s}}", "normal that reaches"),
        ("{normal: {mean: 9 s}}", "normal takes mean and sd"),
        ("{lognormall: {median: 9 s, sigma: 1}}", 'did you mean "lognormal"?'),
        ("{loguniform: {low: 0 s, high: 5 s}}", "above 0, where the logarithm exists"),
    ],
)
def test_what_cannot_be_drawn_is_said_once(written: str, said: str) -> None:
    """Its place, what was found, what is allowed."""
    found = problems_of(f"elastic: {{upscale: {written}}}\n")
    assert found.startswith("least.yaml:4:20: elastic.upscale: ")
    assert said in found
    assert len(found.splitlines()) == 1


def test_a_seed_is_certain() -> None:
    """Everything else is drawn from it."""
    assert "seed: a mapping of 2; a whole number" in problems_of("seed: {low: 1, high: 9}\n")


def test_every_cell_draws_the_same(tmp_path: Path) -> None:
    """A stream for each input: another cell, or another input beside it, changes no draw."""
    one = small(tmp_path).with_({"failures.detection": {"low": "5 s", "high": "25 s"}})
    two = one.with_({"elastic.upscale": {"low": "1 s", "high": "9 s"}, "restart.time": "5 s"})
    for replication in range(5):
        drawn = [sampled(item, replication)[1]["input:failures.detection"] for item in (one, two)]
        assert drawn[0] == drawn[1]
    values = {sampled(one, replication)[0].failures.detection for replication in range(5)}
    assert len(values) == 5


@pytest.mark.slow
def test_intervals_carry_what_is_uncertain(tmp_path: Path) -> None:
    """Without failures nothing varies but the input, and the interval is that of its effect."""
    calm = {"failures.chip_mtbi": "never", "methods": ["diloco"], "cluster.jitter": 0}
    scenario = small(tmp_path).with_(
        calm
        | {
            "network.bandwidth": {"low": "1 Gbit/s", "high": "9 Gbit/s"},
            "network.regions": ["a", "b"],
        }
    )
    study = ddsim.sweep(scenario, replications=8, tornado=False)
    rows = study.replications()
    assert rows["goodput"].corr(rows["input:network.bandwidth"], method="spearman") > 0.99
    assert study.summary()["goodput_high"][0] - study.summary()["goodput_low"][0] > 0.01


def test_a_tornado_ranks_inputs_by_their_swing(tmp_path: Path) -> None:
    """A wide range of a stall matters more than a narrow one of another."""
    scenario = small(tmp_path).with_(
        {
            "elastic.downscale": {"low": "1 s", "high": "300 s"},
            "elastic.upscale": {"low": "9 s", "high": "11 s"},
        }
    )
    study = ddsim.sweep(scenario, replications=4, methods=["elastic_data_parallel"])
    found = study.tornado()
    assert list(found["input"]) == ["elastic.downscale", "elastic.upscale"]
    assert found["low"].iloc[0] == "15.95 s"
    assert (found["swing"] <= 0).all()
    assert found["swing"].abs().iloc[0] > 10 * found["swing"].abs().iloc[1]


def test_an_input_whose_ends_round_alike_is_named(tmp_path: Path) -> None:
    """With the reason, and no swing."""
    uncertain = {
        "restart.spares": {"normal": {"mean": 4, "sd": 0.05}},
        "elastic.downscale": {"low": "1 s", "high": "300 s"},
    }
    scenario = small(tmp_path).with_(uncertain)
    study = ddsim.sweep(scenario, replications=3, methods=["elastic_data_parallel"])
    last = study.tornado().iloc[-1]
    assert (last["input"], last["swing"]) == ("restart.spares", 0.0)
    assert last["note"] == "no effect: both ends round to 4"
