"""The twin of two real workers in a storm of faults, whose constants are from another run."""

from __future__ import annotations

from statistics import fmean

import pytest

from ddsim.reproduce import Found, reproduce, twin


@pytest.fixture(scope="module")
def found() -> Found:
    """A coarse pass."""
    return reproduce(["storm"], quick=True)["storm"]


def test_kills_that_took_effect_are_those_a_process_follows() -> None:
    """16 of the storm's 25, none of a process that was dead already."""
    log = twin.read("measured_storm_k120")
    struck = twin.kills(log)
    assert len([e for e in log if e.what.startswith("fault_kill")]) == 25
    assert len(struck) == 16
    assert all(15 < kill.relaunched - kill.at < 20 for kill in struck)


def test_constants_are_those_of_the_quiet_run() -> None:
    """0.81 s a step with both and 0.38 s alone, before evaluations and synchronizations."""
    known = twin.constants(twin.read("measured_kill_rejoin"))
    assert known.step == pytest.approx(0.81, rel=0.06)
    assert known.alone == pytest.approx(0.38, rel=0.08)
    assert (known.start, known.noticed) == pytest.approx((8.81, 5.03))


@pytest.mark.slow
def test_the_storm_is_predicted(found: Found) -> None:
    """Each worker's synchronizations, the share alone, the victims' way back: as near as held."""
    held = [row for row in found.rows if row.within is not None]
    assert [row.cell for row in held] == ["worker 0", "worker 1", "both", "victims"]
    assert all(row.within for row in held)
    kinds = {row.quantity: row.basis.kind for row in found.rows if row.basis is not None}
    assert kinds.pop("time back to a synchronization") == "declined"  # each of the victims'
    assert set(kinds.values()) == {"predicted"}


@pytest.mark.slow
def test_two_thirds_of_the_survivors_times_are_near() -> None:
    """Within 2 s or 25%, given what each had done at the kill."""
    log = twin.read("measured_storm_k120")
    known = twin.constants(twin.read("measured_kill_rejoin"))
    times = [twin.survivor(log, known, kill) for kill in twin.kills(log)]
    assert fmean(abs(ours - real) <= max(2.0, 0.25 * real) for ours, real in times) >= 2 / 3
