"""Where a scenario's numbers come from, as its comments say it."""

from __future__ import annotations

from pathlib import Path

import pytest

import ddsim
from ddsim.report.scenario import rests_on
from ddsim.results import Results
from ddsim.scenario.given import prose_of, settings_of

TEXT = """\
# What is it?
#
# Where the numbers come from
#   published: H = 24, chip_mtbi of 1 year
#     (a paper).
#   assumed: all else.

name: sample
description: "a # in quotes"
methods:
  - data_parallel: {checkpoint.policy: in_memory}
  - diloco
training:
  inner_steps: 24
  grace: 0.9   # assumed: below 1
cluster:
  chips: 64
  chip: v5p    # 459 TFLOP/s (arXiv 1)
  mfu: 0.4     # a guess
failures: {chip_mtbi: 1 yr}
# set beside this file:
#   cluster.chips=128
#   --method diloco
"""


def test_comments_say_what_is_published_and_what_assumed() -> None:
    """Beside the value, else at the top; what was set beside the file is neither."""
    found = {item.path: (item.basis, item.value) for item in settings_of(TEXT)}
    assert found == {
        "methods.data_parallel.checkpoint.policy": ("given", "in_memory"),
        "training.inner_steps": ("published", "24"),
        "training.grace": ("assumed", "0.9"),
        "cluster.chip": ("published", "v5p"),
        "cluster.mfu": ("noted", "0.4"),
        "failures.chip_mtbi": ("published", "1 yr"),
        "cluster.chips": ("set", "128"),
    }
    assert rests_on(TEXT) == (
        "3 published, 1 assumed, 1 with a note, 1 given without a comment, 1 set for this run; "
        "all else at its default"
    )


def test_the_top_of_a_file_is_read_by_paragraphs() -> None:
    """Lines that go on belong together; a topic begins anew."""
    assert prose_of(TEXT) == [
        "What is it?",
        "Where the numbers come from",
        "published: H = 24, chip_mtbi of 1 year (a paper).",
        "assumed: all else.",
    ]


def test_a_result_keeps_the_scenario_as_it_was_written(tmp_path: Path) -> None:
    """With what was set beside it; read back, and counted in the report's head."""
    world = ddsim.load("four_regions_12b", {"duration": "60 s", "training.quorum": 2})
    results = ddsim.run(world, ["data_parallel"])
    results.save(tmp_path)
    again = Results.load(tmp_path)
    assert again.given == results.given
    found = {item.path: item for item in settings_of(again.given)}
    assert found["training.quorum"].basis == found["duration"].basis == "set"
    assert found["cluster.mfu"].basis == "assumed"
    assert ddsim.load(tmp_path / "given.yaml").name == "four_regions_12b"


@pytest.mark.parametrize("name", ["four_regions_12b", "llama3_16k"])
def test_shipped_scenarios_say_where_their_numbers_come_from(name: str) -> None:
    """At least half of their settings, beside the number or at the top."""
    found = settings_of(ddsim.load(name).as_written)
    assert sum(item.basis != "given" for item in found) >= len(found) / 2
