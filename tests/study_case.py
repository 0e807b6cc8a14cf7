"""A small scenario for studies, whose runs take milliseconds."""

from __future__ import annotations

from pathlib import Path

import ddsim
from ddsim.scenario import Scenario

SMALL = """\
name: small
duration: 2 h
methods:
  - data_parallel: {checkpoint.policy: in_memory}
  - elastic_data_parallel
model: {parameters: 8e9, layers: 32}
training: {step_time: 2 s, tokens_per_step: 4e6}
cluster: {chips: 256, chips_per_slice: 16, learners: 2}
failures: {chip_mtbi: 20 day, repair: 20 min, detection: 10 s}
elastic: {downscale: 10 s, upscale: 10 s}
restart: {time: 75 s, stall_rule: absorb, spares: 1}
"""
TABLES = ("cells.csv", "differences.csv", "losses.csv", "replications.csv")


def small_file(folder: Path, more: str = "") -> Path:
    """Write the scenario into a folder."""
    path = folder / "small.yaml"
    path.write_text(SMALL + more)
    return path


def small(folder: Path, more: str = "") -> Scenario:
    """Load the scenario."""
    return ddsim.load(small_file(folder, more))


def tables_of(folder: Path) -> dict[str, bytes]:
    """The bytes of the tables that a study left."""
    return {name: (folder / name).read_bytes() for name in TABLES}
