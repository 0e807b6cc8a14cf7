"""What users' Python files register, read from their text: nothing of them is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast, get_args

from ddsim.scenario import Problem, ScenarioError
from ddsim.scenario.families import Dimension, Family, Parameter, spelled

METHOD, PROBLEM, POLICY, LAW = "method", "problem", "policy", "law"
QUANTIZER = "quantizer"
DISTRIBUTION = "register"
"""The decorators that register, by the names that ddsim gives them."""


@dataclass
class Registered:
    """Names that files register, by decorator, and distributions with what they take.

    `unclear` are the decorators that were given a name which only running the file would tell.
    """

    names: dict[str, set[str]] = field(default_factory=dict)
    families: dict[str, Family] = field(default_factory=dict)
    unclear: set[str] = field(default_factory=set)

    def may_be(self, kind: str, name: str) -> bool:
        """Whether the files register that name, or could."""
        return name in self.names.get(kind, ()) or kind in self.unclear

    def read(self, file: Path) -> None:
        """Take in what a file registers; ScenarioError where it is not Python."""
        try:
            tree = ast.parse(file.read_bytes(), str(file))
        except SyntaxError as error:
            found = f"SyntaxError: {error.msg}"
            raise _not_python(file, error.lineno, found) from None
        except (OSError, ValueError, RecursionError, MemoryError) as error:
            raise _not_python(file, None, f"{type(error).__name__}: {error}") from None
        called = _aliases(tree)
        texts = dict(_texts(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (kind := called.get(_last(node.func))):
                name = _text(node.args[0], texts) if node.args else None
                if name is None:
                    self.unclear.add(kind)
                else:
                    self.names.setdefault(kind, set()).add(name)
            if isinstance(node, ast.ClassDef):
                self._distribution(node, called, texts)

    def _distribution(
        self, node: ast.ClassDef, called: Mapping[str, str], texts: Mapping[str, str]
    ) -> None:
        for item in node.decorator_list:
            if isinstance(item, ast.Call) and called.get(_last(item.func)) == DISTRIBUTION:
                name = _text(item.args[0], texts) if item.args else None
                family = _family(node)
                if name is not None and family.forms:
                    self.families[name] = family


def _not_python(file: Path, line: int | None, found: str) -> ScenarioError:
    column = None if line is None else 1
    return ScenarioError([Problem(str(file), line, column, "python", found, "a file of Python")])


def _aliases(tree: ast.Module) -> dict[str, str]:
    """Names under which the file may call the decorators, and which those are."""
    found = {name: name for name in (METHOD, PROBLEM, POLICY, LAW, QUANTIZER, DISTRIBUTION)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {i.asname: i.name for i in node.names if i.asname and i.name in found}
    return found


def _texts(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The texts that have a name of their own in the file."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            for target in node.targets:
                if isinstance(target, ast.Name) and isinstance(node.value.value, str):
                    yield target.id, node.value.value


def _last(called: ast.expr) -> str:
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def _text(given: ast.expr, texts: Mapping[str, str]) -> str | None:
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return given.value
    return texts.get(given.id) if isinstance(given, ast.Name) else None


def _family(node: ast.ClassDef) -> Family:
    """What a distribution takes, by its `parameters` and `forms`."""
    forms: tuple[tuple[str, ...], ...] = ()
    parameters: list[Parameter] = []
    for item in node.body:
        target = item.targets[0] if isinstance(item, ast.Assign) else getattr(item, "target", None)
        value = getattr(item, "value", None)
        if not isinstance(target, ast.Name) or value is None:
            continue
        if target.id == "forms":
            try:
                forms = tuple(tuple(map(str, form)) for form in ast.literal_eval(value))
            except (ValueError, TypeError):
                forms = ()
        elif target.id == "parameters":
            for call in ast.walk(value):
                given = [a.value for a in getattr(call, "args", ()) if isinstance(a, ast.Constant)]
                name, dimension, *_ = *map(str, given), "", ""
                if dimension in get_args(Dimension):
                    parameters.append(Parameter(name, cast(Dimension, dimension), ""))
    return spelled(parameters, forms)
