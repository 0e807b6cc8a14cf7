"""The scenario within a report: where its numbers come from, and the whole of it."""

from collections import Counter
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ddsim.report.parts import Section, Table
from ddsim.scenario import ScenarioError
from ddsim.scenario.given import BASES, Setting, prose_of, settings_of

RESTS_ON = "What it rests on"


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


def rests_on(given: str) -> str:
    """What the numbers of a scenario are, counted; empty where its text was not kept."""
    counts = Counter(item.basis for item in _settings(given))
    said = {"set": "set for this run", "given": "given without a comment", "noted": "with a note"}
    parts = [f"{counts[basis]} {said.get(basis, basis)}" for basis in BASES if counts[basis]]
    return f"{', '.join(parts)}; all else at its default" if parts else ""


def assumptions_section(given: str) -> Section:
    """Every number that the scenario gives, and whether it is published or assumed."""
    found = _settings(given)
    order = ("set", "assumed", "published", "noted", "given")
    rows = [
        [item.path, item.value, item.basis, item.note or "\N{EN DASH}"]
        for item in sorted(found, key=lambda item: order.index(item.basis))
    ]
    said = "; ".join(f"{basis}: {meaning}" for basis, meaning in BASES.items())
    texts = [
        "As the scenario's own comments say it; what it does not give is at its default, which the "
        "scenario below has.",
        *prose_of(given),
    ]
    texts.append(f"{said[:1].upper()}{said[1:]}.")
    columns = ["setting", "value", "where from", "comment"]
    table = Table("Where the numbers come from", columns, rows)
    return Section(RESTS_ON, texts, tables=[table])


def _settings(given: str) -> list[Setting]:
    try:
        return settings_of(given) if given else []
    except ScenarioError:
        return []
