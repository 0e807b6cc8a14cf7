import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddsim.scenario.units import (
    BANDWIDTH,
    DIMENSIONS,
    TIME,
    Dimension,
    QuantityError,
    read_quantity,
    size_of,
    write_quantity,
)


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("5 Gbit/s", BANDWIDTH, 5e9),
        ("5Gbit/s", BANDWIDTH, 5e9),
        (" 5  Gbit / s ", BANDWIDTH, 5e9),
        ("1_000 kbit/s", BANDWIDTH, 1e6),
        ("60 Mbit/min", BANDWIDTH, 1e6),
        ("1e-3 Tbit/s", BANDWIDTH, 1e9),
        ("30 ms", TIME, 0.03),
        (".5 s", TIME, 0.5),
        ("20 min", TIME, 1200.0),
        ("20 minutes", TIME, 1200.0),
        ("2 h", TIME, 7200.0),
        ("1 day", TIME, 86400.0),
        ("1 yr", TIME, 365.25 * 86400.0),
    ],
)
def test_a_quantity_is_read_in_base_units(text: str, dimension: Dimension, value: float) -> None:
    """Times are in s, bandwidths in bit/s."""
    assert read_quantity(text, dimension) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text",
    ["5 Gb/s", "5 gbit/s", "5 Gbps", "5 m", "5 bit/s/s", "5 Gbit/s 3", "Gbit/s", "5*2 Gbit/s", "5"],
)
def test_what_is_not_of_the_closed_set_is_refused(text: str) -> None:
    """No unit is guessed, no expression computed."""
    with pytest.raises(QuantityError):
        read_quantity(text, BANDWIDTH)


def test_bytes_a_second_are_not_a_bandwidth() -> None:
    """The message says what the same rate is in bits."""
    with pytest.raises(QuantityError, match=r"5 GB/s would be 40 Gbit/s"):
        read_quantity("5 GB/s", BANDWIDTH)


@pytest.mark.parametrize("dimension", DIMENSIONS, ids=lambda dimension: dimension.name)
def test_every_unit_that_a_message_names_fits(dimension: Dimension) -> None:
    """What a message recommends is accepted."""
    assert math.isfinite(read_quantity(dimension.example, dimension))
    for unit in dimension.units:
        assert read_quantity(f"1 {unit}", dimension) == size_of(unit)


@given(st.floats(min_value=0.0, max_value=1e308), st.sampled_from(DIMENSIONS))
def test_what_is_written_reads_back_the_same(value: float, dimension: Dimension) -> None:
    """Not a bit is lost between a value and its text."""
    assert read_quantity(write_quantity(value, dimension), dimension) == value


def test_a_quantity_is_written_in_the_unit_that_is_shortest() -> None:
    """Round values stay round."""
    assert write_quantity(1200.0, TIME) == "20 min"
    assert write_quantity(31557600.0, TIME) == "1 yr"
    assert write_quantity(5e9, BANDWIDTH) == "5 Gbit/s"
    assert write_quantity(0.0, TIME) == "0 s"
