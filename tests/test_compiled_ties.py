"""Things of one instant: compiled slots and events order them alike."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numba
import pytest
from test_compiled_slots import assert_same

from ddsim.engine import recorder
from ddsim.methods.compiled import arrays, kernel
from ddsim.results import MethodResult
from ddsim.scenario import read_text, validate
from ddsim.simulation import simulate

pytestmark = [pytest.mark.usefixtures("compiled_slots"), pytest.mark.slow]

BASE: dict[str, Any] = {
    "duration": "300 s",
    "model": {"parameters": 1e9, "layers": 24},
    "training": {"step_time": "1 s"},
    "cluster": {"chips_per_slice": 1, "units": [{"chips": 2}, {"chips": 2}]},
    "network": {"bandwidth": "unlimited"},
    "restart": {"time": "20 s"},
    "failures": {"detection": "10 s"},
}


def kill(target: str, at: str, length: str) -> dict[str, str]:
    """A planned failure of hardware."""
    return {"at": at, "fault": "kill", "target": target, "for": length}


TWICE = [kill("unit 0/slice 0", "50 s", "20 s"), kill("unit 0/slice 1", "50 s", "30 s")]
EXTEND = {
    "training": {"step_time": "1 s", "overlap_steps": 1},
    "elastic": {"stall_rule": "extend", "upscale": "40 s"},
    "chaos": TWICE,
}
CASES: dict[str, dict[str, Any]] = {
    "a slice returns as a restart ends": {
        "duration": "95 s",
        "chaos": [
            kill("unit 0/slice 0", "50.5 s", "20 s"),
            kill("unit 0/slice 1", "50.5 s", "40 s"),
        ],
    },
    "a unit becomes live as a slot opens": EXTEND,
    "two lost units return at once": {
        "training": {"step_time": "1 s", "below_quorum": "step_on", "overlap_steps": 0},
        "network": {"bandwidth": "unlimited", "latency": "1 s"},
        "restart": {"time": "20 s", "moment_bits": 0},
        "chaos": [kill("unit 0", "50.5 s", "20 s"), kill("unit 1", "50.5 s", "20 s")],
    },
    "a unit is lost at the end of a step that rounding misses": {
        "training": {"step_time": "0.1 s"},
        "chaos": [kill("unit 0", "1 min", "never")],
    },
    "fragments answered behind and at tau": {
        "training": {"step_time": "2 s", "inner_steps": 1, "apply": "at_tau"},
        "cluster": {"units": [{"chips": 4}, {"chips": 4}], "jitter": 0.4},
    },
}


def result(settings: dict[str, Any], *, every_slot: bool = False) -> MethodResult:
    """The base with these sections in place of its own."""
    scenario = validate(read_text(json.dumps({**BASE, **settings}), "ties.yaml"))
    return simulate(scenario, "decoupled_diloco", every_slot=every_slot)


def both(settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What compiled slots give, and events, but for their cost."""
    cost = {"events", "elapsed_s"}
    results = (result(settings), result(settings, every_slot=True))
    one, other = ({k: v for k, v in asdict(r).items() if k not in cost} for r in results)
    return one, other


@pytest.mark.parametrize("case", CASES)
def test_an_instant_has_one_order(case: str) -> None:
    """Whatever else happens at it."""
    one, other = both(CASES[case])
    assert_same(one, other)


@pytest.mark.parametrize("every_slot", [False, True])
def test_a_slot_closes_at_its_deadline(every_slot: bool) -> None:
    """Also where all had answered when it opened, and another became live at that instant."""
    merges = result(EXTEND, every_slot=every_slot).merges
    at_80 = next(merge for merge in merges if merge.start > 80.0)
    assert at_80.start == pytest.approx(80.5)


def test_steps_of_several_lengths_are_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one ends as another does, rounding says which is first, and differs from time to time:
    three units of which one has 0.85 of the speed, so that they meet every 20 s.
    """
    monkeypatch.setattr(recorder, "RECORDED_MERGES", 3)
    monkeypatch.setattr(arrays, "RECORDED_MERGES", 3)
    mixed = {
        "duration": "4 h",
        "training": {"step_time": "1 s", "quorum": 2, "overlap_steps": 3},
        "cluster": {"units": [{"chips": 4}, {"chips": 4, "speed": 0.85}, {"chips": 4}]},
        "network": {"bandwidth": "3 Gbit/s", "latency": "30 ms"},
    }
    one, other = both(mixed)
    assert_same(one, other)


def test_a_slow_drift_is_no_repetition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that differ by less than a nanosecond, and a grace that they outgrow in time."""
    monkeypatch.setattr(recorder, "RECORDED_MERGES", 3)
    monkeypatch.setattr(arrays, "RECORDED_MERGES", 3)
    drift = {
        "duration": "20000 s",
        "training": {"step_time": "1 s", "inner_steps": 24, "grace": 5e-7},
        "cluster": {"units": [{"chips": 4}, {"chips": 4, "step_time": "1.0000000008 s"}]},
    }
    one, other = both(drift)
    assert_same(one, other)
    assert one["participation"] < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut off", "no folder"])
def test_a_cache_that_fails_costs_nothing_but_time(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machine code that cannot be read or kept is compiled."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    scenario = validate(read_text(json.dumps(BASE), "ties.yaml"))
    from ddsim.engine.run import Run
    from ddsim.world.histories import Histories

    run = Run(scenario, *Histories(0).of(scenario), 0)
    state = arrays.begin(run, run.network.ring(["a"]))
    if damage == "cut off":
        kernel.compile_advance(state)
        for file in (tmp_path / "cache").rglob("*.nbc"):
            file.write_bytes(file.read_bytes()[:1000])
    else:
        (tmp_path / "cache").write_text("a file")
    state = arrays.begin(run, run.network.ring(["a"]))
    assert kernel.compile_advance(state)(state, 10.0, 0) == kernel.DONE
    assert state.learner[0, kernel.STEPS] == 9
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
