"""Whatever the schema accepts runs, and keeps the laws that every run has to keep."""

from __future__ import annotations

import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from random_scenarios import scenarios

import ddsim

UNTIMED = ("elapsed_s", "version")
SHARES = (
    "goodput",
    "time_goodput",
    "uptime",
    "merge_uptime",
    "participation",
    "merged_share",
    "compute_utilization",
    "ettr",
)
ROUNDING = 1e-9


def run(text: str) -> ddsim.Results:
    """Load a file with this text and run it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "drawn.yaml"
        path.write_text(text, encoding="utf-8")
        return ddsim.run(ddsim.load(path))


def without_times(document: dict[str, Any]) -> str:
    """The document as JSON, without what the simulator's own speed decides."""
    results = [{k: v for k, v in item.items() if k not in UNTIMED} for item in document["results"]]
    kept = {key: value for key, value in document.items() if key not in UNTIMED}
    return json.dumps(kept | {"results": results}, allow_nan=False)


def numbers(value: Any) -> list[float]:
    """All numbers in a JSON document."""
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers(item)]
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    return [value] if isinstance(value, int | float) else []


HURRIED = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.slow
@given(scenarios())
@HURRIED
def test_what_the_schema_accepts_keeps_the_laws(text: str) -> None:
    """It runs; accounts close; shares lie in [0, 1]; all is finite; a rerun is the same."""
    assert_laws(text)


@pytest.mark.slow
@given(scenarios(deep=True))
@HURRIED
def test_causes_and_links_that_vary_keep_the_laws(text: str) -> None:
    """The same with causes of failures, maintenance, bursts, slow parts and varying links."""
    assert_laws(text)


def assert_laws(text: str) -> None:
    """Run a scenario and hold it to every law that has no exception."""
    results = run(text)
    document = results.to_dict(beside=True)
    for item in results.results:
        assert math.fsum(item.accounts.values()) == pytest.approx(1.0, abs=1e-9)
        assert min(item.accounts.values()) >= -ROUNDING
        for name in SHARES:
            share = getattr(item, name)
            assert share is None or -ROUNDING <= share <= 1.0 + ROUNDING, (item.method, name)
        assert item.steps >= 0
        assert item.tokens >= -ROUNDING
        seconds = math.ceil(item.wall_clock_s)  # each of which carries the peak at most
        sent = item.wan["mean_gbps"] * item.wall_clock_s
        assert sent <= item.wan["peak_gbps"] * seconds * (1 + 1e-6)
        for span in item.timeline:
            assert 0.0 <= span.start < span.end <= item.wall_clock_s * (1 + ROUNDING)
        for merge in item.merges:
            assert merge.start <= merge.arrival
    assert all(math.isfinite(number) for number in numbers(document))
    assert without_times(run(text).to_dict(beside=True)) == without_times(document)
