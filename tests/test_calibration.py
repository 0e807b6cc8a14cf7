"""Calibrated scenarios: intervals that hold, predictions beside what was measured, sources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import calibrate_round_trip
import numpy as np
import pytest
from command_line import ddsim as run_ddsim

import ddsim
from ddsim.calibration import calibrate, hold_out
from ddsim.calibration.estimates import estimate
from ddsim.logs.run_log import Event, RunLog, log_of, to_bytes

STORM = Path(ddsim.__file__).parent / "reference" / "measured_storm_k120.csv"


def steady(units: int = 2, steps: int = 200, seed: int = 1) -> list[Event]:
    """A log of units that step on their own, with a failure each now and then."""
    rng = np.random.default_rng(seed)
    events = [Event(0.0, "run", units={f"u{n}": 4 for n in range(units)}, cause="diloco")]
    for unit in range(units):
        now = 0.0
        for step in range(1, steps + 1):
            length = float(rng.normal(2.0, 0.1))
            now += length
            events.append(Event(now, "step", f"u{unit}", length, step))
            if step % 40 == 0:
                away, start = float(rng.gamma(4.0, 5.0)), float(rng.gamma(4.0, 2.0))
                events.append(Event(now, "failure", f"u{unit}", cause="crash"))
                events.append(Event(now + away, "down", f"u{unit}", away))
                events.append(Event(now + away + start, "restart", f"u{unit}", start))
                now += away + start
    return events


def written(folder: Path, events: list[Event]) -> Path:
    """The log as a file."""
    path = folder / "run.jsonl"
    path.write_bytes(to_bytes(sorted(events, key=lambda event: event.time)))
    return path


@pytest.mark.slow
def test_random_scenarios_are_found_again() -> None:
    """A few here; 200 of them by hand."""
    checks = calibrate_round_trip.all_checks(1)
    assert {check.kind for check in checks} == set(calibrate_round_trip.KINDS)
    assert np.mean([check.holds for check in checks]) >= 0.75


def test_a_calibrated_scenario_has_ranges_and_takes_other_values(tmp_path: Path) -> None:
    """Each value with the rows that it came from; what no log tells is marked."""
    text = calibrate([written(tmp_path, steady())]).text
    path = tmp_path / "calibrated.yaml"
    path.write_text(text, encoding="utf-8")
    scenario = ddsim.load(path, ["failures.causes.0.count=29", "duration=100 s"])
    assert scenario.failures.causes[0].count == 29.0
    paths = {item.path for item in scenario.uncertain}
    assert {"training.step_time", "cluster.jitter", "failures.repair", "restart.time"} <= paths
    assert "run.jsonl: 400 rows" in text
    assert "parameters: 1000000000.0  # assumed" in text


def test_a_failure_log_beside_a_run_log_adds_its_rate(tmp_path: Path) -> None:
    """Lives that ended over the time that all lives took together."""
    lives = tmp_path / "lives.csv"
    lives.write_text("lifetime_h,ended\n2,1\n3,1\n5,0\n", encoding="utf-8")
    found = calibrate([written(tmp_path, steady(steps=30)), lives])
    (rate,) = found.more
    assert rate.interval.value == pytest.approx(2 / 36000.0)
    assert "failures of lives" in found.text


def test_steps_that_something_fell_into_say_nothing_of_a_step() -> None:
    """Neither do those during which the log has an evaluation or a save."""
    events = [Event(float(n), "step", "a", 1.0, n) for n in range(1, 11)]
    events += [Event(14.0, "step", "a", 4.0, 11), Event(13.5, "save", "a", 3.0)]
    events += [Event(15.0, "step", "a", 1.0, 12)]
    assert estimate(log_of("x", "steps", events))["step"].value == 1.0


def test_units_of_one_host_have_a_step_time_alone() -> None:
    """A step takes half as long while the other is away."""
    rng = np.random.default_rng(2)
    events = []
    for unit, away in (("a", range(100, 140)), ("b", range(0))):
        now = 0.0
        while now < 300.0:
            alone = unit == "b" and 100.0 <= now < 139.0
            length = float(rng.normal(1.0, 0.01)) * (0.5 if alone else 1.0)
            if int(now) in away:
                now = 140.0
                continue
            now += length
            events.append(Event(now, "step", unit, length))
    found = estimate(log_of("x", "steps", events))
    assert found.shared_host
    assert found["step"].value == pytest.approx(1.0, rel=0.01)
    assert found["step_alone"].value == pytest.approx(0.5, rel=0.1)


@pytest.mark.slow
def test_a_held_out_part_is_predicted_with_guesses_beside_it(tmp_path: Path) -> None:
    """Steps and failures of the second half lie in their intervals, which guesses do not have."""
    log = calibrate([written(tmp_path, steady(steps=400))]).log
    held = hold_out(log, 0.5, replications=6)
    found = {item.name: item for item in held.predictions}
    assert found["steps"].holds
    assert found["failures"].holds
    assert found["failures"].calm == 0.0
    assert found["steps"].low < found["steps"].middle < found["steps"].high
    assert found["steps"].rates == pytest.approx(found["steps"].measured, rel=0.2)


@pytest.mark.slow
def test_the_faults_of_a_drill_are_given_and_the_rest_is_predicted() -> None:
    """A real storm of kills and cuts over two workers: its commits, and those of one alone."""
    log = calibrate([STORM]).log
    assert isinstance(log, RunLog)
    held = hold_out(log, 0.5, replications=12)
    assert "9 kills that took effect, and 5 cuts of a link" in held.given
    found = {item.name: item for item in held.predictions}
    for name, width in (("steps", 0.08), ("commits", 0.15), ("alone", 0.4)):
        item = found[name]
        assert item.holds, name
        assert item.high <= (1.0 + width) * item.middle, name
        assert item.low >= (1.0 - width) * item.middle, name
    assert found["alone"].low > 0.0
    assert found["alone"].calm == 0.0


def test_the_command_prints_one_document(tmp_path: Path) -> None:
    """With every value, its interval, its rows and the scenario."""
    ran = run_ddsim("calibrate", written(tmp_path, steady(steps=50)), "--json")
    document: dict[str, Any] = json.loads(ran.out)
    kinds = {item["kind"] for item in document["values"]}
    assert {"step", "jitter", "down", "restart", "crash"} <= kinds
    assert all(item["low"] <= item["value"] <= item["high"] for item in document["values"])
    assert document["holdout"] is None


def test_the_command_saves_scenario_and_residuals(tmp_path: Path) -> None:
    """In the folder that is asked for."""
    out = tmp_path / "out"
    ran = run_ddsim("calibrate", written(tmp_path, steady(steps=50)), "--out", out)
    assert ran.out.startswith("# calibrated from ")
    assert sorted(path.name for path in out.iterdir()) == ["calibrated.yaml", "residuals.png"]


def test_a_file_that_is_no_run_log_is_refused(tmp_path: Path) -> None:
    """With its name, and what would be one."""
    path = tmp_path / "notes.txt"
    path.write_text("nothing of the kind\n", encoding="utf-8")
    ran = run_ddsim("calibrate", path)
    assert ran.code == 2
    assert "notes.txt" in ran.err
