"""Runs of the protocol by hand and as machine code, with all that they tell of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from math import inf
from typing import Any

import pytest
from naive.case import Case, no_jitter
from naive.random_cases import random_case
from naive_cases import EngineResult, run_engine
from protocol_worlds import TEXT

from ddsim.engine import recorder
from ddsim.methods.local import arrays, compiling, driver
from ddsim.scenario import Known, read_text, validate
from ddsim.simulation import simulate

METHODS = ("decoupled_diloco", "streaming_diloco", "diloco")
COST = {"events", "elapsed_s"}
DIGITS = 2e-3  # quantiles have four of them


@contextmanager
def least_steps(least: float) -> Iterator[None]:
    """Let runs of so many steps or more be machine code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "LEAST_STEPS", least)
        yield


def by_hand() -> Any:
    """Take every step by hand."""
    return least_steps(inf)


@contextmanager
def as_machine_code() -> Iterator[None]:
    """Leave every step to machine code, however long it takes to compile."""
    with least_steps(0.0), pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "at_hand", lambda state: compiling.compiled(state))
        yield


@contextmanager
def little_room(*, margin: int = 0, tallied: int = 2, drawn: int = 3) -> Iterator[None]:
    """Give buffers little more than what one instant can bring."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "MARGIN", margin)
        patch.setattr(arrays, "TALLIED", tallied)
        patch.setattr(arrays, "DRAWN_AT_ONCE", drawn)
        yield


@contextmanager
def few_notes() -> Iterator[None]:
    """Keep eight merges of a run: the first that are noted can't be passed over."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorder, "RECORDED_MERGES", 8)
        yield


def of_world(
    overrides: dict[str, Any], method: str, *, text: str = TEXT, every_slot: bool = False
) -> dict[str, Any]:
    """All that a world tells with these settings, but what it cost."""
    document = read_text(text, "protocol.yaml").with_overrides({**overrides, "methods": [method]})
    scenario = validate(document, Known(methods=METHODS)).for_method(method)
    found = asdict(simulate(scenario, method, every_slot=every_slot))
    return {name: value for name, value in found.items() if name not in COST}


def of_case(case: Case, *, every_slot: bool = False) -> dict[str, Any]:
    """All that a case of the naive model tells."""
    return told(run_engine(case, every_slot=every_slot))


def told(result: EngineResult) -> dict[str, Any]:
    """What a run tells of itself."""
    recorder = result.run.recorder
    return {
        "accounts": result.accounts(),
        **asdict(result.outcome),
        "merges": [merge._asdict() for merge in recorder.merges],
        "timeline": [span._asdict() for span in recorder.timeline()],
        "bits": result.run.meter.bits,
        "strikes": result.strikes,
    }


def long_case(seed: int, *, times: int = 60) -> Case:
    """A random case that goes on long after its last strike."""
    case = random_case(seed, "decoupled_diloco")
    return replace(case, jitter=no_jitter, duration=case.duration * times)


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
