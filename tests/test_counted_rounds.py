"""Rounds of slots that are all alike are counted at once: that changes nothing but the cost."""

from __future__ import annotations

from typing import Any

import pytest

from ddsim.engine import recorder
from ddsim.results import MethodResult
from ddsim.scenario import read_text, validate
from ddsim.simulation import simulate

pytestmark = [pytest.mark.usefixtures("compiled_slots"), pytest.mark.slow]

TEXT = """\
duration: 3 h
methods: [decoupled_diloco]
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s, tokens_per_step: 64, inner_steps: 12, fragments: 12}
cluster: {chips: 64, chips_per_slice: 4, learners: 4}
network: {bandwidth: 5 Gbit/s, latency: 20 ms}
failures: {chip_mtbi: 2 day, repair: 10 min, detection: 2 s}
elastic: {downscale: 8.3 s, upscale: 10.6 s}
"""
CASES: list[dict[str, Any]] = [
    {},
    {"training.quorum": 3},
    {"training.quorum": 4, "training.grace": 0},
    {"training.fragments": 4, "training.overlap_steps": 5},
    {"training.fragments": 6, "seed": 3},
    {"training.fragments": 24, "seed": 4},
    {"network.bandwidth": "unlimited", "failures.chip_mtbi": "never"},
    {"training.apply": "at_tau", "training.payload_bits": 4},
    {"training.apply": "at_tau", "network.bandwidth": "unlimited", "seed": 2},
]


def run(settings: dict[str, Any], *, counted: bool) -> MethodResult:
    """The case's only result."""
    scenario = validate(read_text(TEXT, "rounds.yaml").with_overrides(settings))
    return simulate(scenario, "decoupled_diloco", every_slot=not counted)


@pytest.mark.parametrize("settings", CASES, ids=str)
def test_rounds_counted_at_once_are_those_of_every_slot(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Accounts, steps, merges and what they were like agree; the record of merges is full."""
    monkeypatch.setattr(recorder, "RECORDED_MERGES", 30)
    one, other = run(settings, counted=True), run(settings, counted=False)
    assert one.accounts == pytest.approx(other.accounts, abs=1e-9)
    assert one.events < 0.8 * other.events
    for name in ("steps", "tokens", "tokens_merged", "merged_share", "participation", "uptime"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9), name
    assert one.wan == other.wan | {
        name: pytest.approx(other.wan[name], rel=1e-6)
        for name in ("mean_gbps", "peak_gbps", "total_bytes")
    }
    merges, others = one.extra["merges"], other.extra["merges"]
    assert merges.keys() == others.keys()
    for name, spread in merges.items():
        assert spread == pytest.approx(others[name], rel=1e-6), name


def test_a_month_without_failures_takes_no_more_events_than_a_day() -> None:
    """What is alike is not stepped through, however long it lasts."""
    calm = {"failures.chip_mtbi": "never"}
    day, month = ({**calm, "duration": length} for length in ("1 day", "30 day"))
    assert run(month, counted=True).events == run(day, counted=True).events
    assert run(month, counted=True).steps == 30 * 86400 - 1


def test_several_fragments_a_step_are_noted_once() -> None:
    """Streaming DiLoCo's, of which some arrive in the step in which they leave."""
    text = """\
duration: 60 s
methods: [streaming_diloco]
model: {parameters: 1e8, layers: 2}
training: {step_time: 2 s, inner_steps: 1, fragments: 2}
cluster: {units: [{chips: 1}, {chips: 1}]}
network: {latency: 20 ms}
"""
    scenario = validate(read_text(text, "rounds.yaml"))
    one, other = (
        simulate(scenario, "streaming_diloco", every_slot=every_slot)
        for every_slot in (False, True)
    )
    noted = [(merge.slot, merge.fragments) for merge in one.merges]
    assert len(noted) == len(set(noted))
    assert one.merges == other.merges
