"""Rates of their own: grids that grow, the parabola through them, and what a scenario has of it."""

import json
from collections.abc import Sequence
from math import inf, log
from pathlib import Path

import pytest
from command_line import ddsim as run_command

import ddsim
from ddsim.engine import tape as t
from ddsim.learning import (
    InnerConfig,
    LearningConfig,
    LearningError,
    OuterConfig,
    Schedule,
    even,
    lockstep,
)
from ddsim.learning.search import FACTOR, MOST, Search, search, search_all, upto
from ddsim.rates import PATHS, search_rates
from ddsim.scenario import ScenarioError

RATES = (0.2, 0.32, 0.512, 0.82)


def losses_of(rates: Sequence[float], best: float) -> tuple[tuple[float, ...], ...]:
    """A parabola in the logarithm of the rate, for two seeds that differ."""
    return tuple(
        (1.0 + 0.3 * log(rate / best) ** 2, 1.2 + 0.3 * log(rate / best) ** 2) for rate in rates
    )


def test_the_rate_taken_is_the_lowest_of_the_parabola_in_its_logarithm() -> None:
    """With its curvature and its loss."""
    found = Search("outer", RATES, losses_of(RATES, 0.4))
    assert found.parabola == pytest.approx((0.3, 0.4, 1.1))
    assert found.rate == 0.4
    assert not found.open


def test_a_rate_is_not_taken_from_beyond_the_neighbours_of_the_lowest() -> None:
    """Where the grid ends with its lowest, that one is taken, and the search says it is open."""
    found = Search("outer", RATES, losses_of(RATES, 3.0))
    assert found.open
    assert found.rate == 0.82


def test_where_losses_bend_downwards_the_lowest_of_the_grid_is_taken() -> None:
    """There is no parabola to show."""
    found = Search("inner", RATES[:3], ((1.0,), (1.5,), (1.6,)))
    assert found.parabola is None
    assert found.rate == 0.2


def quadratic(rate: float, inner: float = 1.0) -> LearningConfig:
    """One coordinate of curvature 1 without noise, which an outer rate of 1 solves in a step."""
    return LearningConfig(
        "noisy_quadratic",
        **even(1, 1),
        options={"dimensions": 1, "tensors": 1, "noise": 0.0},
        inner=InnerConfig("sgd"),
        schedule=Schedule(inner, "constant", 0.0),
        outer=OuterConfig(rate, 0.0),
        evaluations=1,
    )


@pytest.mark.parametrize("begin", [0.15, 1.0, 5.0])
def test_the_grid_grows_until_its_lowest_lies_between_two(begin: float) -> None:
    """From a rate too small or too large, to the one that is right."""
    told: list[float] = []
    tape = lockstep.diloco(1, 1, 1)
    found = search(tape, quadratic(begin), told=lambda rate, _: told.append(rate))
    assert sorted(told) == list(found.rates)
    assert not found.open
    assert 1.0 / FACTOR < found.rate < FACTOR


def test_rates_that_diverge_are_worse_than_any_that_do_not() -> None:
    """Where all diverge there is nothing to take."""
    tape = lockstep.diloco(1, 400, 1)
    found = search(tape, quadratic(2.0))
    assert found.means[-1] == inf
    assert found.rate < 2.0
    with pytest.raises(LearningError, match="diverges at every outer learning rate from"):
        search(tape, quadratic(1e6))


def test_an_endless_slope_ends_the_search() -> None:
    """Nine rates, and word that a lower loss may follow."""
    found = search(lockstep.diloco(1, 1, 1), quadratic(1e-6))
    assert len(found.rates) == MOST
    assert found.open


def test_one_rate_is_searched_at_the_other_that_was_taken() -> None:
    """Whose product is what counts here."""
    tape = lockstep.diloco(1, 1, 1)
    config, (outer, inner) = search_all(tape, quadratic(0.5, 0.8), ("outer", "inner"))
    assert (config.outer.learning_rate, config.schedule.rate) == (outer.rate, inner.rate)
    assert outer.rate * inner.rate == pytest.approx(1.0, rel=0.1)


def test_of_steps_counted_together_those_before_the_end_are_left() -> None:
    """The third ends after the pause for a save."""
    steps = t.JobSteps(9.0, 6, (1.0,), 1.0, 2, 1.0)
    assert list(steps.ends()) == pytest.approx([2.0, 3.0, 5.0, 6.0, 8.0, 9.0])
    left = upto([t.Save(1.0), steps, t.Save(10.0)], 5.5)
    assert left == [t.Save(1.0), t.JobSteps(5.0, 3, (1.0,), 1.0, 2, 1.0)]
    assert upto([steps], 1.5) == []


TEXT = """\
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s, inner_steps: 2, fragments: 2}
network: {bandwidth: unlimited}
duration: 24 s
cluster: {chips: 16, chips_per_slice: 8, learners: 2}
learning:
  problem: noisy_quadratic
  batch_size: 4
  inner: {optimizer: sgd, learning_rate: 0.5}
  evaluations: 2
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """Two learners of a quadratic."""
    file = tmp_path / "quadratic.yaml"
    file.write_text(TEXT)
    return file


def test_what_is_found_is_what_a_scenario_takes(scenario: Path) -> None:
    """As changes of a method, whose run then names the rates beside its loss."""
    (found,) = search_rates(scenario, ["decoupled_diloco"], share=0.5)
    assert set(found.changes) == set(PATHS.values())
    world = ddsim.load(scenario, {"methods": [{found.method: found.changes}]})
    (item,) = ddsim.run(world).results
    assert item.learning is not None
    assert item.learning["rates"] == {one.which: one.rate for one in found.searches}


def test_a_job_that_merges_nothing_has_an_inner_rate_alone(scenario: Path) -> None:
    """Printed as JSON, the grid and its parabola included."""
    done = run_command("rates", str(scenario), "--method", "data_parallel", "--json")
    assert done.code == 0, done.err
    (item,) = json.loads(done.out)
    (search,) = item["searches"]
    assert (item["method"], search["which"]) == ("data_parallel", "inner")
    assert len(search["rates"]) == len(search["losses"]) >= 3


def test_the_command_prints_the_grid_and_the_methods_of_a_scenario(scenario: Path) -> None:
    """What stands under `methods:` can be put into the file."""
    done = run_command("rates", str(scenario), "--method", "diloco", "--only", "outer")
    assert "outer rate" in done.out
    methods = done.out[done.out.index("methods:") :]
    scenario.write_text(TEXT + methods)
    assert [item.name for item in ddsim.load(scenario).methods] == ["diloco"]


def test_nothing_to_train_is_refused(scenario: Path) -> None:
    """In words."""
    with pytest.raises(LearningError, match="it has no learning section; add one, such as"):
        search_rates(ddsim.load(scenario, {"learning": {}}))


def test_a_method_without_a_tape_is_refused(scenario: Path) -> None:
    """By name, before anything runs."""
    with pytest.raises(ScenarioError, match="async_local_sgd beside a learning section"):
        search_rates(ddsim.load(scenario), ["async_local_sgd"])
