"""Instants: with zones and without, numbers in units that are told apart by size and said."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pytest

from ddsim.logs.instants import Clock, InstantError, ZoneError, zone_named

AT = 1_690_000_000.0
FORM = "%a %b %d %H:%M:%S %Y"


def _read(values: Sequence[object], clock: Clock | None = None, **options: object) -> list[float]:
    series = pd.Series(list(values), dtype=object)
    found = (clock or Clock()).read(series, "t", **options)  # type: ignore[arg-type]
    return [float(value) for value in found]


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        ("1690000000", "seconds"),
        ("1690000000.0", "seconds"),
        (1690000000000, "milliseconds"),
        ("1690000000000000", "microseconds"),
        ("1690000000000000000", "nanoseconds"),
    ],
)
def test_numbers_since_1970_are_told_apart_by_size_and_said(value: object, unit: str) -> None:
    """Between 2000 and 2100 there is one unit for a number."""
    clock = Clock()
    assert _read([value], clock) == [AT]
    (said,) = clock.remarks()
    assert f"read as {unit} since 1970" in said
    assert "2023-07-22 04:26:40 UTC" in said


@pytest.mark.parametrize(
    ("values", "place"),
    [
        (["1690000000", "1690000000000"], 1),
        (["1690000000000", "1690000060000", "1690000000"], 2),
        (["2026-01-05", "1690000000"], 1),
        (["1690000000", "2026-01-05"], 1),
    ],
)
def test_a_column_that_mixes_units_is_refused(values: Sequence[str], place: int) -> None:
    """At the first row that is not like those before it."""
    with pytest.raises(InstantError, match=r"mixes|where rows before it are") as caught:
        _read(values)
    assert caught.value.places[0] == place


def test_a_unit_that_changes_from_one_chunk_to_the_next_is_refused() -> None:
    """What a column turned out to be holds for all of it."""
    clock = Clock()
    _read(["1690000000"], clock)
    with pytest.raises(InstantError):
        _read(["1690000000000"], clock)
    with pytest.raises(InstantError, match="mixes numbers and dates"):
        _read(["2026-01-05"], clock)


def test_a_number_whose_unit_cannot_be_told_needs_one() -> None:
    """Said with the option; with a unit the same number is read."""
    with pytest.raises(InstantError) as caught:
        _read(["86400"])
    assert "--unit" in caught.value.allowed
    assert _read(["86400"], unit="ms") == [86.4]


def test_zones_that_are_written_count() -> None:
    """And may differ from row to row, or lack in some."""
    clock = Clock()
    same = ["2023-07-22T04:26:40Z", "2023-07-22 12:26:40+08:00", "2023-07-22T04:26:40.000"]
    assert _read(same, clock) == [AT, AT, AT]
    assert "taken as UTC" in clock.remarks()[0]


def test_times_without_a_zone_are_those_of_the_zone_that_is_named() -> None:
    """What a clock shows twice in autumn is the earlier; what it skips in spring is moved on."""
    clock = Clock(zone_named("Europe/Berlin"))
    autumn, after = _read(["2026-10-25T02:30:00", "2026-10-25T03:30:00"], clock)
    assert after - autumn == 7_200.0
    skipped, after = _read(["2026-03-29T02:30:00", "2026-03-29T03:30:00"], clock)
    assert after - skipped == 1_800.0
    assert clock.remarks() == ["times without a zone: taken as Europe/Berlin"]


def test_other_forms_are_read_as_said() -> None:
    """After ISO 8601; a year that is not written is the one before the file's last change."""
    assert _read(["Sat Jul 22 04:26:40 2023"], forms=(FORM,)) == [AT]
    clock = Clock(written=AT)
    spring, autumn = _read(["Mar 1 00:00:00", "Nov 1 00:00:00"], clock, forms=("%b %d %H:%M:%S",))
    assert autumn < spring < AT
    assert "no year is written" in clock.remarks()[1]


def test_what_is_no_time_is_refused() -> None:
    """With what was found, and where."""
    with pytest.raises(InstantError, match='t is "soon"') as caught:
        _read(["2026-01-05", "soon"])
    assert caught.value.places.tolist() == [1]


def test_a_zone_that_is_not_there_is_refused() -> None:
    """With what was likely meant."""
    with pytest.raises(ZoneError, match='did you mean "Europe/Berlin"'):
        zone_named("Europe/Berln")
