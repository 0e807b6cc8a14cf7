"""A scenario written out in full, with units, so that loading it gives the same scenario."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from ddsim.scenario.cluster import Cluster, Unit
from ddsim.scenario.contents import Contents
from ddsim.scenario.layout import built_units
from ddsim.scenario.learning import Learning
from ddsim.scenario.network import Network, Tcp
from ddsim.scenario.paths import Slot, split
from ddsim.scenario.quality import Quality
from ddsim.scenario.section import Section
from ddsim.scenario.tree import Path
from ddsim.scenario.uncertain import Uncertain

if TYPE_CHECKING:
    from ruamel.yaml.comments import CommentedMap

# The units say these; giving both would be an error.
_TOTALS = {"chips", "learners"}
_SHAPE = {"cluster.chips", "cluster.chips_per_slice", "cluster.learners"}


def write(scenario: Contents, uncertain: Sequence[Uncertain] = ()) -> str:
    """YAML text of a scenario that is laid out; derived values that are not keys are comments.

    What is ``uncertain`` stands as it was given.
    """
    from ruamel.yaml import YAML

    tree = _section(scenario)
    if any(item.path in _SHAPE for item in uncertain):
        # units would settle what is uncertain
        _whole(scenario, tree["cluster"])
    else:
        _annotate(scenario, tree)
    for item in uncertain:
        _put(tree, split(item.path), item.raw)
    yaml = YAML()
    yaml.width = 1000
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = StringIO()
    yaml.dump(tree, stream)
    return stream.getvalue()


def _section(section: Section) -> CommentedMap:
    from ruamel.yaml.comments import CommentedMap

    written = CommentedMap()
    for key, name in type(section).keys().items():
        value = getattr(section, name)
        if value in (None, (), "") or (isinstance(section, Cluster) and key in _TOTALS):
            continue
        if isinstance(section, Unit) and key == "spares" and not value:
            continue  # those of restart.spares stand beside it, or none
        if isinstance(value, Learning) and value.problem is None:
            continue
        if isinstance(value, Tcp) and not section.given(name):
            continue
        if isinstance(section, Network) and name == "efficiency" and section.has_streams:
            continue
        if isinstance(value, Quality) and value.law is None:
            continue
        written[key] = _value(Slot("", type(section), name), value)
    return written


def _value(slot: Slot, value: Any) -> Any:
    if isinstance(value, Section):
        return _section(value)
    if isinstance(value, tuple) and value and all(isinstance(item, Section) for item in value):
        return [_section(item) for item in value]
    if isinstance(value, dict) and all(isinstance(item, Section) for item in value.values()):
        return {name: _section(item) for name, item in value.items()}
    if slot.kind is None:
        return list(value)
    return unpacked(slot.kind.write(value))


def unpacked(value: Any) -> Any:
    """A tuple as the list that YAML writes."""
    return list(value) if isinstance(value, tuple) else value


def _whole(scenario: Contents, cluster: CommentedMap) -> None:
    del cluster["units"]
    cluster["chips"] = scenario.cluster.chips
    cluster["learners"] = scenario.cluster.learners


def _put(tree: Any, path: Path, value: Any) -> None:
    """Set what stands at a path; what is written as one value on the way becomes a mapping."""
    for part in path[:-1]:
        tree = tree[part]
    tree[path[-1]] = value


def _annotate(scenario: Contents, tree: CommentedMap) -> None:
    cluster = tree["cluster"]
    total = f"{scenario.cluster.chips} chips in {scenario.cluster.learners} units"
    cluster.yaml_set_start_comment(total, indent=2)
    spares = scenario.restart.spares
    if spares:
        beside = f"slices on top of the {scenario.cluster.chips} chips of the units"
        tree["restart"].yaml_add_eol_comment(beside, "spares")
    for unit, built, written in zip(
        scenario.cluster.units, built_units(scenario), cluster["units"], strict=True
    ):
        written.yaml_add_eol_comment(slices_in_words(unit), "chips_per_slice")
        written.yaml_add_eol_comment(f"a step computes for {built.step_time:.6g} s", "name")


def slices_in_words(unit: Unit) -> str:
    """``7 slices of 128 chips and one of 104``."""
    full, rest = divmod(unit.chips, unit.chips_per_slice)
    words = f"{full} slice{'s'[: full != 1]} of {unit.chips_per_slice}"
    return f"{words} and one of {rest}" if rest else words
