"""The page on what is merged: its tables, and what it says of links."""

from __future__ import annotations

import pytest
from merging_doc import GBPS, JITTERS, MAKERS, QUORUMS, TIMEOUTS, blocks
from scenario_text import scenario

import ddsim


def rows(name: str) -> list[list[str]]:
    """A table's rows without its head."""
    lines = blocks()[name].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_table_of_the_page_has_a_function() -> None:
    """And every function its table."""
    assert set(blocks()) == set(MAKERS)


def test_the_table_of_shares_has_every_cell() -> None:
    """A row each bandwidth and jitter, a column each quorum, shares in all of them."""
    found = rows("shares")
    assert len(found) == len(GBPS) * len(JITTERS)
    assert all(0.0 < float(cell) <= 1.0 for row in found for cell in row[2:])
    assert {len(row) for row in found} == {2 + len(QUORUMS)}


def test_the_plan_chooses_what_the_sweep_finds_best() -> None:
    """Within a hundredth of the best merged goodput of all."""
    for _, _, best, _, chosen, _ in rows("choices"):
        assert float(chosen) >= 0.99 * float(best)


def test_the_best_timeout_is_neither_the_shortest_nor_never() -> None:
    """It is worth a sweep."""
    found = [float(row[2]) for row in rows("patience")]
    assert len(found) == len(TIMEOUTS)
    assert max(found) > 1.05 * max(found[0], found[-1])


def merged(fault: str, timeout: str) -> float:
    """Merged goodput of four regions, the link of one of which is bad for eight minutes."""
    bad = {"at": "4 min", "fault": fault, "target": "region 2", "for": "8 min"}
    changes = {
        "duration": "20 min",
        "training.inner_steps": 20,
        "training.fragments": 10,
        "training.payload_bits": 4,
        "cluster.jitter": 0.02,
        "network": {"bandwidth": "2 Gbit/s", "ring_timeout": timeout},
        "chaos": [bad | ({"to": "50 Mbit/s"} if fault == "throttle" else {})],
    }
    result = ddsim.run(scenario("", changes), ["decoupled_diloco"])
    return result["decoupled_diloco"].merged_goodput


@pytest.mark.slow
def test_with_a_timeout_a_cut_link_is_better_than_a_slow_one() -> None:
    """The ring goes on without the one, and waits for the other."""
    assert merged("cut", "30 s") > 1.1 * merged("throttle", "30 s")


@pytest.mark.slow
def test_without_a_timeout_a_cut_link_is_no_better_than_a_slow_one() -> None:
    """All wait for either."""
    assert merged("cut", "never") < merged("throttle", "never")
