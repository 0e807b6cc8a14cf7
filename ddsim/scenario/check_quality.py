"""What has to hold in a scenario's ``quality`` section, and of a loss as the goal of a run."""

from __future__ import annotations

import math

from ddsim import quality
from ddsim.naming import shown
from ddsim.scenario.catalogue import MODELS
from ddsim.scenario.contents import Contents
from ddsim.scenario.quality import Quality
from ddsim.scenario.report import Report

_LAW = ("quality", "law")
_OPTIONS = ("quality", "options")
_GOAL = ("training", "loss")


def check_quality(scenario: Contents, report: Report) -> None:
    """Report what does not hold between the fields."""
    section, goal = scenario.quality, scenario.training.loss
    if section.law is None:
        _no_law(section, goal, report)
        return
    both = ("quality", "tokens_per_parameter")
    if section.target is not None and section.tokens_per_parameter is not None:
        found = f"{section.tokens_per_parameter:g} beside quality.target"
        report.add(both, found, "one of the two", key=True)
    law = _law(section, report)
    if law is None or goal is None or scenario.duration < math.inf or not report.usable(_GOAL):
        return
    parameters = scenario.model.parameters or _of_catalogue(scenario)
    if parameters and scenario.training.tokens is None and goal <= law.floor(parameters):
        floor = law.floor(parameters)
        allowed = f"above {floor:.5g}, the floor of {section.law} for this model, or a duration"
        report.add(_GOAL, f"{goal:g}, which no number of tokens reaches", allowed)


def _no_law(section: Quality, goal: float | None, report: Report) -> None:
    if section != Quality() and report.sound(("quality",)):
        report.add(_LAW, "not given", "needed in a quality section: `ddsim list laws`")
    elif goal is not None and report.usable(_LAW, _GOAL):
        report.add(_LAW, "not given", "needed for training.loss: `ddsim list laws`")


def _law(section: Quality, report: Report) -> quality.Law | None:
    """The law that a section names, if it is registered and takes what is given to it."""
    assert section.law is not None
    if section.law not in quality.names() or not report.sound(_LAW, _OPTIONS):
        return None  # it stands in a file that was only read, or is reported as unknown
    try:
        return quality.make(section.law, section.options)
    except Exception as error:  # whatever a user's own law raises
        report.add(_OPTIONS, shown(section.options), str(error) or type(error).__name__)
        return None


def _of_catalogue(scenario: Contents) -> float:
    known = MODELS.get(scenario.model.name or "")
    return known.parameters if known is not None else 0.0
