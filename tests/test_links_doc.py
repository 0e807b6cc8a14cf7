"""The page on links: its tables are what their functions make, its example is a network."""

from __future__ import annotations

import re

import pytest
from links_doc import MAKERS, PAGE, blocks
from scenario_text import LEAST

from ddsim.scenario import read_text, validate
from ddsim.scenario.hops import hop_streams


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "losses")) for name in MAKERS]
)
def test_a_table_is_what_its_function_makes(name: str) -> None:
    """Character by character."""
    assert blocks()[name] == MAKERS[name]()


def test_every_table_of_the_page_has_a_function() -> None:
    """And every function its table."""
    assert set(blocks()) == set(MAKERS)


def test_the_pages_streams_make_a_network() -> None:
    """The example is a valid part of a scenario, and the poorer end decides."""
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    made = validate(read_text(LEAST + example))
    found = hop_streams(made.network, "west", "east")
    assert found is not None
    assert found.count == 8
