"""The scenario within a report."""

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ddsim.report.parts import Section


def described(resolved: str) -> str:
    """The description that a resolved scenario gives; empty where it gives none."""
    try:
        document: Any = YAML(typ="safe").load(resolved)
    except YAMLError:
        return ""
    text = document.get("description") if isinstance(document, dict) else None
    return str(text) if text else ""


def scenario_section(resolved: str) -> Section:
    """The scenario with everything filled in, to be unfolded."""
    if not resolved:
        return Section("Scenario", ["It was not kept with the result."])
    text = "With everything filled in. Saved as a file it runs again to the same numbers."
    return Section("Scenario", [text], listing=resolved)
