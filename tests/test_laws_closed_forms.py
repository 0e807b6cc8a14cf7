"""Under failures the engine keeps the closed forms, within 5 standard errors over histories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp, expm1

import pytest
from replicated import Estimate, estimate, goodput, runs, world

from ddsim import theory
from ddsim.scenario import Scenario

REPAIRS = 500  # repair times a run has to last: it starts with everything up, which flatters it
HISTORIES = 8
DOWNSCALE, UPSCALE, DETECTION = 10.0, 15.0, 5.0
STALL = DETECTION + DOWNSCALE + UPSCALE


@dataclass(frozen=True)
class Job:
    """Slices of one chip that fail at `rate` a second each; many, so that one is a small part."""

    rate: float
    down: float
    learners: int = 1
    slices: int = 512
    repair: str | Mapping[str, object] = ""
    more: dict[str, object] = field(default_factory=dict)

    @property
    def up(self) -> float:
        """Share of the slices that is up: 1 / (1 + slice rate x time down)."""
        return 1.0 / (1.0 + self.rate * self.down)

    @property
    def strikes(self) -> float:
        """Failures a second that one learner's slices meet."""
        return self.up * self.rate * self.slices / self.learners

    def scenario(self) -> Scenario:
        """The scenario without network, long enough for the start not to show."""
        return world(
            cluster__chips=self.slices,
            cluster__chips_per_slice=1,
            cluster__learners=self.learners,
            duration=f"{REPAIRS * self.down} s",
            # what a stall suspends it gives back, so that the length of a step is of no account
            training__step_time="30 min",
            failures__chip_mtbi=f"{1.0 / self.rate} s",
            failures__repair=self.repair or f"{self.down - DETECTION} s",
            failures__detection=f"{DETECTION} s",
            elastic__downscale=f"{DOWNSCALE} s",
            elastic__upscale=f"{UPSCALE} s",
            **self.more,
        )


SELDOM = Job(rate=1 / 300 / 512, down=605.0)
OFTEN = Job(rate=1 / 75 / 512, down=125.0)


@pytest.mark.parametrize(
    "job", [pytest.param(SELDOM, marks=pytest.mark.slow), OFTEN], ids=["seldom", "often"]
)
def test_elastic_under_absorb(job: Job) -> None:
    """a / (1 + a x rate x stall): what falls into a stall is folded in."""
    found = goodput(job.scenario(), "elastic_data_parallel", HISTORIES)
    assert found.agrees(job.up / (1.0 + job.strikes * STALL)), found


@pytest.mark.slow
def test_elastic_does_not_depend_on_how_repairs_vary() -> None:
    """Only the mean repair enters: exponential repairs give what constant ones do."""
    repair = {"exponential": {"mean": "120 s"}}
    job = Job(rate=OFTEN.rate, down=OFTEN.down, repair=repair)
    found = goodput(job.scenario(), "elastic_data_parallel", HISTORIES)
    assert found.agrees(job.up / (1.0 + job.strikes * STALL)), found


@pytest.mark.slow
def test_elastic_under_extend() -> None:
    """a x exp(-rate x stall): the job moves while no strike or return lies within its stall."""
    job = Job(rate=OFTEN.rate, down=OFTEN.down, more={"elastic__stall_rule": "extend"})
    found = goodput(job.scenario(), "elastic_data_parallel", HISTORIES)
    assert found.agrees(job.up * exp(-job.strikes * STALL)), found


@pytest.mark.slow
def test_elastic_whose_clock_stops() -> None:
    """Where nothing fails while the job stalls: the mean-field form, which is good to 1%."""
    job = Job(rate=SELDOM.rate, down=SELDOM.down, more={"failures__age_while_down": "stops"})
    found = goodput(job.scenario(), "elastic_data_parallel", 4)
    formula = theory.elastic_dp_goodput(
        job.slices, job.rate, job.down, DETECTION + DOWNSCALE, UPSCALE
    )
    assert found.mean == pytest.approx(formula, rel=0.01)


@pytest.mark.parametrize("learners", [3])
@pytest.mark.slow
def test_decoupled_learners_are_small_elastic_jobs(learners: int) -> None:
    """M learners on N chips have the goodput of one elastic job on N/M chips."""
    many = Job(rate=OFTEN.rate, down=OFTEN.down, slices=512 * learners, learners=learners)
    found = goodput(many.scenario(), "decoupled_diloco", HISTORIES)
    assert found.agrees(many.up / (1.0 + many.strikes * STALL)), found
    # independent of the other, for the streams of 512 and of 1,024 chips share no numbers in use
    alone = goodput(OFTEN.scenario(), "elastic_data_parallel", HISTORIES)
    assert not alone.exceeds(found)
    assert not found.exceeds(alone)


def _lone_slices(quorum: int) -> Scenario:
    """Four learners of one slice each, lost whole at every strike, back at once when repaired."""
    return world(
        cluster__chips=4,
        cluster__chips_per_slice=1,
        cluster__learners=4,
        duration=f"{REPAIRS * 1000} s",
        training__step_time="20 min",
        training__quorum=quorum,
        failures__chip_mtbi="2000 s",
        failures__repair="990 s",
        failures__detection="10 s",
        restart__time="0 s",
    )


@pytest.mark.slow
@pytest.mark.parametrize("quorum", [1, 2, 4])
def test_merge_uptime_is_that_of_k_of_m_machines(quorum: int) -> None:
    """At least K of M learners are live as often as K of M independent machines are."""
    results = runs(_lone_slices(quorum), "decoupled_diloco", HISTORIES)
    found = estimate([result.merge_uptime or 0.0 for result in results])
    assert found.agrees(theory.k_of_n_availability(4, quorum, mtbf=2000.0, mttr=1000.0)), found


@pytest.mark.slow
def test_uptime_with_a_quorum_of_one_is_that_of_one_of_m_machines() -> None:
    """With K = 1 a learner that is there steps: uptime is 1 - (1 - a)^M."""
    results = runs(_lone_slices(1), "decoupled_diloco", HISTORIES)
    found = estimate([result.uptime for result in results])
    assert found.agrees(1.0 - (1.0 / 3.0) ** 4), found


STEP, RESTART, BETWEEN = 1.0, 60.0, 200.0


def _data_parallel(**changes: object) -> Estimate:
    """Goodput of a job struck every 200 s that always has a spare and needs 60 s to restart."""
    scenario = world(
        cluster__chips=64,
        cluster__chips_per_slice=1,
        cluster__learners=1,
        duration="100_000 s",
        training__step_time=f"{STEP} s",
        failures__chip_mtbi=f"{64 * BETWEEN} s",
        failures__repair="20 min",
        failures__detection="0 s",
        restart__spares=40,
        restart__time=f"{RESTART} s",
        **changes,
    )
    return goodput(scenario, "data_parallel", HISTORIES)


# compute of the steps that a strike does not catch: whole steps in an exponential time
WHOLE_STEPS = STEP / BETWEEN / expm1(STEP / BETWEEN)


def test_data_parallel_with_copies_in_memory_under_absorb() -> None:
    """Whole steps / (1 + rate x restart): only the step in progress is lost."""
    found = _data_parallel(checkpoint__policy="in_memory", restart__stall_rule="absorb")
    assert found.agrees(WHOLE_STEPS / (1.0 + RESTART / BETWEEN)), found


@pytest.mark.slow
def test_data_parallel_with_copies_in_memory_under_extend() -> None:
    """Whole steps x exp(-rate x restart): a strike in a restart begins it again."""
    found = _data_parallel(checkpoint__policy="in_memory", restart__stall_rule="extend")
    assert found.agrees(WHOLE_STEPS * exp(-RESTART / BETWEEN)), found


@pytest.mark.slow
def test_data_parallel_with_checkpoints_under_extend() -> None:
    """The exact goodput of work, save and restart under failures that strike them all."""
    found = _data_parallel(
        checkpoint__policy="fixed",
        checkpoint__interval="50 s",
        checkpoint__save="5 s",
        checkpoint__restore="20 s",
        restart__stall_rule="extend",
    )
    assert found.agrees(theory.checkpoint_goodput(BETWEEN, 50.0, 5.0, RESTART + 20.0)), found
