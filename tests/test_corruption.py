"""Silent corruption: how far it spreads, what it costs once found, and what screening saves."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import pytest
from replicated import Estimate, estimate, runs
from scenario_text import problems_of, scenario

import ddsim
from ddsim.loading import known
from ddsim.scenario import Scenario
from ddsim.simulation import simulate
from ddsim.world.cluster import build
from ddsim.world.history import FailureHistory
from ddsim.world.instants import seconds, ticks

DATA_PARALLEL = ("data_parallel", "elastic_data_parallel")
LOCAL = ("diloco", "streaming_diloco", "decoupled_diloco", "async_local_sgd")
HOUR = 3600.0
PER = 90.0
RATE = 1 / (PER * HOUR)
LENGTH = 450 * HOUR
STEP, LATENT, INTERVAL, RESTORE, RESTART = 400.0, 3600.0, 2000.0, 120.0, 300.0
LEARNERS = 3
CAUSE: dict[str, Any] = {
    "name": "bit flips",
    "domain": "job",
    "latent": "1 h",
    "detection": "0 s",
}


def world(cause: dict[str, Any] | None = None, **changes: object) -> Scenario:
    """Saves every five steps, and a corruption in 90 h that is found an hour and 9 steps later.

    That is longer than H + tau steps, and its rate times what it costs a job is 1.5%.
    """
    settings = {
        "duration": "450 h",
        "training.step_time": "400 s",
        "training.inner_steps": 4,
        "training.fragments": 2,
        "training.overlap_steps": 2,
        "cluster.chips": 48,
        "cluster.learners": LEARNERS,
        "network.bandwidth": "unlimited",
        "failures.chip_mtbi": "never",
        "failures.causes": [{**CAUSE, "count": 1, "per": "90 h", **(cause or {})}],
        "checkpoint.policy": "fixed",
        "checkpoint.interval": "2000 s",
        "checkpoint.restore": "2 min",
        "restart.time": "5 min",
    }
    named = {key.replace("__", "."): value for key, value in changes.items()}
    return scenario(overrides={**settings, **named}, known=known())


def found(world: Scenario, replication: int) -> list[float]:
    """When corruptions are found in the course of a run, in seconds."""
    strikes = takewhile(
        lambda strike: strike.time < ticks(world.duration),
        FailureHistory(world, build(world), replication),
    )
    return [seconds(strike.time) for strike in strikes]


def lost(world: Scenario, method: str, histories: int = 16) -> Estimate:
    """The share of a method's time that was not productive."""
    return estimate([1.0 - result.goodput for result in runs(world, method, histories)])


@pytest.mark.parametrize("method", DATA_PARALLEL)
def test_a_job_goes_back_to_the_last_save_before_the_corruption(method: str) -> None:
    """It loses the time unnoticed, half an interval of saves, the restore and the restart."""
    each = LATENT + INTERVAL / 2 + RESTORE + RESTART
    assert lost(world(), method).agrees(RATE * each)


@pytest.mark.parametrize("policy", ["in_memory", "none"])
@pytest.mark.parametrize("method", DATA_PARALLEL)
def test_a_job_without_a_save_that_is_old_enough_begins_anew(method: str, policy: str) -> None:
    """In memory only the last step is kept, and it is as corrupt as the job."""
    scenario = world(checkpoint__policy=policy)
    for index, result in enumerate(runs(scenario, method, 2)):
        left = LENGTH - found(scenario, index)[-1] - RESTART
        restore = 0.0 if (method, policy) == ("elastic_data_parallel", "none") else RESTORE
        assert result.steps == (left - restore) // STEP
        assert sum(result.accounts.values()) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("method", LOCAL)
def test_what_is_merged_unscreened_takes_all_back(method: str) -> None:
    """All learners lose what was done since the corruption, and what a whole job loses by it."""
    job, local = (runs(world(), name, 2) for name in ("data_parallel", method))
    for ours, jobs in zip(local, job, strict=True):
        assert ours.failures == jobs.failures
        assert jobs.failures
        wasted, jobs_wasted = (
            item.accounts["wasted_progress"] * LENGTH / item.failures for item in (ours, jobs)
        )
        assert wasted >= LATENT
        assert wasted == pytest.approx(jobs_wasted, abs=2 * STEP)
        for account in ("restart", "checkpoint_restore"):
            assert ours.accounts[account] == pytest.approx(jobs.accounts[account])
        assert sum(ours.accounts.values()) == pytest.approx(1.0, rel=1e-9)
        assert (ours.tokens_merged or 0.0) <= ours.tokens


def test_an_asynchronous_learner_goes_back_to_its_save_before_the_corruption() -> None:
    """Not to its beginning: it loses the time unnoticed, and what it had done since that save."""
    scenario = world(cluster__learners=1, duration="200 h")
    assert found(scenario, 0)
    (result,) = runs(scenario, "async_local_sgd", 1)
    each = result.accounts["wasted_progress"] * 200 * HOUR / result.failures
    assert LATENT <= each <= LATENT + INTERVAL + 2 * STEP


@pytest.mark.slow
@pytest.mark.parametrize("method", LOCAL)
def test_screened_corruption_restarts_its_own_unit_alone(method: str) -> None:
    """So it is where nobody has merged anything corrupt: not screened, but found at once."""
    per_unit = RESTART / LENGTH / LEARNERS
    for cause in ({"screened": True}, {"latent": "1 s"}):
        result = runs(world(cause), method, 1)[0]
        assert result.accounts["checkpoint_restore"] == 0.0
        assert result.accounts["restart"] == pytest.approx(result.failures * per_unit)
        assert result.accounts["wasted_progress"] <= result.failures * STEP / LENGTH / LEARNERS


def test_a_run_says_which_corruption_no_save_is_old_enough_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Before it starts; what is screened concerns only the methods that share one state."""
    settings = {"checkpoint__policy": "in_memory", "duration": "1 h"}
    for cause, who in (({}, "data_parallel and diloco"), ({"screened": True}, "data_parallel")):
        caplog.clear()
        ddsim.run(world(cause, **settings), methods=["data_parallel", "diloco"])
        messages = [item.getMessage() for item in caplog.records if item.name.startswith("ddsim")]
        (said,) = (message for message in messages if "before it is found" in message)
        assert '"bit flips" corrupts for 1 h' in said
        assert f"takes {who} back to step 0" in said


def test_a_study_says_it_too(caplog: pytest.LogCaptureFixture) -> None:
    """Once, for all cells in which no save is old enough."""
    scenario = world({}, duration="1 h", checkpoint__policy="fixed", checkpoint__interval="10 min")
    vary = {"checkpoint.policy": ["fixed", "in_memory"]}
    ddsim.sweep(scenario, vary, methods=["data_parallel", "diloco"], replications=1)
    (said,) = (item.getMessage() for item in caplog.records if item.name.startswith("ddsim"))
    assert "checkpoint.policy in_memory" in said
    assert "takes data_parallel and diloco back to step 0" in said


def test_only_what_can_corrupt_a_learner_can_be_screened() -> None:
    """A link corrupts nobody's state."""
    link = {"name": "fibre", "domain": "link", "mtbi": "1 day", "screened": True}
    problem = problems_of(overrides={"failures.causes": [link]})
    assert "failures.causes.0.screened" in problem
    assert "only for hardware and the job" in problem


ONCE: dict[str, Any] = {
    **CAUSE,
    "lifetime": {"weibull": {"shape": 400, "mean": "10000 s"}},
    "latent": "3000 s",
}
"""A corruption after 10,000 s, within a few minutes."""


def losses(method: str, *, screened: bool) -> list[float]:
    """The loss of a model at every 1,000 s of a run that is corrupt from 10,000 s to 13,000 s."""
    scenario = world(
        failures__causes=[{**ONCE, "screened": screened}],
        duration="20000 s",
        training__step_time="100 s",
        training__overlap_steps=1,
        checkpoint__interval="15 min",
        learning={
            "problem": "noisy_quadratic",
            "evaluations": 20,
            "corruption": 0.3,
            "inner": {"learning_rate": 0.05, "schedule": "constant"},
            "outer": {"momentum": 0.3},
        },
    )
    result = runs(scenario, method, 1)[0]
    assert result.learning is not None
    return [loss for _, _, loss in result.learning["curve"]]


@pytest.mark.parametrize("method", ["data_parallel", *LOCAL[:3]])
def test_a_corrupt_learner_spoils_the_model_until_all_go_back(method: str) -> None:
    """What it answers is wrong, and merged; the rollback mends it."""
    loss = losses(method, screened=False)
    assert max(loss[11:14]) > 5 * loss[10]
    assert loss[15] < 1.2 * loss[10]


@pytest.mark.parametrize("method", LOCAL[:3])
def test_screening_keeps_what_is_corrupt_out_of_the_model(method: str) -> None:
    """The others go on without it."""
    loss = losses(method, screened=True)
    assert max(loss[11:]) < 2 * loss[10]


@pytest.mark.parametrize("method", LOCAL[:3])
def test_what_is_kept_for_a_training_changes_nothing(method: str) -> None:
    """Also where corruptions follow on each other while the last has not been found."""
    often = {**CAUSE, "count": 9, "per": "10 h"}
    causes = [{**often, "name": latent, "latent": latent} for latent in ("15 min", "1 h")]
    settings: dict[str, Any] = {"duration": "40 h", "cluster__jitter": 0.2}
    plain = world(failures__causes=causes, **settings).for_method(method)
    results = [simulate(plain, method, tape=tape) for tape in (False, True)]
    assert results[0].accounts == pytest.approx(results[1].accounts)
    assert results[0].tokens_merged == pytest.approx(results[1].tokens_merged)
