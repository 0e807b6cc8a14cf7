"""What a scenario names has to be there, and to take the options that it gives."""

from __future__ import annotations

from collections.abc import Mapping

from ddsim.naming import listed, shown, suggestion
from ddsim.scenario.contents import Contents
from ddsim.scenario.known import Known, Options, Widths
from ddsim.scenario.learning import Learning
from ddsim.scenario.methods import MethodSpec
from ddsim.scenario.report import Report
from ddsim.scenario.tree import Path

_FIXED = "fixed"
"""The policy that every scenario may name, and that takes nothing."""

_POLICY = (("training", "policy"), ("training", "policy_options"))
_PROBLEM = (("learning", "problem"), ("learning", "options"))
_QUANTIZER = ("learning", "quantization", "quantizer")
_LAW = (("quality", "law"), ("quality", "options"))


def check_names(scenario: Contents, report: Report, known: Known) -> None:
    """Report the names that are not known, and the options that what they name does not take."""
    _methods(scenario, report, known)
    check_named(scenario, report, known)
    training, learning = scenario.training, scenario.learning
    if training.policy != _FIXED or training.policy_options:
        _options(training.policy, training.policy_options, _POLICY, report, known.policies)
    if learning.problem is not None:
        _options(learning.problem, learning.options, _PROBLEM, report, known.problems)
    if scenario.quality.law is not None:
        _options(scenario.quality.law, scenario.quality.options, _LAW, report, known.laws)


def check_named(scenario: Contents, report: Report, known: Known) -> None:
    """Report a policy, problem, quantizer or law that is not known, whatever it would take."""
    if scenario.training.policy != _FIXED:
        _named("policy", scenario.training.policy, _POLICY[0], report, known.policies)
    if scenario.learning.problem is not None:
        _named("problem", scenario.learning.problem, _PROBLEM[0], report, known.problems)
        name = scenario.learning.quantization.quantizer
        _named("quantizer", name, _QUANTIZER, report, known.quantizers)
    if scenario.quality.law is not None:
        _named("law", scenario.quality.law, _LAW[0], report, known.laws)


def no_method(name: str, known: Known) -> tuple[str, str]:
    """What to say of a method that is not known: what was found, and what is allowed."""
    found = f"unknown method {shown(name)}"
    return found, f"{suggestion(name, known.methods)}{listed(sorted(known.methods))}"


def untaught(spec: MethodSpec, learning: Learning, known: Known) -> tuple[str, str] | None:
    """What to say of a method that would have to train a model, and keeps no tape of its steps.

    None for the others, and for those with settings of their own for ``learning``.
    """
    own = any(path.split(".")[0] == "learning" for path in spec.settings)
    if learning.problem is None or own or spec.name not in known.untaped:
        return None
    others = listed([name for name in known.methods if name not in known.untaped])
    return (
        f"{spec.name} beside a learning section: it keeps no tape of its steps to train on",
        f"{others}; {spec.name} with a null for learning: {{{spec.name}: {{learning: null}}}}",
    )


def _methods(scenario: Contents, report: Report, known: Known) -> None:
    if not report.usable(("methods",)):
        return
    for index, spec in enumerate(scenario.methods):
        if not report.given("methods"):
            continue
        said = untaught(spec, scenario.learning, known)
        if spec.name not in known.methods:
            said = no_method(spec.name, known)
        if said is not None:
            named = ("methods", spec.name)
            inside = ("methods", index, spec.name)
            where = next((p for p in (named, inside) if report.given(*p)), ("methods", index))
            report.add(where, *said, key=True)


def _named(
    what: str, name: str, where: Path, report: Report, options: Options | Widths | None
) -> None:
    if options is None or not report.usable(where):
        return
    names = tuple(options())
    if name not in names:
        found = f"unknown {what} {shown(name)}"
        report.add(where, found, f"{suggestion(name, names)}{listed(names)}")


def _options(
    name: str,
    given: Mapping[str, object],
    places: tuple[Path, Path],
    report: Report,
    options: Options | None,
) -> None:
    named, where = places
    if options is None or not report.usable(named, where):
        return
    takes = options().get(name, ())
    if takes is None:
        return
    for option in given:
        if option not in takes:
            allowed = f"{suggestion(option, takes)}{listed(takes) if takes else 'none'}"
            found = f"unknown option {shown(option)} of {name}"
            report.add((*where, option), found, allowed, key=True)
