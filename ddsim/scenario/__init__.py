"""Scenarios: what to simulate, read from YAML, checked, and with every quantity in SI units."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ddsim.scenario.errors import Problem, ScenarioError
from ddsim.scenario.loading import load, read, read_text

if TYPE_CHECKING:
    from ddsim.scenario.catalogue import CHIPS, MODELS
    from ddsim.scenario.cluster import Cluster, Unit
    from ddsim.scenario.describe import describe_fields, schema_json, starter
    from ddsim.scenario.document import Document
    from ddsim.scenario.failures import Burst, Cause, Chaos, Failures
    from ddsim.scenario.known import Known
    from ddsim.scenario.layout import BuiltUnit
    from ddsim.scenario.methods import DEFAULT_METHODS, MethodSpec
    from ddsim.scenario.network import Link, Network, Region
    from ddsim.scenario.presence import Maintenance, Replay, Scavenged
    from ddsim.scenario.recovery import Checkpoint, Elastic, Interval, Restart
    from ddsim.scenario.repair import RepairSpec
    from ddsim.scenario.schema import Scenario, validate
    from ddsim.scenario.training import Model, Training

# Everything that needs pydantic comes from its module when it is first asked for.
_HOMES = {
    "catalogue": ("CHIPS", "MODELS"),
    "cluster": ("Cluster", "Unit"),
    "describe": ("describe_fields", "schema_json", "starter"),
    "document": ("Document",),
    "failures": ("Burst", "Cause", "Chaos", "Failures"),
    "known": ("Known",),
    "layout": ("BuiltUnit",),
    "methods": ("DEFAULT_METHODS", "MethodSpec"),
    "network": ("Link", "Network", "Region"),
    "presence": ("Maintenance", "Replay", "Scavenged"),
    "recovery": ("Checkpoint", "Elastic", "Interval", "Restart"),
    "repair": ("RepairSpec",),
    "schema": ("Scenario", "validate"),
    "training": ("Model", "Training"),
}

__all__ = [
    "CHIPS",
    "DEFAULT_METHODS",
    "MODELS",
    "BuiltUnit",
    "Burst",
    "Cause",
    "Chaos",
    "Checkpoint",
    "Cluster",
    "Document",
    "Elastic",
    "Failures",
    "Interval",
    "Known",
    "Link",
    "Maintenance",
    "MethodSpec",
    "Model",
    "Network",
    "Problem",
    "Region",
    "RepairSpec",
    "Replay",
    "Restart",
    "Scavenged",
    "Scenario",
    "ScenarioError",
    "Training",
    "Unit",
    "describe_fields",
    "load",
    "read",
    "read_text",
    "schema_json",
    "starter",
    "validate",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
