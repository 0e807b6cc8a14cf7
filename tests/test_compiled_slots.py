"""Decoupled DiLoCo by compiled slots: the same as slot by slot, without an event a step."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict, replace
from typing import Any

import numba
import pytest
from naive.case import Case, no_jitter
from naive.random_cases import random_case
from naive_cases import EngineResult, run_engine

from ddsim import simulation
from ddsim.engine import recorder, transfers
from ddsim.engine.clock import Rank
from ddsim.engine.run import Run
from ddsim.engine.syncer import AVERAGE
from ddsim.methods.compiled import arrays, kernel, rounds, rules, slots
from ddsim.methods.compiled.decoupled import CompiledSlots
from ddsim.methods.compiled.rounds import Rounds
from ddsim.methods.decoupled_diloco import DecoupledDiLoCo
from ddsim.methods.units import EDGE
from ddsim.results import MethodResult
from ddsim.scenario import read_text, validate
from ddsim.simulation import simulate
from ddsim.world.histories import Histories

pytestmark = pytest.mark.slow

DIGITS = 2e-3  # quantiles have four of them

TEXT = """\
duration: 2 h
methods: [decoupled_diloco]
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s, tokens_per_step: 64, inner_steps: 12, fragments: 12}
cluster:
  chips_per_slice: 4
  units:
    - {name: a, region: r, chips: 16}
    - {name: b, region: s, chips: 16}
network: {bandwidth: 5 Gbit/s, latency: 20 ms, regions: {r: , s: }}
failures: {chip_mtbi: 0.3 day, repair: 10 min, detection: 2 s}
"""
WORLDS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "jitter": {"cluster.jitter": 0.1},
    "a quorum of all": {"training.quorum": 2, "training.below_quorum": "step_on"},
    "at tau": {"training.apply": "at_tau", "training.overlap_steps": 4, "training.grace": 0},
    "a link that changes": {
        "chaos": [
            {"at": "1 h", "fault": "throttle", "target": "r", "to": "1 Gbit/s", "for": "10 min"}
        ],
    },
    "slow parts": {
        "chaos": [{"at": "30 min", "fault": "slow", "target": "a", "to": 0.5, "for": "10 min"}],
    },
    "a unit lost where links do not matter": {
        "network.bandwidth": "unlimited",
        "chaos": [{"at": "30 min", "fault": "kill", "target": "a", "for": "10 min"}],
    },
    "a unit lost that has to copy": {
        "chaos": [{"at": "30 min", "fault": "kill", "target": "a", "for": "10 min"}],
    },
    "several fragments a slot": {"training.inner_steps": 5, "training.fragments": 12},
    "an exchange that ends as a link changes": {
        "network.latency": "0 s",
        "network.bandwidth": "1 Gbit/s",
        "network.ring_timeout": "never",
        "model.parameters": 6e9,  # 0.5 s for a fragment
        "training.payload_bits": 1,
        "failures.chip_mtbi": "never",
        "chaos": [{"at": "60.5 s", "fault": "cut", "target": "r", "for": "3 min"}],
    },
    "an exchange that begins as a link changes": {
        "network.bandwidth": "unlimited",
        "network.ring_timeout": "never",
        "failures.chip_mtbi": "never",
        "chaos": [{"at": "540 s", "fault": "cut", "target": "r", "for": "3 min"}],
    },
    "an hour alone": {
        "training.quorum": 2,
        "network.bandwidth": "unlimited",
        "chaos": [{"at": "10 min", "fault": "kill", "target": "a", "for": "1 h"}],
    },
}


def result(settings: dict[str, Any], *, every_slot: bool = False) -> MethodResult:
    """The scenario with these settings."""
    scenario = validate(read_text(TEXT, "compiled.yaml").with_overrides(settings))
    return simulate(scenario, "decoupled_diloco", every_slot=every_slot)


def assert_same(one: Any, other: Any, where: str = "") -> None:
    """Assert that all is the same: 1e-9, and quantiles and rates to what they are kept to."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key, value in one.items():
            assert_same(value, other[key], f"{where}.{key}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for place, (value, same) in enumerate(zip(one, other, strict=True)):
            assert_same(value, same, f"{where}[{place}]")
    elif isinstance(one, float):
        name = where.rpartition(".")[2]
        close = DIGITS if name in ("p50", "p90", "p99") else 1e-6 if name.endswith("gbps") else 1e-9
        assert one == pytest.approx(other, rel=close, abs=1e-9), where
    else:
        assert one == other, where


@pytest.mark.usefixtures("compiled_slots")
@pytest.mark.parametrize("world", WORLDS)
def test_everything_is_as_it_is_slot_by_slot(world: str) -> None:
    """Accounts, merges one by one, timeline, links, spells, distributions, late answers."""
    one, other = result(WORLDS[world]), result(WORLDS[world], every_slot=True)
    cost = {"events", "elapsed_s"}
    both = [{k: v for k, v in asdict(r).items() if k not in cost} for r in (one, other)]
    assert_same(both[0], both[1])
    copies = world == "a unit lost that has to copy"
    assert (one.events == other.events) if copies else (one.events < other.events / 20)


@pytest.mark.parametrize("seed", range(40))
def test_jitter_is_drawn_as_it_is_slot_by_slot(seed: int) -> None:
    """Random cases in which every step has a compute of its own."""
    case = random_case(seed, "decoupled_diloco")
    assert_same(told(run_engine(case)), told(run_engine(case, counted=False)))


def told(result: EngineResult) -> dict[str, Any]:
    """What a run tells of itself."""
    outcome = asdict(result.outcome)
    return {
        "accounts": result.accounts(),
        **outcome,
        "merges": [merge._asdict() for merge in result.run.recorder.merges],
        "timeline": [span._asdict() for span in result.run.recorder.timeline()],
        "bits": result.run.meter.bits,
    }


LONG = 60


@pytest.mark.parametrize("seed", range(20))
def test_rounds_that_are_passed_over_change_nothing(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cases sixty times as long, most of it quiet; the record of merges is full from the start."""
    monkeypatch.setattr(recorder, "RECORDED_MERGES", 3)
    monkeypatch.setattr(arrays, "RECORDED_MERGES", 3)
    case = long_case(seed)
    assert_same(told(run_engine(case)), told(run_engine(case, counted=False)))


def test_most_of_a_quiet_case_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """In those cases rounds are found that repeat themselves, by far the most of all."""
    monkeypatch.setattr(arrays, "RECORDED_MERGES", 3)
    passed: list[int] = []
    pass_over = Rounds.pass_over

    def counted(self: Rounds, rounds: int) -> None:
        passed.append(rounds * self.shift)
        pass_over(self, rounds)

    monkeypatch.setattr(Rounds, "pass_over", counted)
    slots_of_all = sum(run_engine(long_case(seed)).outcome.steps for seed in range(20))
    assert sum(passed) > 0.3 * slots_of_all


def long_case(seed: int) -> Case:
    """A random case that goes on long after its last strike."""
    case = random_case(seed, "decoupled_diloco")
    return replace(case, jitter=no_jitter, duration=case.duration * LONG)


@pytest.mark.parametrize("seed", range(10))
def test_uncompiled_it_is_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The function that numba compiles is a function."""
    case = random_case(seed, "decoupled_diloco")
    machine = told(run_engine(case))
    monkeypatch.setattr(slots, "compiled", lambda _: kernel.advance)
    assert_same(told(run_engine(case)), machine)


@pytest.mark.parametrize("seed", range(5))
def test_full_buffers_are_emptied(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they hold little more than one instant brings, nothing is lost or counted twice."""
    case = random_case(seed, "decoupled_diloco")
    much = told(run_engine(case))
    monkeypatch.setattr(arrays, "MARGIN", 4)
    monkeypatch.setattr(arrays, "TALLIED", 2)
    monkeypatch.setattr(arrays, "DRAWN_AT_ONCE", 3)
    assert_same(told(run_engine(case)), much)


@pytest.mark.usefixtures("compiled_slots")
def test_more_slots_than_there_is_room_for_are_stepped_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A learner that steps on alone, without a quorum, gets an hour ahead of the last merge."""
    alone = WORLDS["an hour alone"] | {"training.below_quorum": "step_on"}
    monkeypatch.setattr(rules, "rows_of", lambda _: 64)
    one, other = result(alone), result(alone, every_slot=True)
    assert one.events == other.events
    assert one.accounts == other.accounts


def test_a_method_of_ones_own_goes_slot_by_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a subclass of Decoupled DiLoCo does otherwise, compiled code would not do."""
    monkeypatch.setattr(rules, "LEAST_STEPS", 0)
    scenario = validate(read_text(TEXT, "compiled.yaml"))
    cluster, history = Histories(0).of(scenario)

    class Mine(DecoupledDiLoCo):
        pass

    assert isinstance(DecoupledDiLoCo.for_run(Run(scenario, cluster, history, 0)), CompiledSlots)
    assert isinstance(Mine.for_run(Run(scenario, cluster, history, 0)), Mine)


def test_what_is_copied_from_the_events_is_the_same_there() -> None:
    """numba notices no change in another file, so that constants are written down twice."""
    ranks = (Rank.STEP_END, Rank.CLOSE, Rank.ARRIVAL, Rank.NEXT)
    assert ranks == (kernel.STEP_END, kernel.CLOSE, kernel.ARRIVAL, kernel.NEXT)
    assert (kernel.WEIGHT, kernel.EDGE, kernel.ROUNDING) == (AVERAGE, EDGE, transfers.ROUNDING)


def test_no_array_is_left_out_of_what_repeats_itself() -> None:
    """Everything is compared with a round before, but buffers and what never changes."""
    constant = {"due_from", "due", "gap"}
    drawn = {"draws"}  # never looked at where steps differ
    told = {"lags", "steps", "spill", "ages", "tokens_in", "waits", "sent", "notes", "weights"}
    assert rounds.COMPARED | constant | drawn | told == set(kernel.Arrays._fields)


@pytest.mark.slow
def test_nothing_is_written_beyond_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled with bounds checked, on buffers that hold little."""
    checked = numba.njit(boundscheck=True)(kernel.advance)
    monkeypatch.setattr(slots, "compiled", lambda _: checked)
    monkeypatch.setattr(arrays, "MARGIN", 0)
    monkeypatch.setattr(arrays, "TALLIED", 2)
    monkeypatch.setattr(arrays, "DRAWN_AT_ONCE", 3)
    for seed in range(25):
        case = replace(random_case(seed, "decoupled_diloco"), inner_steps=1 + seed % 3)
        assert_same(told(run_engine(case)), told(run_engine(case, counted=False)))


NOT_SUITED: dict[str, dict[str, Any]] = {
    "a policy": {"training.policy": "bandwidth_following"},
    "a central syncer": {"training.syncer": "central"},
    "merges that take time": {"training.syncer_time": "0.1 s"},
    "a goal in tokens": {"training.tokens": 1e9},
    "tensors of their own size": {"model.tensors": {f"t{i}": 1 + i for i in range(12)}},
    "saves that cost": {"checkpoint": {"policy": "fixed", "interval": "10 min", "save": "5 s"}},
    "lost replicas": {
        "chaos": [{"at": "1 h", "fault": "lose_replica", "target": "r", "for": "1 min"}]
    },
    "units that copy their moments": {
        "chaos": [{"at": "1 h", "fault": "kill", "target": "a", "for": "10 min"}]
    },
    "more than fits into memory": {"training.overlap_steps": 1_000_000},
    "exchanges longer than the timeout": {
        "chaos": [{"at": "1 h", "fault": "cut", "target": "r", "for": "10 min"}]
    },
}


def suits(settings: dict[str, Any]) -> bool:
    """Whether the scenario with these settings is left to compiled slots."""
    scenario = validate(read_text(TEXT, "compiled.yaml").with_overrides(settings))
    cluster, history = Histories(0).of(scenario)
    return rules.suits(Run(scenario, cluster, history, 0))


@pytest.mark.usefixtures("compiled_slots")
@pytest.mark.parametrize("what", NOT_SUITED)
def test_what_it_does_not_know_is_stepped_through(what: str) -> None:
    """Those go slot by slot; the scenario without them would not."""
    assert suits({})
    assert not suits(NOT_SUITED[what])


def test_short_runs_do_not_load_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two learners for two hours of steps of a second; above that it would be used."""
    assert not suits({})
    monkeypatch.setattr(rules, "LEAST_STEPS", 2 * 7200)
    assert suits({})
    code = "import sys, ddsim.simulation; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.usefixtures("compiled_slots")
def test_a_change_of_the_world_is_all_that_costs_an_event() -> None:
    """Ten times the steps in the same time take no more events."""
    fast = {"training.step_time": "0.1 s", "training.inner_steps": 120}
    assert result(fast).events <= 1.05 * result({}).events + 5


def test_runs_that_break_off_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled slots that meet what they do not know leave nothing behind."""
    monkeypatch.setattr(rules, "LEAST_STEPS", 0)
    carried: list[bool] = []
    carry_out = simulation._carry_out

    def noted(name: str, one: Run) -> Any:
        carried.append(one.counted)
        return carry_out(name, one)

    monkeypatch.setattr(simulation, "_carry_out", noted)
    flood = {"name": "flood", "domain": "region", "mtbi": "1 h", "repair": "5 min"}
    world = {
        "network.bandwidth": "unlimited",
        "failures": {"detection": "2 s", "causes": [flood]},
    }
    one, other = result(world), result(world, every_slot=True)
    assert one.failures > 0
    assert (one.accounts, one.events) == (other.accounts, other.events)
    assert carried == [True, False, False]
    assert CompiledSlots.name == "decoupled_diloco"
