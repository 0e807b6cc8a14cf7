"""From a document to a scenario, or to the list of everything that is wrong with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import islice
from pathlib import PurePath

from pydantic import ValidationError

from ddsim.scenario.check_names import check_named, no_method
from ddsim.scenario.checks import check
from ddsim.scenario.contents import Contents
from ddsim.scenario.document import Document, Override
from ddsim.scenario.errors import MOST_SAID, Problem, ScenarioError
from ddsim.scenario.fields import whole_text
from ddsim.scenario.known import Known
from ddsim.scenario.layout import lay_out
from ddsim.scenario.methods import MethodSpec
from ddsim.scenario.paths import FIXED, UnknownPathError, resolve
from ddsim.scenario.report import Report
from ddsim.scenario.section import Section
from ddsim.scenario.translate import faults
from ddsim.scenario.tree import Entry, Path, child, plain, take
from ddsim.scenario.uncertain import Uncertain, settle, settled


def judged(document: Document, known: Known) -> tuple[Contents, tuple[Uncertain, ...]]:
    """What ``document`` says, laid out, and its uncertain inputs, at whose medians that stands.

    Raises ScenarioError with every problem found.
    """
    calm, inputs, unclear = settle(document, known.families)
    contents, problems = _judge(calm, (), known)
    problems += document.problems
    for spec in contents.methods:
        problems += _method_problems(calm, spec.name, known, problems)
    problems += _study_problems(calm, known, problems)
    if problems or unclear:
        # what cannot be read as uncertain is no number either: that is said once
        said = {(problem.where, problem.path) for problem in unclear}
        rest = [item for item in problems if (item.where, item.path) not in said]
        raise ScenarioError(sorted(dict.fromkeys([*unclear, *rest]), key=_order))
    return _finished(document, contents), inputs


def _finished(document: Document, contents: Contents) -> Contents:
    specs = tuple(
        MethodSpec(
            spec.name, {item.path: plain(item.value) for item in document.settings(spec.name)}
        )
        for spec in contents.methods
    )
    name = contents.name or whole_text(PurePath(document.file).stem)
    filled: Contents = lay_out(contents).replaced(name=name, methods=specs)
    return filled


def _order(problem: Problem) -> tuple[bool, int, int]:
    return (problem.line is None, problem.line or 0, problem.column or 0)


def _judge(
    document: Document, settings: Sequence[Override], known: Known
) -> tuple[Contents, list[Problem]]:
    """As much of a scenario as holds, and what is wrong with the rest."""
    tree, problems = document.tree(settings)
    report = Report(document, tree)
    contents = _fields(tree, report, known)
    _missing(contents, (), report)
    check(contents, report, known)
    return contents, problems + report.problems


def _fields(tree: Entry, report: Report, known: Known) -> Contents:
    """The scenario of all fields that can be read; the others are reported and left out."""
    files = report.document.files
    context = {"families": known.families, "files": files, "nodes": known.nodes}
    for _ in range(8):
        try:
            return Contents.model_validate(plain(tree), context=context)
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


def _method_problems(
    document: Document, name: str, known: Known, before: Sequence[Problem]
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
    _, judgement = _judge(document, fitting, known)
    return problems + _new(judgement, before, f"methods.{name}.")


def _new(found: Sequence[Problem], before: Sequence[Problem], under: str) -> list[Problem]:
    seen = {(problem.where, problem.found) for problem in before}
    return [
        problem
        if problem.path.startswith(under)
        else dataclasses.replace(problem, path=f"{under}{problem.path}")
        for problem in found
        if (problem.where, problem.found) not in seen
    ]


def _study_problems(document: Document, known: Known, before: Sequence[Problem]) -> list[Problem]:
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
            if text not in known.methods:
                found, allowed = no_method(text, known)
                problems.append(document.problem(values.label, f"study.{text}", found, allowed))
                continue
        for path, listed_values in inner.items():
            override = Override(path, listed_values, under)
            problems += _varied_problems(document, override, known, [*before, *problems])
    return problems


def _varied_problems(
    document: Document, varied: Override, known: Known, before: Sequence[Problem]
) -> list[Problem]:
    """What is wrong with a path, and with the values that it is to take one by one."""
    text, values, under = varied.path, varied.value, varied.under
    try:
        resolve(text)
    except UnknownPathError as error:
        return [document.problem(values.label, f"{under}{text}", error.found, error.allowed)]
    problems: list[Problem] = []
    for value in values.value if isinstance(values.value, tuple) else ():
        tree, failed = document.tree([settled(Override(text, value, under), known.families)])
        report = Report(document, tree)
        # the others may vary with it: only what it names is judged beside itself
        check_named(_fields(tree, report, known), report, known)
        problems += _new(failed + report.problems, [*before, *problems], under)
    return problems
