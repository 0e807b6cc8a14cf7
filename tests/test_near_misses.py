"""A unit or a word that is nearly right is answered with all that it may mean, and never taken."""

from __future__ import annotations

import pytest
from scenario_text import problems_of

READINGS = [
    ("5 GBps", "5 Gbit/s", "40 Gbit/s"),
    ("5 MBps", "5 Mbit/s", "40 Mbit/s"),
    ("5 mbps", "5 Mbit/s", "40 Mbit/s"),
    ("100 Gb", "100 Gbit/s", "800 Gbit/s"),
    ("100 GB", "100 Gbit/s", "800 Gbit/s"),
    ("1 GiB/s", "1073741824 bit/s", "8589934592 bit/s"),
]


def said(**settings: object) -> str:
    """What is said of one setting."""
    named = {name.replace("__", "."): value for name, value in settings.items()}
    return problems_of("", named)


@pytest.mark.parametrize(("found", "in_bits", "in_bytes"), READINGS)
def test_a_rate_that_is_none_is_answered_with_both_readings(
    found: str, in_bits: str, in_bytes: str
) -> None:
    """Eight times one is the other."""
    assert f'in bits it would be "{in_bits}", in bytes "{in_bytes}"' in said(
        network__bandwidth=found
    )


def test_minutes_and_milliseconds_are_both_named() -> None:
    """To some ``m`` is the one, to some the other."""
    assert '"5 min" (minutes) or "5 ms" (milliseconds)?' in said(training__step_time="5m")


def test_nanoseconds_are_a_thousandth_of_a_microsecond() -> None:
    """The least unit that there is; a second is none that they resemble."""
    assert 'unknown unit "ns"; "0.25 us"? a time in us' in said(training__step_time="250 ns")


@pytest.mark.parametrize(
    ("found", "meant"),
    [("70B", "70e9"), ("7 M", "7e6"), ("1.5T", "1.5e12"), ("8k", "8e3"), ("7b", "7e9")],
)
def test_a_count_with_a_letter_is_spelled_out(found: str, meant: str) -> None:
    """As it can be written in a scenario."""
    assert f"did you mean {meant}?" in said(model__parameters=found)


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("cluster.gpus", "cluster.chips"),
        ("training.tau", "training.overlap_steps"),
        ("model.params", "model.parameters"),
        ("network.rtt", "network.latency"),
        ("failures.mtbf", "failures.chip_mtbi"),
    ],
)
def test_another_houses_word_is_answered_with_ours(path: str, meant: str) -> None:
    """Where that word would stand."""
    assert f'did you mean "{meant}"?' in said(**{path.replace(".", "__"): 8})


def test_what_overflows_has_no_reading() -> None:
    """It is refused like any other unit that is not known."""
    assert "in bits" not in said(network__bandwidth="1e300 GiB/s")
