"""What saves cost, what they keep, and what they lose: blocking, asynchronous, sized."""

from __future__ import annotations

from dataclasses import replace
from math import exp, sqrt
from typing import Any

import pytest
from naive.case import Case, UnitCase
from naive_cases import run_engine

import ddsim
from ddsim.engine.job import Job
from ddsim.engine.kept import KeptSaves, Unsaved, between
from ddsim.engine.saves import Saves, saves_of
from ddsim.engine.saving import Saving
from ddsim.engine.tape import JobSteps, Save
from ddsim.results import MethodResult
from ddsim.scenario import Scenario, read_text, validate
from ddsim.theory.checkpointing import daly_interval, young_interval
from ddsim.world.instants import ticks

DAY, HOUR = 86400.0, 3600.0
TEXT = """\
duration: 10 day
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 min}
cluster: {chips: 64, chips_per_slice: 4, learners: 2}
network: {regions: [east]}
failures: {detection: 10 s, repair: 0 s}
restart: {time: 290 s}
checkpoint: {policy: fixed, interval: 1 h, restore: 0 s}
"""
# a day begins with a save: 24 of them, an hour of running apart
CRASH: dict[str, Any] = {"fault": "kill", "target": "unit 0/slice 0", "for": "10 s"}


def world(chaos: list[dict[str, Any]] | None = None, **settings: object) -> Scenario:
    """The scenario with these faults and settings, whose keys have __ for dots."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    return validate(read_text(TEXT, "saves.yaml").with_overrides({"chaos": chaos or [], **named}))


def one(scenario: Scenario, method: str = "data_parallel") -> MethodResult:
    """What one method made of the scenario."""
    return ddsim.run(scenario, methods=[method]).results[0]


def test_a_share_of_what_is_counted_in_whole_numbers_is_exact() -> None:
    """Steps, ticks and chip-ticks of any size: no rounding, as a float would have it."""
    big = 2**60 + 1
    share = Unsaved([6.0], 3 * big, 12.0, 3 * big, [3 * big]).share(3)
    assert share == Unsaved([2.0], big, 4.0, big, [big])


def test_nothing_was_done_from_one_state_to_the_same_or_an_earlier_one() -> None:
    """What has been taken back since is not done a second time."""
    earlier, later = Unsaved([1.0], 2, 3.0, 4), Unsaved([10.0], 20, 30.0, 40)
    assert between(earlier, later) == Unsaved([9.0], 18, 27.0, 36)
    assert between(later, earlier) == between(later, later) == Unsaved([0.0], 0, 0.0, 0)


@pytest.mark.parametrize(
    ("saves", "run", "taken", "left"),
    [
        (Saves(), 0, 0, None),
        (Saves(steps=3), 0, 0, 3),
        (Saves(steps=3), 20, 2, 1),
        (Saves(steps=3), 50, 5, 1),
        (Saves(steps=3, flight=55), 20, 2, 4),
        (Saves(interval=25), 0, 0, 3),
        (Saves(interval=30), 10, 1, 2),
        (Saves(interval=30), 45, 4, 1),
        (Saves(interval=5, flight=25), 0, 0, 3),
    ],
)
def test_a_save_is_so_many_steps_away(saves: Saves, run: int, taken: int, left: int | None) -> None:
    """Steps of 10 ticks, by how long and how often it has stepped since the last; at least one."""
    assert saves.steps_left(10, run, taken) == left


def test_an_asynchronous_save_costs_its_stall_alone() -> None:
    """A save of five minutes that holds the job up for six seconds an hour."""
    result = one(
        world(
            checkpoint__save="5 min",
            checkpoint__asynchronous=True,
            checkpoint__stall="6 s",
        )
    )
    assert result.accounts["checkpoint_save"] == pytest.approx(6 / 3606, rel=1e-2)
    assert result.goodput == pytest.approx(3600 / 3606, rel=1e-3)


@pytest.mark.parametrize(
    ("asynchronous", "minute", "lost"),
    [
        (False, 4, 0),  # the save, of ten minutes, blocks and is voided: an hour is lost
        (False, 14, 4),
        (True, 4, 64),  # the copy under way is gone
        (True, 9, 69),
        (True, 10, 10),  # it has just become complete
        (True, 14, 14),
    ],
)
def test_a_copy_exists_once_its_save_is_complete(
    asynchronous: bool, minute: int, lost: int
) -> None:
    """Of a failure so many minutes after the save began, what is lost is counted in minutes."""
    if not asynchronous and minute < 10:
        lost = 60
    at = 3600 + 60 * minute
    chaos = [{**CRASH, "at": f"{at} s"}]
    scenario = world(
        chaos, duration="2 h", checkpoint__save="10 min", checkpoint__asynchronous=asynchronous
    )
    result = one(scenario)
    assert result.accounts["wasted_progress"] * 7200 == pytest.approx(60 * lost)


def test_saves_do_not_overlap_each_other() -> None:
    """Where one takes longer than the interval, the next begins when it is complete."""
    settings = {"checkpoint__save": "100 min", "checkpoint__asynchronous": True}
    at = 100 * 60 + 100 * 60 + 1800
    chaos = [{**CRASH, "at": f"{at} s"}]
    result = one(world(chaos, duration="5 h", **settings))
    # saves begin at 100 and 200 min; at 230 min the first is there, with 100 min in it
    assert result.accounts["wasted_progress"] * 5 * HOUR == pytest.approx(130 * 60)


@pytest.mark.slow
def test_counted_and_single_saves_lose_the_same() -> None:
    """Counting many cycles at once leaves the last save under way, as stepping does."""
    for minute in (3, 12, 30, 59):
        at = 5 * (3600 + 60) + 60 * minute
        chaos = [{**CRASH, "at": f"{at} s"}]
        settings = {
            "checkpoint__save": "10 min",
            "checkpoint__asynchronous": True,
            "checkpoint__stall": "1 min",
        }
        counted = one(world(chaos, **settings))
        stepped = one(world(chaos, cluster__jitter=1e-9, **settings))
        assert counted.accounts["wasted_progress"] == pytest.approx(
            stepped.accounts["wasted_progress"], rel=1e-4, abs=1e-9
        )
        assert counted.accounts["checkpoint_save"] == pytest.approx(
            stepped.accounts["checkpoint_save"], rel=1e-4
        )


def test_asynchronous_saves_without_a_stall_lose_a_known_share() -> None:
    """With saves back to back of length d, a failure loses between d and 2 d: 3/2 d on average.

    Exact for failures that are rare against d; the clock stands while the job does not step.
    """
    causes = [{"name": "crash", "domain": "job", "mtbi": "1 day"}]
    scenario = world(
        duration="400 day",
        failures__causes=causes,
        checkpoint__policy="optimal",
        checkpoint__save="20 min",
        checkpoint__asynchronous=True,
    )
    result = one(scenario)
    lost = result.accounts["wasted_progress"] * 400 * DAY / result.failures
    length = 1200.0
    # uniform on [d, 2 d], and what fails before the first copies are there
    assert abs(lost - 1.5 * length) <= 5 * length / sqrt(12 * result.failures) + 60


@pytest.mark.slow
def test_blocking_saves_have_dalys_run_time() -> None:
    """Poisson failures at rate r, intervals t, saves d, restarts R: exp(r R) (exp(r (t + d)) - 1)/r
    for each interval (J. Daly, Future Generation Computer Systems 22, 2006, equation 20).
    """
    mtbi, interval, save, restart = 6 * HOUR, HOUR, 120.0, 300.0
    causes = [{"name": "crash", "domain": "job", "mtbi": "6 h"}]
    goodput = []
    for seed in range(6):
        scenario = world(
            seed=seed, duration="400 day", failures__causes=causes, checkpoint__save="2 min"
        )
        goodput.append(one(scenario).goodput)
    rate = 1 / mtbi
    expected = interval / (exp(rate * restart) * (exp(rate * (interval + save)) - 1) / rate)
    mean = sum(goodput) / len(goodput)
    error = sqrt(sum((g - mean) ** 2 for g in goodput) / (len(goodput) - 1) / len(goodput))
    assert abs(mean - expected) <= 5 * error
    assert error < 0.005 * expected


def test_size_and_bandwidth_give_the_times() -> None:
    """14 bytes for each of a billion parameters at 1 Gbit/s are 112 s."""
    checkpoint = world(checkpoint__bandwidth="1 Gbit/s", checkpoint__policy="optimal").checkpoint
    with_size = world(checkpoint__bandwidth="1 Gbit/s", checkpoint__size="1 GB").checkpoint
    assert (checkpoint.save, checkpoint.restore) == (112.0, 0.0)  # restore is given
    assert with_size.save == 8.0
    given = world(checkpoint__bandwidth="1 Gbit/s", checkpoint__save="3 s").checkpoint
    assert given.save == 3.0


def test_a_resolved_checkpoint_is_the_same() -> None:
    """The derived times are written out."""
    scenario = world(checkpoint__bandwidth="1 Gbit/s", checkpoint__policy="optimal")
    again = validate(read_text(scenario.resolved(), "again.yaml"))
    assert again.checkpoint == scenario.checkpoint


@pytest.mark.parametrize("interval", [100, 500])
def test_the_next_save_is_due_after_interval_and_flight(interval: int) -> None:
    """Whichever is longer; counted in whole steps."""
    saves = Saves(interval=interval, flight=250)
    assert saves.steps_left(60, 0, 0) == (5 if interval == 100 else 9)
    assert not saves.due(240, 4)
    assert saves.due(max(interval, 250), 5)


@pytest.mark.parametrize(
    ("saves", "words"),
    [
        (Saves(), "never"),
        (Saves(steps=1), "after every step"),
        (Saves(steps=7), "after every 7 steps"),
        (Saves(interval=0, flight=ticks(1.0)), "one after the other"),
        (Saves(interval=ticks(90.0)), "every 1.5 min of running"),
        (Saves(interval=1), "every 1e-09 s of running"),
    ],
)
def test_it_is_said_when_a_job_saves(saves: Saves, words: str) -> None:
    """In the words of the remarks."""
    assert saves.words == words


@pytest.mark.parametrize("rule", ["young", "daly"])
@pytest.mark.parametrize(("asynchronous", "holds"), [(False, 120.0), (True, 5.0)])
def test_the_interval_weighs_what_holds_the_job_up(
    rule: str, asynchronous: bool, holds: float
) -> None:
    """A save of two minutes, or its stall of 5 s where the rest overlaps."""
    stall: dict[str, Any] = {"checkpoint__stall": "5 s"} if asynchronous else {}
    scenario = world(
        checkpoint__policy=rule,
        checkpoint__interval=None,
        checkpoint__save="2 min",
        checkpoint__asynchronous=asynchronous,
        **stall,
    )
    interval = {"young": young_interval, "daly": daly_interval}[rule](DAY, holds)
    assert saves_of(scenario, DAY, 0).interval == ticks(interval)


@pytest.mark.parametrize("now", [22, 30])
def test_a_save_is_complete_at_the_latest_when_the_next_begins(now: int) -> None:
    """Of two that are 10 apart and 5 late, an instant of 5 is before both."""
    kept = KeptSaves(keep=True, late=5)
    one, other = Unsaved([1.0]), Unsaved([2.0])
    kept.add(one, 10)
    kept.add(other, 20)
    assert list(kept.lost(now, 5)) == [(other, 1), (one, 1)]


def test_what_a_step_did_is_no_more_to_be_saved() -> None:
    """As far as it was not saved already."""
    saving = Saving(None, list)  # type: ignore[arg-type]
    saving.unsaved = Unsaved([10.0], compute=10)
    saving.take_back(Unsaved([4.0], compute=3))
    assert (saving.unsaved.work, saving.unsaved.compute) == ([6.0], 7)
    saving.take_back(Unsaved([8.0], compute=8))
    assert (saving.unsaved.work, saving.unsaved.compute) == ([0.0], 0)


@pytest.mark.parametrize("method", ["data_parallel", "elastic_data_parallel"])
def test_a_job_catches_up_what_it_had_not_saved(method: str) -> None:
    """Its stall, and half an hour of compute that data parallel does again after its failure."""
    chaos = [{**CRASH, "at": "5400 s"}]
    scenario = world(chaos, duration="4 h", elastic__downscale="0 s", elastic__upscale="0 s")
    again = {"data_parallel": 10 + 290 + 1800, "elastic_data_parallel": 10}[method]
    (result,) = ddsim.run(scenario, methods=[method]).results
    assert result.extra["blast_radius"]["catch_up_s"] == pytest.approx(again)


def test_a_step_that_a_stall_has_cut_counts_towards_the_next_save() -> None:
    """Ten seconds of detection in the second step, and a save a minute long every 55 steps."""
    chaos = [{**CRASH, "at": "90 s"}]
    scenario = world(
        chaos,
        duration="2 h",
        checkpoint__interval="55 min",
        checkpoint__save="1 min",
        elastic__downscale="0 s",
        elastic__upscale="0 s",
    )
    (result,) = ddsim.run(scenario, methods=["elastic_data_parallel"]).results
    assert result.accounts["checkpoint_save"] * 7200 == pytest.approx(2 * 60)
    assert result.steps == (7200 - 10 - 2 * 60) // 60


def test_the_tape_of_counted_steps_pauses_at_every_save() -> None:
    """Ten cycles of two steps of 10 s and a save of 3 s are counted at once, each end told."""
    unit = UnitCase("a", "east", (4, 4), 10.0)
    case = Case("data_parallel", 230.0, (unit,), capacity={"east": 1e9})
    case = replace(case, checkpoint_policy="fixed", interval_steps=2, save=3.0)
    events = run_engine(case, taped=True).run.tape
    assert events is not None
    ends = [end for event in events if isinstance(event, JobSteps) for end in event.ends()]
    assert ends == pytest.approx([23 * (n // 2) + 10 * (n % 2 + 1) for n in range(20)])


def test_saves_that_cost_nothing_stand_on_the_tape() -> None:
    """There is one after the last step, of a job without a link to wait for, to go back to."""
    unit = UnitCase("a", "east", (4, 4), 10.0)
    case = Case("data_parallel", 105.0, (unit,), capacity={"east": 1e9})
    case = replace(case, checkpoint_policy="in_memory")
    events = run_engine(case, taped=True).run.tape
    assert events is not None
    ends = [end for event in events if isinstance(event, JobSteps) for end in event.ends()]
    saves = [event.time for event in events if isinstance(event, Save)]
    assert ends == [10.0 * n for n in range(1, 11)]
    assert saves[-1] == ends[-1]


@pytest.mark.parametrize("policy", ["none", "in_memory"])
def test_steps_that_no_save_parts_are_passed_over(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are counted where a save holds them up; one that costs nothing does not."""
    unit = UnitCase("a", "east", (4, 4), 10.0)
    case = Case("data_parallel", 105.0, (unit,), capacity={"east": 1e9})
    counted: list[object] = []
    count = Job._count

    def told(job: Job, *given: Any) -> bool:
        counted.append(given)
        return count(job, *given)

    monkeypatch.setattr(Job, "_count", told)
    run_engine(replace(case, checkpoint_policy=policy))
    assert not counted
    run_engine(replace(case, checkpoint_policy="fixed", save=1.0))
    assert counted
