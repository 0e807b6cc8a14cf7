"""The protocol taken by hand, and as machine code: the same to the bit."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from naive.random_cases import random_case
from protocol_runs import (
    METHODS,
    as_machine_code,
    by_hand,
    least_steps,
    little_room,
    of_case,
    of_world,
)
from protocol_worlds import HANDED_OVER, STREAMS, TIES, TIES_BASE, WORLDS

from ddsim.methods.local import compiling
from ddsim.methods.local import protocol as k

ALL_WORLDS = WORLDS | HANDED_OVER
BUSY = ("a unit lost that has to copy", "a policy", "lost replicas", "saves that cost")


def assert_both_alike(run: Any) -> None:
    """Assert that a run by hand and one as machine code tell the same, to the last bit."""
    with by_hand():
        expected = run()
    with as_machine_code():
        assert run() == expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("method", METHODS)
def test_a_random_case_is_the_same(method: str, seed: int) -> None:
    """Accounts, merges with their weights, the timeline, bits, steps and tokens."""
    assert_both_alike(lambda: of_case(random_case(seed, method)))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_streams_that_start_slowly_are_the_same(method: str) -> None:
    """Windows and round trips."""
    short = {**STREAMS["streams that are cut"], "duration": "10 min"}
    assert_both_alike(lambda: of_world(short, method))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 40))
@pytest.mark.parametrize("method", METHODS)
def test_more_random_cases_are_the_same(method: str, seed: int) -> None:
    """Like those before, among them those in which every step has a compute of its own."""
    assert_both_alike(lambda: of_case(random_case(seed, method)))


@pytest.mark.slow
@pytest.mark.parametrize("world", BUSY)
def test_a_short_world_is_the_same(world: str) -> None:
    """In which the protocol hands over what others know, an hour and a half of it."""
    short = {"duration": "75 min", **ALL_WORLDS[world]}
    assert_both_alike(lambda: of_world(short, "decoupled_diloco"))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("world", ALL_WORLDS)
def test_every_world_is_the_same(world: str, method: str) -> None:
    """Whatever others have to be asked about, nobody steps through anything because of it."""
    assert_both_alike(lambda: of_world(ALL_WORLDS[world], method))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tie", TIES)
def test_an_instant_has_one_order(tie: str, method: str) -> None:
    """Whatever else happens at it."""
    text = json.dumps({**TIES_BASE, **TIES[tie]})
    assert_both_alike(lambda: of_world({}, method, text=text))


@pytest.mark.slow
def test_machine_code_is_what_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """As machine code that of Python is not called, and by hand no other."""
    asked: list[k.State] = []
    case = random_case(0, "decoupled_diloco")
    with as_machine_code():
        of_case(case)  # so that it is compiled
    machine_code = compiling.compiled

    def noted(state: k.State) -> Any:
        asked.append(state)
        return machine_code(state)

    monkeypatch.setattr(compiling, "compiled", noted)
    with by_hand():
        of_case(case)
    assert not asked
    monkeypatch.setattr(k, "advance", None)
    with as_machine_code():
        of_case(case)
    assert len(asked) == 1


@pytest.mark.slow
@pytest.mark.parametrize("waits", [1, 2, 5, 9])
def test_a_run_goes_on_as_machine_code_once_there_is_some(
    monkeypatch: pytest.MonkeyPatch, waits: int
) -> None:
    """It is taken by hand until then, and tells the same to the last bit."""
    case = random_case(3, "decoupled_diloco")
    asked = 0

    def at_hand(state: k.State) -> compiling.MachineCode | None:
        nonlocal asked
        asked += 1
        return compiling.compiled(state) if asked > waits else None

    with by_hand():
        expected = of_case(case)
    monkeypatch.setattr(compiling, "at_hand", at_hand)
    with least_steps(0.0), little_room():
        found = of_case(case)
    assert asked > waits
    assert found == expected


def test_another_process_compiles_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where none is on disk, and until that process is done, there is no machine code at hand."""
    monkeypatch.setattr(compiling, "_COMPILED", [])
    monkeypatch.setattr(compiling, "_ELSEWHERE", [])
    monkeypatch.setattr(compiling, "_kept", lambda layout: False)
    monkeypatch.setattr(compiling, "_APART", "import sys; sys.stdin.read()")
    made: list[k.State] = []
    monkeypatch.setattr(compiling, "MachineCode", made.append)
    arrays: list[Any] = [np.empty(0, np.int64) for _ in k.State._fields]
    state = k.State(*arrays)
    assert compiling.at_hand(state) is None
    (process,) = compiling._ELSEWHERE
    assert compiling.at_hand(state) is None
    assert not made
    process.communicate()  # its input ends, as it does with this process
    assert process.returncode == 0
    compiling.at_hand(state)
    assert made == [state]


SHORT = """\
import sys
import ddsim
text = '''
duration: {duration}
methods: [decoupled_diloco, streaming_diloco, diloco]
model: {{parameters: 1e9, layers: 24}}
training: {{step_time: 1 s, tokens_per_step: 64}}
cluster: {{chips: 8, chips_per_slice: 4, learners: 2}}
'''
from ddsim.loading import load_text
ddsim.run(load_text(text))
print("numba" in sys.modules)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("duration", "loaded"), [("2 h", "False"), ("3 h", "True")])
def test_short_runs_do_not_load_a_compiler(duration: str, loaded: str) -> None:
    """Two learners for two hours of steps of a second; three hours are worth it."""
    code = SHORT.format(duration=duration)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == loaded
