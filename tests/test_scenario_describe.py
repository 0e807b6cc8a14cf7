import json
from collections.abc import Iterator
from typing import Any

import pytest
from scenario_text import scenario

from ddsim.scenario import describe_fields, schema_json
from ddsim.scenario.fields import Quantity
from ddsim.scenario.paths import UnknownPathError, resolve, slots
from ddsim.scenario.schema import Scenario

PATHS = [
    "seed",
    "duration",
    "methods",
    "study",
    "model.parameters",
    "model.layers",
    "training.step_time",
    "training.tokens_per_step",
    "training.tokens",
    "training.inner_steps",
    "training.fragments",
    "training.overlap_steps",
    "training.quorum",
    "training.grace",
    "training.payload_bits",
    "training.gradient_bits",
    "training.broadcast_bits",
    "cluster.chips",
    "cluster.chips_per_slice",
    "cluster.learners",
    "cluster.units",
    "cluster.jitter",
    "network.bandwidth",
    "network.latency",
    "network.efficiency",
    "failures.chip_mtbi",
    "failures.repair",
    "failures.detection",
    "failures.age_while_down",
    "elastic.downscale",
    "elastic.upscale",
    "elastic.stall_rule",
    "restart.time",
    "restart.stall_rule",
    "restart.spares",
    "checkpoint.policy",
    "checkpoint.interval",
    "checkpoint.save",
    "checkpoint.restore",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_public_path_exists(path: str) -> None:
    """Users' scripts name it."""
    assert resolve(path) == tuple(path.split("."))
    assert path in {row.path for row in describe_fields()}


def test_every_field_says_what_it_means() -> None:
    """A sentence each, and a unit where there is one."""
    for slot in slots(Scenario):
        meaning = slot.section.model_fields[slot.name].description or ""
        assert meaning.endswith("."), slot.path
        if isinstance(slot.kind, Quantity):
            assert slot.kind.unit, slot.path


def test_a_row_has_path_unit_default_and_meaning() -> None:
    """Defaults are spelled as files spell them."""
    rows = {row.path: row for row in describe_fields()}
    assert (rows["duration"].unit, rows["duration"].default) == ("s", "1 day")
    assert (rows["network.bandwidth"].unit, rows["network.bandwidth"].default) == (
        "bit/s",
        "unlimited",
    )
    assert (rows["seed"].unit, rows["seed"].default) == ("", "0")
    assert rows["chaos.N.for"].default == "never"
    assert rows["chaos.N.at"].default == "required"
    assert "absorb or extend" in rows["restart.stall_rule"].meaning


def test_a_described_default_is_the_default() -> None:
    """Giving it changes nothing."""
    plain = scenario()
    changed = {"cluster.learners", "cluster.chips_per_slice"}  # given by the scenario itself
    rows = {slot.path: row for slot, row in zip(slots(Scenario), describe_fields(), strict=True)}
    compared = 0
    for slot in slots(Scenario):
        field = slot.section.model_fields[slot.name]
        spelled = slot.kind and field.default is not None and not field.json_schema_extra
        if "N" not in slot.path and spelled and slot.path not in changed and field.default != "":
            text = rows[slot.path].default
            if field.default != ():
                assert scenario(overrides=[f"{slot.path}={text}"]) == plain, slot.path
                compared += 1
    assert compared > 20


def test_an_unknown_path_gets_the_nearest() -> None:
    """By its last part where it stands in another section, by the whole, else by its last part."""
    for wrong, right in (
        ("training.chip", "cluster.chip"),
        ("training.quorm", "training.quorum"),
        ("mtbi", "failures.chip_mtbi"),
    ):
        with pytest.raises(UnknownPathError, match=f'did you mean "{right}"'):
            resolve(wrong)


def objects(node: Any) -> Iterator[dict[str, Any]]:
    """Every schema of an object in a schema."""
    if isinstance(node, dict):
        if "properties" in node:
            yield node
        for item in node.values():
            yield from objects(item)
    elif isinstance(node, list):
        for item in node:
            yield from objects(item)


def test_the_json_schema_is_json_and_closed() -> None:
    """Editors refuse unknown keys, and show what each means."""
    schema = json.loads(json.dumps(schema_json(), allow_nan=False))
    assert schema["title"] == "ddsim scenario"
    found = list(objects(schema))
    assert len(found) > 10
    for item in found:
        open_for = {"type": "object"} if "exponential" in item["properties"] else False
        assert item["additionalProperties"] == open_for
    assert schema["$defs"]["Chaos"]["required"] == ["at", "fault", "target"]
    assert "for" in schema["$defs"]["Chaos"]["properties"]
    assert [item["type"] for item in schema["properties"]["duration"]["anyOf"]] == [
        "string",
        "object",  # a range, as every number may be
    ]
    assert all("default" not in item for item in schema["properties"].values())
