"""The schema for readers and editors, and a scenario to start from; all from the models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ddsim.naming import listed
from ddsim.scenario.fields import Choice
from ddsim.scenario.paths import Slot, slots
from ddsim.scenario.resolved import unpacked
from ddsim.scenario.schema import Scenario
from ddsim.scenario.section import Section, is_required


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One scenario path: its unit ("" for texts and bare numbers), default and meaning."""

    path: str
    unit: str
    default: str
    meaning: str


def describe_fields() -> list[FieldRow]:
    """Every path that a scenario may give, in the order of the schema.

    ``N`` in a path stands for the number of an item, ``NAME`` for a region's name.
    """
    return [_row(slot) for slot in slots(Scenario)]


def _row(slot: Slot) -> FieldRow:
    field = slot.section.model_fields[slot.name]
    meaning = field.description or ""
    if isinstance(slot.kind, Choice):
        meaning = f"{meaning} One of {listed(slot.kind.words)}."
    unit = slot.kind.unit if slot.kind else ""
    return FieldRow(slot.path, unit, default_text(slot), meaning)


def default_text(slot: Slot) -> str:
    """The default as files spell it, "required" where there is none, "" for sections."""
    field = slot.section.model_fields[slot.name]
    if is_required(slot.section, slot.name):
        return "required"
    extra = field.json_schema_extra
    if isinstance(extra, dict) and extra.get("otherwise"):
        return str(extra["otherwise"])
    default = field.default
    if default is None:
        return "none"
    if isinstance(default, Section) or default == ():
        return "" if isinstance(default, Section) else "none"
    written = unpacked(slot.kind.write(default)) if slot.kind else default
    if isinstance(written, bool):
        return "true" if written else "false"
    return str(written) or "none"


def schema_json() -> dict[str, Any]:
    """The JSON Schema of a scenario file, for editors."""
    schema = Scenario.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "ddsim scenario"
    _tidy(schema)
    return schema


def _tidy(node: Any) -> None:
    """Move what only ddsim reads out of the schema; ``required`` as JSON Schema wants it."""
    if isinstance(node, list):
        for item in node:
            _tidy(item)
        return
    if not isinstance(node, dict):
        return
    properties = node.get("properties")
    if isinstance(properties, dict):
        needed = [
            key
            for key, item in properties.items()
            if isinstance(item, dict) and item.get("required") is True
        ]
        for item in properties.values():
            _tidy_property(item)
        if needed:
            node["required"] = needed
    for item in node.values():
        _tidy(item)


def _tidy_property(item: Any) -> None:
    if isinstance(item, dict):
        if item.get("required") is True:
            del item["required"]
        item.pop("otherwise", None)
        item.pop("default", None)  # in SI units, which a file may not give


def starter() -> str:
    """The text of a commented scenario to start from; it loads as it stands."""
    return _STARTER


_STARTER = """\
# A ddsim scenario. Run it with `ddsim run FILE`, check it with `ddsim check FILE`.
# Quantities carry units ("5 Gbit/s", "20 min", "1 yr"); `unlimited` and `never` are no limit and
# no failure. What is commented out shows its default.

name: my_training_run
description: Two regions train an 8B model
seed: 1
duration: 1 day

# Names, or `name: {path: value}` for settings of one method alone.
methods:
  - data_parallel: {checkpoint.policy: in_memory}
  - elastic_data_parallel
  - diloco
  - streaming_diloco
  - decoupled_diloco

model:
  parameters: 8e9
  layers: 32

training:
  step_time: 2 s                # pure compute of one step; or cluster.chip, mfu, tokens_per_step
  tokens_per_step: 4_194_304    # of all units together
  inner_steps: 24               # H: each fragment is exchanged once in so many steps
  fragments: 24                 # P
  overlap_steps: 2              # tau: a transfer may take so many steps before anyone waits
  quorum: 1                     # K: learners that open a merge
  payload_bits: 4               # of outer gradients
  # gradient_bits: 16           # of the gradients that data_parallel reduces
  # grace: 0.9

cluster:
  chips: 1024
  chips_per_slice: 64           # what one failure takes out
  learners: 2                   # equal units; or `units:`, a list of {name, region, chips, speed}
  # jitter: 0.0                 # relative spread of a step's compute

network:
  bandwidth: 5 Gbit/s           # WAN access of each region, each way
  latency: 30 ms
  efficiency: 0.8               # what a transfer really gets of it
  regions: [east, west]

failures:
  chip_mtbi: 1 yr               # mean time between interruptions of one chip
  repair: 20 min                # or a distribution: {lognormal: {median: 20 min, sigma: 0.8}}
  detection: 10 s

elastic:
  downscale: 10 s
  upscale: 10 s

restart:
  time: 75 s
  # spares: 0                   # on top of cluster.chips: slices that go in for failed ones

# Faults at given times, besides the random ones:
# chaos:
#   - {at: 2 h, fault: kill, target: unit 0, for: 1 h}
#   - {at: 5 h, fault: throttle, target: east, to: 500 Mbit/s, for: 30 min}

# Any number may be a range, {low: 5 s, high: 20 s}: `ddsim sweep` draws from it.
# prices: {chip_hour: 2 USD}
# power: {chip: 450 W}

# What tokens are worth, as hours and USD to a loss by a published law:
# quality: {law: chinchilla_besiroglu, tokens_per_parameter: 20}

# What `ddsim sweep` varies:
# study:
#   network.bandwidth: [1 Gbit/s, 5 Gbit/s, 20 Gbit/s]
"""
