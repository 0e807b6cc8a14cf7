"""From a document to a scenario, or to the list of everything that is wrong with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import PurePath

from pydantic import ValidationError

from ddsim.scenario.checks import check
from ddsim.scenario.document import Document, Override
from ddsim.scenario.errors import MOST_SAID, Problem, ScenarioError, listed, shown, suggestion
from ddsim.scenario.fields import whole_text
from ddsim.scenario.layout import lay_out
from ddsim.scenario.methods import DEFAULT_METHODS, MethodSpec
from ddsim.scenario.paths import FIXED, UnknownPathError, resolve
from ddsim.scenario.repair import Family
from ddsim.scenario.report import Report
from ddsim.scenario.schema import Scenario
from ddsim.scenario.section import Section
from ddsim.scenario.translate import faults
from ddsim.scenario.tree import Entry, Path, Place, child, entry_of, plain, put, take
from ddsim.scenario.uncertain import settle, settled

Families = Mapping[str, Family]


def validate(
    document: Document,
    methods: Collection[str] = DEFAULT_METHODS,
    families: Families | None = None,
) -> Scenario:
    """The scenario that ``document`` describes.

    ``methods`` are the names that may be run, ``families`` distributions beyond the built-in ones.
    Raises ScenarioError with every problem found.
    """
    calm, inputs, unclear = settle(document, families)
    scenario, problems = _judge(calm, (), methods, families)
    problems += document.problems
    for spec in scenario.methods:
        problems += _method_problems(calm, spec.name, methods, families, problems)
    problems += _study_problems(calm, methods, families, problems)
    if problems or unclear:
        # what cannot be read as uncertain is no number either: that is said once
        said = {(problem.where, problem.path) for problem in unclear}
        rest = [item for item in problems if (item.where, item.path) not in said]
        raise ScenarioError(sorted(dict.fromkeys([*unclear, *rest]), key=_order))
    finished = _finished(document, scenario, methods, families)
    finished._uncertain = inputs
    return finished


def for_method(scenario: Scenario, name: str) -> Scenario:
    """``scenario`` with the settings of one method applied, and that method alone."""
    methods = scenario._known["methods"]
    document = choose(scenario, [name]).document
    root, _ = document.tree(document.settings(name))
    alone = put(root, ("methods",), entry_of([name], Place(option=f"--method {name}")))
    applied = dataclasses.replace(document, root=alone, overrides=())
    return validate(applied, methods, _families(scenario))


def choose(scenario: Scenario, names: Sequence[str]) -> Scenario:
    """``scenario`` with these methods alone, their settings kept."""
    known = scenario._known["methods"]
    option = " ".join(f"--method {name}" for name in names)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise ScenarioError(
            [Problem(option, None, None, "methods", *_no_method(name, known)) for name in unknown]
            or [Problem("--method", None, None, "methods", "no method", listed(sorted(known)))]
        )
    settings = {spec.name: spec for spec in scenario.methods}
    specs = tuple(settings.get(name, MethodSpec(name)) for name in dict.fromkeys(names))
    raw = [{spec.name: spec.settings} if spec.settings else spec.name for spec in specs]
    override = Override("methods", entry_of(raw, Place(option=option)))
    document = scenario.document
    kept = tuple(item for item in document.overrides if item.path != "methods")
    document = dataclasses.replace(document, overrides=(*kept, override))
    chosen: Scenario = scenario.replaced(methods=specs)
    return _attach(chosen, document, known, _families(scenario))


def _families(scenario: Scenario) -> Families | None:
    families: Families | None = scenario._known["families"]
    return families


def _finished(
    document: Document, scenario: Scenario, methods: Collection[str], families: Families | None
) -> Scenario:
    specs = tuple(
        MethodSpec(
            spec.name, {item.path: plain(item.value) for item in document.settings(spec.name)}
        )
        for spec in scenario.methods
    )
    name = scenario.name or whole_text(PurePath(document.file).stem)
    filled: Scenario = lay_out(scenario).replaced(name=name, methods=specs)
    return _attach(filled, document, methods, families)


def _attach(
    scenario: Scenario, document: Document, methods: Collection[str], families: Families | None
) -> Scenario:
    scenario._document = document
    scenario._known = {"methods": tuple(methods), "families": families}
    return scenario


def _order(problem: Problem) -> tuple[bool, int, int]:
    return (problem.line is None, problem.line or 0, problem.column or 0)


def _judge(
    document: Document,
    settings: Sequence[Override],
    methods: Collection[str],
    families: Families | None,
) -> tuple[Scenario, list[Problem]]:
    """As much of a scenario as holds, and what is wrong with the rest."""
    tree, problems = document.tree(settings)
    report = Report(document, tree)
    scenario = _fields(tree, report, families)
    _missing(scenario, (), report)
    check(scenario, report, methods)
    return scenario, problems + report.problems


def _fields(tree: Entry, report: Report, families: Families | None) -> Scenario:
    """The scenario of all fields that can be read; the others are reported and left out."""
    for _ in range(8):
        try:
            context = {"families": families, "folder": report.document.folder}
            return Scenario.model_validate(plain(tree), context=context)
        except ValidationError as error:
            if error.error_count() > MOST_SAID:
                raise _first_of(error, report) from None
            for fault in faults(error):
                report.add(fault.path, fault.found, fault.allowed, key=fault.key)
                tree = take(tree, fault.field)
    raise AssertionError("a scenario stays invalid though everything invalid was left out")


def _first_of(error: ValidationError, report: Report) -> ScenarioError:
    """The first faults of far too many: to leave each out, and to find more, would take hours."""
    for fault in islice(faults(error), MOST_SAID):
        report.add(fault.path, fault.found, fault.allowed, key=fault.key)
    problems = sorted(dict.fromkeys(report.problems), key=_order)
    return ScenarioError(problems, error.error_count() - MOST_SAID)


def _missing(section: Section, path: Path, report: Report) -> None:
    for key in section.missing():
        where = (*path, key)
        if report.usable(where):
            meaning = type(section).model_fields[type(section).keys()[key]].description
            report.add(where, "not given", f"needed: {meaning}")
    for key, name in type(section).keys().items():
        value = getattr(section, name)
        if isinstance(value, Section):
            _missing(value, (*path, key), report)
        elif isinstance(value, tuple | dict):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for index, item in items:
                if isinstance(item, Section):
                    _missing(item, (*path, key, index), report)


def _no_method(name: str, known: Collection[str]) -> tuple[str, str]:
    found = f"unknown method {shown(name)}"
    return found, f"{suggestion(name, known)}{listed(sorted(known))}"


def _method_problems(
    document: Document,
    name: str,
    methods: Collection[str],
    families: Families | None,
    known: Sequence[Problem],
) -> list[Problem]:
    """What the settings of one method add to the problems of the scenario itself."""
    settings = document.settings(name)
    if not settings:
        return []
    problems = []
    for setting in settings:
        if setting.path.split(".")[0] in FIXED:
            found = f'"{setting.path}" for one method'
            allowed = "all methods of a scenario share it"
            path = f"{setting.under}{setting.path}"
            problems.append(document.problem(setting.value.label, path, found, allowed))
    fitting = [item for item in settings if item.path.split(".")[0] not in FIXED]
    _, judged = _judge(document, fitting, methods, families)
    return problems + _new(judged, known, f"methods.{name}.")


def _new(judged: Sequence[Problem], known: Sequence[Problem], under: str) -> list[Problem]:
    seen = {(problem.where, problem.found) for problem in known}
    return [
        problem
        if problem.path.startswith(under)
        else dataclasses.replace(problem, path=f"{under}{problem.path}")
        for problem in judged
        if (problem.where, problem.found) not in seen
    ]


def _study_problems(
    document: Document,
    methods: Collection[str],
    families: Families | None,
    known: Sequence[Problem],
) -> list[Problem]:
    """What is wrong with the paths and the values of ``study``."""
    tree, _ = document.tree()
    study = child(tree, "study")
    if study is None or not isinstance(study.value, dict):
        return []
    problems: list[Problem] = []
    for text, values in study.value.items():
        inner = {text: values}
        under = "study."
        if isinstance(values.value, dict):
            inner, under = values.value, f"study.{text}."
            if text not in methods:
                found, allowed = _no_method(text, methods)
                problems.append(document.problem(values.label, f"study.{text}", found, allowed))
                continue
        for path, listed_values in inner.items():
            seen = [*known, *problems]
            problems += _varied_problems(document, path, listed_values, under, families, seen)
    return problems


def _varied_problems(
    document: Document,
    text: str,
    values: Entry,
    under: str,
    families: Families | None,
    known: Sequence[Problem],
) -> list[Problem]:
    try:
        resolve(text)
    except UnknownPathError as error:
        return [document.problem(values.label, f"{under}{text}", error.found, error.allowed)]
    problems: list[Problem] = []
    for value in values.value if isinstance(values.value, tuple) else ():
        varied, failed = document.tree([settled(Override(text, value, under))])
        report = Report(document, varied)
        _fields(varied, report, families)
        problems += _new(failed + report.problems, [*known, *problems], under)
    return problems
