"""The page on bandwidth: its tables are what their functions make, its links can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bandwidth_doc import MAKERS, PAGE, blocks
from scenario_text import LEAST

from ddsim.scenario import read_text, validate
from ddsim.world.network import Network


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_a_table_is_what_its_function_makes(name: str) -> None:
    """Character by character."""
    assert blocks()[name] == MAKERS[name]()


def test_every_table_of_the_page_has_a_function() -> None:
    """And every function its table."""
    assert set(blocks()) == set(MAKERS)


def test_the_pages_links_make_a_network(tmp_path: Path) -> None:
    """The example is a valid part of a scenario."""
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "west.csv").write_text("time_s,bit_per_s\n0,1e9\n3600,2e9\n")
    made = validate(read_text(LEAST + example, folder=str(tmp_path)))
    assert set(Network(made).lines) >= {"up:east", "down:west", "west>east"}
