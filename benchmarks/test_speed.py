"""What ddsim costs, each time against something that is measured in the same run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest
from by_hand import BY_HAND
from by_hand import World as WorldByHand
from speed_cases import (
    DAYS,
    LARGE_CHIPS,
    POLICIES,
    SIXTEEN_THOUSAND,
    SMALL_CHIPS,
    STREAMS,
    STRIKES,
    Case,
    World,
    sized,
)

import ddsim
from ddsim.simulation import simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from measuring import Measure

WANTED = {"elastic_data_parallel, 1.2 million chips, 8 units": "25"}
MONTH, YEAR = "30 day", "365 day"
MEGA = 1e6


@pytest.mark.parametrize("name", STRIKES)
@pytest.mark.parametrize("timeline", [True, False], ids=["with timeline", "without"])
def test_a_strike(benchmark: Any, measure: Measure, name: str, *, timeline: bool) -> None:
    """What one more failure costs, in bare SimPy timeouts."""
    case = STRIKES[name]
    few, many = (World(case.settled(time), case.method) for time in (case.few, case.many))
    bare, less, more = measure.by_turns(
        lambda: few.run(timeline=timeline), lambda: many.run(timeline=timeline)
    )
    benchmark.pedantic(lambda: many.run(timeline=timeline), rounds=1)
    strikes = many.run().failures - few.run().failures
    each = (more - less) / strikes
    how = "" if timeline else ", no timeline"
    wanted = WANTED.get(name, "20" if "nodes" in name else "")
    found = f"{each / bare:.0f} timeouts, {each * 1e6:.0f} us"
    measure.say("strikes", f"{name}{how}", found, wanted)


@pytest.mark.parametrize("name", STRIKES)
def test_a_strike_by_hand(benchmark: Any, measure: Measure, name: str) -> None:
    """What one more failure costs at least: the same events, and nothing but the case's rules."""
    case = STRIKES[name]
    few, many = (WorldByHand(case.settled(time)) for time in (case.few, case.many))
    program = BY_HAND[case.method]
    bare, less, more = measure.by_turns(lambda: program(few), lambda: program(many))
    found = benchmark.pedantic(lambda: program(many), rounds=1)
    assert found.failures == World(case.settled(case.many), case.method).run().failures
    each = (more - less) / (found.failures - program(few).failures)
    measure.say("strikes", f"{name}, by hand", f"{each / bare:.1f} timeouts, {each * 1e6:.0f} us")


@pytest.mark.parametrize("method", ["streaming_diloco", "diloco"])
def test_a_day_of_many_chips(benchmark: Any, measure: Measure, method: str) -> None:
    """A day of 1.2 million chips against Decoupled DiLoCo's."""
    reference, own = (World(DAYS[name].settled(), name) for name in ("decoupled_diloco", method))
    _, decoupled, other = measure.by_turns(
        lambda: reference.run(timeline=False), lambda: own.run(timeline=False), rounds=3
    )
    benchmark.pedantic(lambda: own.run(timeline=False), rounds=1)
    found = f"{other / decoupled:.2f} times `decoupled_diloco` ({decoupled:.2f} s)"
    measure.say("runs", f"`{method}`, a day of 1.2 million chips", found, "2")


@pytest.mark.parametrize("timeline", [True, False], ids=["with timeline", "without"])
def test_a_policy(benchmark: Any, measure: Measure, *, timeline: bool) -> None:
    """A policy that follows the bandwidth against settings that stay."""
    fixed, following = (World(case.settled(), case.method) for case in POLICIES.values())
    _, less, more = measure.by_turns(
        lambda: fixed.run(timeline=timeline), lambda: following.run(timeline=timeline), rounds=3
    )
    benchmark.pedantic(lambda: fixed.run(timeline=timeline), rounds=1)
    how = "" if timeline else ", no timeline"
    found = f"{more / less:.1f} times `fixed` ({less:.2f} s)"
    measure.say("runs", f"`bandwidth_following`, a day of `adaptive_link`{how}", found, "3")


@pytest.mark.parametrize("method", STREAMS)
def test_streams(benchmark: Any, measure: Measure, method: str) -> None:
    """Exchanges that start slowly against those that are at their rate at once."""
    without, slowly = (World(case.settled(), method) for case in STREAMS[method])
    _, less, more = measure.by_turns(
        lambda: without.run(timeline=False), lambda: slowly.run(timeline=False), rounds=3
    )
    benchmark.pedantic(lambda: slowly.run(timeline=False), rounds=1)
    found = f"{more / less:.2f} times without it ({less:.2f} s)"
    measure.say("runs", f"`{method}`, a day of `four_regions_12b` with `network.tcp`", found)


def test_long_runs(benchmark: Any, measure: Measure) -> None:
    """Six hours of the first scenario, and 30 days of Decoupled DiLoCo."""
    six = World(Case("decoupled_diloco", "four_regions_12b").settled("6 h"), "decoupled_diloco")
    month = World(
        Case("decoupled_diloco", overrides=SIXTEEN_THOUSAND).settled(MONTH), "decoupled_diloco"
    )
    bare, short, long = measure.by_turns(six.run, month.run, rounds=2)
    benchmark.pedantic(six.run, rounds=1)
    measure.say("runs", "`decoupled_diloco`, 6 hours of `four_regions_12b`", f"{short:.2f} s")
    measure.say("runs", "`decoupled_diloco`, 30 days of 16,384 chips", f"{long:.1f} s")
    assert bare > 0.0


@pytest.mark.parametrize("method", ["elastic_data_parallel", "decoupled_diloco"])
def test_a_hundred_times_the_chips(benchmark: Any, measure: Measure, method: str) -> None:
    """As many failures among a hundred times the chips."""
    small, large = (
        World(sized(method, chips).settled("4 h"), method) for chips in (SMALL_CHIPS, LARGE_CHIPS)
    )
    _, less, more = measure.by_turns(small.run, large.run)
    benchmark.pedantic(large.run, rounds=1)
    found = f"{more / less:.2f} times"
    measure.say("runs", f"`{method}`, 2.4 million chips against 24,000", found, "1.1")


def alone(code: str, *given: str, **kept: str) -> list[float]:
    """Run code in a process of its own, beside the cases; return the numbers that it prints."""
    told = subprocess.run(
        [sys.executable, "-c", code, *given],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)} | kept,
        check=True,
        capture_output=True,
        text=True,
    )
    return [float(word) for word in told.stdout.split()]


# what getrusage says of a process begins with what its parent had
_PEAK = """
import sys
from pathlib import Path
from speed_cases import SIXTEEN_THOUSAND, Case
Case(sys.argv[1], overrides=SIXTEEN_THOUSAND).run(sys.argv[2])
status = Path("/proc/self/status").read_text()
print(1024 * int(status.split("VmHWM:")[1].split()[0]))
"""


def peak(method: str, duration: str) -> float:
    """Return the bytes that a process of its own takes at most for a run."""
    return alone(_PEAK, method, duration)[0]


@pytest.mark.parametrize("method", ["elastic_data_parallel", "decoupled_diloco"])
def test_memory_of_a_year(benchmark: Any, measure: Measure, method: str) -> None:
    """A year takes hardly more memory than a month."""
    month = peak(method, MONTH)
    year = benchmark.pedantic(lambda: peak(method, YEAR), rounds=1)
    found = f"{year / month:.2f} times a month's {month / MEGA:.0f} MB"
    measure.say("memory", f"`{method}`, a year of 16,384 chips", found, "1.10")


_COLD = """
import sys
from time import process_time
from speed_cases import DAYS
DAYS["decoupled_diloco"].run("1 h")
started = process_time()
DAYS["decoupled_diloco"].run("3 h")
print(process_time() - started)
"""


def test_a_cold_compiler(benchmark: Any, measure: Measure) -> None:
    """The first run after installation that is worth compiling does not wait for it."""

    def once(**kept: str) -> float:
        return alone(_COLD, **kept)[0]

    with TemporaryDirectory() as folder:
        cold = benchmark.pedantic(lambda: once(NUMBA_CACHE_DIR=folder), rounds=1)
    found = f"{cold:.1f} s, begun by hand; {once():.1f} s once the machine code is on disk"
    measure.say("runs", "the first 3 hours of 1.2 million chips after installation", found, "5 s")


_TABLE = """
from goodput_table import table
if __name__ == "__main__":
    table()
"""
_SWEPT = """
from speed_cases import table
if __name__ == "__main__":
    table()
"""


def test_the_goodput_table(benchmark: Any, measure: Measure) -> None:
    """From the start of the process to its end, by the clock on the wall: for an idle machine."""

    tests = str(Path(__file__).parent.parent / "tests")

    def once(**kept: str) -> float:
        started = perf_counter()
        alone(_TABLE, PYTHONPATH=tests, **kept)
        return perf_counter() - started

    def swept() -> float:
        started = perf_counter()
        alone(_SWEPT)
        return perf_counter() - started

    with TemporaryDirectory() as folder:
        cold = once(NUMBA_CACHE_DIR=folder)
    once()
    warm = benchmark.pedantic(once, rounds=1)
    case = "goodput table, 30 cells to 0.5 points, two workers"
    measure.say("studies", f"{case}, from 5 days on", f"{warm:.1f} s", "10 s")
    measure.say("studies", f"{case}, from 5 on, cold compiler", f"{cold:.1f} s", "20 s")
    measure.say("studies", f"{case}, from 20 on, as a sweep begins", f"{swept():.1f} s")


_CELLS = """
import sys
from pathlib import Path
from time import perf_counter
from speed_cases import cells
if __name__ == "__main__":
    started = perf_counter()
    cells(int(sys.argv[1]))
    status = Path("/proc/self/status").read_text()
    print(perf_counter() - started, 1024 * int(status.split("VmHWM:")[1].split()[0]))
"""


def test_two_workers(benchmark: Any, measure: Measure) -> None:
    """Two workers take half the time of one, by the clock on the wall: for an idle machine."""
    one, _ = alone(_CELLS, "1")
    two, parent = benchmark.pedantic(lambda: alone(_CELLS, "2"), rounds=1)
    case = "800 cells x 20 replications, two workers"
    found = f"{2 * two / one:.2f} times half of one worker's {one:.1f} s"
    measure.say("studies", case, found, "1.15")
    measure.say("studies", f"{case}, the parent", f"{parent / MEGA:.0f} MB", "500 MB")


def test_recording(benchmark: Any, measure: Measure) -> None:
    """What is kept besides the books, and what that costs."""
    scenario = ddsim.load("four_regions_12b", {"duration": "6 h"}).choose(["decoupled_diloco"])
    learns = ddsim.load("convergence", {"duration": "10 min"}).choose(["decoupled_diloco"])
    settled = scenario.for_method("decoupled_diloco")
    learning = learns.for_method("decoupled_diloco")
    without = learns.with_({"learning": None}).for_method("decoupled_diloco")

    def kept(*, timeline: bool = False, tape: bool = False) -> Callable[[], int]:
        ways = {"timeline": timeline, "tape": tape}
        return lambda: len(simulate(settled, "decoupled_diloco", 0, None, None, **ways).timeline)

    _, none, states, taped, silent, taught = measure.by_turns(
        kept(),
        kept(timeline=True),
        kept(tape=True),
        lambda: simulate(without, "decoupled_diloco", timeline=False),
        lambda: simulate(learning, "decoupled_diloco", timeline=False),
        rounds=2,
    )
    benchmark.pedantic(kept(), rounds=1)
    say = measure.say
    say("recording", "nothing, 6 hours of `four_regions_12b`", f"{none:.2f} s")
    say("recording", "its timeline and merges, looked at", f"{states / none:.2f} times")
    say("recording", "its tape", f"{taped / none:.2f} times")
    say("recording", "learning, 10 minutes of `convergence`", f"{taught / silent:.0f} times")
