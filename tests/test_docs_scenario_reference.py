"""The scenario reference has the whole schema."""

from __future__ import annotations

import re

import pytest
from scenario_reference import DOCUMENT, cell, document

from ddsim.scenario.describe import FieldRow, describe_fields

ROW = re.compile(
    r"^\| `(?P<path>[^`]+)` \| (?P<unit>.*?) ?\| (?P<default>.*?) ?\| (?P<rest>.+) \|$"
)


def listed() -> dict[str, tuple[str, str, str]]:
    """Unit, default and meaning of every path on the page."""
    found = map(ROW.match, DOCUMENT.read_text(encoding="utf-8").splitlines())
    return {row["path"]: (row["unit"], row["default"], row["rest"]) for row in found if row}


@pytest.mark.parametrize("row", describe_fields(), ids=lambda row: row.path)
def test_every_parameter_is_listed(row: FieldRow) -> None:
    """With its unit, its default and what it means."""
    assert row.path in listed(), f"{row.path}: run python tests/scenario_reference.py --write"
    assert listed()[row.path] == (cell(row.unit), cell(row.default), cell(row.meaning))
    assert row.meaning.endswith(".")


def test_nothing_else_is_listed() -> None:
    """A path that the schema has dropped is not on the page."""
    assert set(listed()) == {row.path for row in describe_fields()}


def test_every_parameter_has_a_default_or_is_a_section() -> None:
    """Only what holds other paths has no default of its own."""
    paths = [row.path for row in describe_fields()]
    for row in describe_fields():
        if not row.default:
            assert any(path.startswith(f"{row.path}.") for path in paths), row.path


def test_the_page_is_made_from_the_schema() -> None:
    """`python tests/scenario_reference.py --write` renews it."""
    assert DOCUMENT.read_text(encoding="utf-8") == document()
