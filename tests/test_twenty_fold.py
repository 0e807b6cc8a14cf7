"""On four regions Decoupled DiLoCo outruns data-parallel training twenty-fold, and why."""

from __future__ import annotations

from math import prod

import pytest
from ratio_doc import printed, rows, table

import ddsim
from ddsim.results import Results

BANDWIDTHS = (2, 3, 4, 5)
BITS = (4, 16)
INNER_STEPS = 24


def compared(gbps: int, bits: int, duration: str = "90 min") -> Results:
    """Both methods on the scenario's failures."""
    changes = {
        "network.bandwidth": f"{gbps} Gbit/s",
        "training.payload_bits": bits,
        "duration": duration,
    }
    scenario = ddsim.load("four_regions_12b", changes)
    return ddsim.run(scenario, ["data_parallel", "decoupled_diloco"])


@pytest.mark.slow
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("gbps", BANDWIDTHS)
def test_twenty_times_the_tokens_at_every_bandwidth(gbps: int, bits: int) -> None:
    """At least 20 times as many tokens an hour, whether outer gradients have 4 bits or 16."""
    results = compared(gbps, bits)
    ratio = results.ratio("decoupled_diloco")
    assert ratio is not None
    assert ratio >= 20.0
    for result in results.results:
        assert sum(result.accounts.values()) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.slow
def test_at_five_gigabits_all_is_hidden() -> None:
    """At 5 Gbit/s and 4 bits compute is at least 0.95 of compute and waits."""
    assert compared(5, 4, "40 min")["decoupled_diloco"].compute_utilization >= 0.95


@pytest.fixture(scope="module")
def ratios() -> list[dict[str, float]]:
    """The table of docs/ratio.md, made afresh."""
    return rows(printed())


@pytest.mark.slow
def test_the_page_has_the_table_that_its_code_prints(ratios: list[dict[str, float]]) -> None:
    """`python tests/ratio_doc.py --write` renews it."""
    assert rows(table()) == ratios
    assert [(row["bits"], row["Gbit/s"]) for row in ratios] == [
        (bits, gbps) for bits in BITS for gbps in BANDWIDTHS
    ]


@pytest.mark.slow
def test_the_factors_multiply_to_the_ratio(ratios: list[dict[str, float]]) -> None:
    """Sending less often, fewer bits and hiding are all of it, and none of them is a loss."""
    for row in ratios:
        factors = [row[name] for name in ("less often", "fewer bits", "hiding")]
        assert prod(factors) == pytest.approx(row["ratio"], rel=0.01)
        assert min(factors) >= 1.0
        assert (row["fewer bits"] == 1.0) == (row["bits"] == 16)


@pytest.mark.slow
def test_thin_links_make_the_ratio_that_of_the_bytes(ratios: list[dict[str, float]]) -> None:
    """Bytes per step fall by H and by the bits; that is the ratio until compute is the limit."""
    for row in ratios:
        bytes_ratio = INNER_STEPS * 16 / row["bits"]
        assert row["bytes"] == pytest.approx(bytes_ratio, rel=0.02)
        if row["utilization"] < 0.9:
            assert row["ratio"] == pytest.approx(bytes_ratio, rel=0.03)
        else:
            assert row["ratio"] <= bytes_ratio * 1.03
