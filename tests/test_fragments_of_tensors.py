"""Fragments that are packed from whole tensors, and what of them crosses the links."""

from __future__ import annotations

from typing import Any

import pytest

import ddsim
from ddsim.results import MethodResult
from ddsim.scenario import read_text, validate

TEXT = """\
duration: 10 min
methods: [decoupled_diloco]
model: {parameters: 2e9, layers: 24}
training: {step_time: 10 s, inner_steps: 2, fragments: 2, payload_bits: 4}
cluster: {chips: 16, chips_per_slice: 4, learners: 2}
network: {bandwidth: 1 Gbit/s, latency: 0 s, regions: [here, there]}
"""


def run(tensors: dict[str, Any]) -> MethodResult:
    """What comes of a model of these tensors."""
    document = read_text(TEXT, "tensors.yaml").with_overrides({"model.tensors": tensors})
    return ddsim.run(validate(document)).results[0]


def test_a_fragment_takes_as_long_as_its_tensors_are_large() -> None:
    """Three quarters of 8 Gbit in one fragment, a quarter in the other, at 1 Gbit/s."""
    result = run({"embedding": 300, "block": 60, "head": 40})
    took = {merge.fragments: merge.arrival - merge.start for merge in result.merges}
    assert took == {(0,): pytest.approx(6.0), (1,): pytest.approx(2.0)}


def test_only_the_ratios_of_tensors_count() -> None:
    """Tensors of equal fragments change nothing; neither does their unit."""
    plain, equal = run({}), run({"a": 5, "b": 3, "c": 2})
    assert equal.accounts == pytest.approx(plain.accounts)
    assert equal.wan["total_bytes"] == pytest.approx(plain.wan["total_bytes"])
    large, small = run({"a": 3e9, "b": 1e9}), run({"a": 3, "b": 1})
    assert [merge.arrival for merge in large.merges] == [merge.arrival for merge in small.merges]
