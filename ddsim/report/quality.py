"""What a run's tokens are worth, as a part of its report."""

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ddsim import methods
from ddsim.engine.goal import outlook_of
from ddsim.figures.quality import quality
from ddsim.figures.style import words
from ddsim.loading import load_text
from ddsim.report.parts import Section, Table, number, picture
from ddsim.results import Results
from ddsim.results.quality import target_of
from ddsim.results.worth import BASE, Part, interval_of, over_base
from ddsim.scenario import ScenarioError

PARTS: dict[Part, str] = {
    "hours_to_target": "hours to the target",
    "cost_to_target": "USD to the target",
    "loss": "loss at the end (nats)",
}


def quality_section(results: Results) -> Section:
    """Hours, money and losses by the scenario's law, ratios first."""
    valued = [item for item in results.results if item.quality is not None]
    first = valued[0].quality
    assert first is not None
    parts = {
        part: heading
        for part, heading in PARTS.items()
        if any(interval_of(item, part) for item in valued)
    }
    over = [part for part in parts if any(over_base(valued, item, part) for item in valued)]
    columns = ["method", *(f"{parts[part]}, over {words(BASE)}'s" for part in over)]
    columns += parts.values()
    rows = [
        [
            words(item.method),
            *(quality_text(over_base(valued, item, part)) for part in over),
            *(quality_text(interval_of(item, part)) for part in parts),
        ]
        for item in valued
    ]
    texts = [
        f"By the law {first['law']}, in nats of its own: they compare with no other data set's or "
        "tokenizer's, ratios do better. Each interval goes from the better to the worse end of "
        "what is not known (the penalty of several learners, what overwritten work is worth); its "
        "middle takes the mean of each. Hours and money go on at the rate of the simulated time.",
        *dict.fromkeys(f"Beyond: {one}." for item in valued for one in _said(item.quality)),
    ]
    figures = []
    if "hours_to_target" in parts:
        caption = f"Hours to {number(first.get('target'))} nats"
        said = "; ".join(f"{row[0]} {row[columns.index(parts['hours_to_target'])]}" for row in rows)
        figures = [picture(quality(results), caption, f"A row a method with its interval. {said}.")]
    return Section("Quality", texts, figures, [Table("What tokens are worth", columns, rows)])


def law_texts(resolved: str) -> list[str]:
    """A scenario's target with its law, and what the law is stretched to, a sentence each.

    None of a scenario without a law, or with Python of its own, which a report does not run.
    """
    try:
        document: Any = YAML(typ="safe").load(resolved)
        if not document or document.get("python") or not document["quality"]["law"]:
            return []
        scenario = load_text(resolved)
    except (YAMLError, ScenarioError, KeyError, TypeError, AttributeError):
        return []
    outlook = outlook_of(scenario, any(methods.get(it.name).apart for it in scenario.methods))
    assert outlook is not None
    target, each = target_of(scenario, outlook), scenario.quality.tokens_per_parameter
    means = f", what {each:g} tokens a parameter come to" if each is not None else ""
    said = []
    if target is not None:
        said.append(f"The target is a loss of {number(target)} nats by {outlook.law.name}{means}.")
    lines = "; ".join(outlook.warnings())
    return [*said, f"Beyond the law's range: {lines}."] if lines else said


def _said(quality: object) -> list[str]:
    return list(quality.get("warnings", [])) if isinstance(quality, dict) else []


def quality_text(interval: list[float | None] | None) -> str:
    """An interval in words: its middle, and its ends in brackets."""
    if interval is None:
        return "out of reach"
    low, mid, high = interval
    ends = "" if low == mid == high else f" ({number(low)} to {number(high)})"
    return f"{number(mid)}{ends}"
