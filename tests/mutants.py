"""Mutants of the interpreted code against fast tests: `python tests/mutants.py -- tests/test_X.py`.

Draws mutants of functions, `PER_GROUP` of each group of modules, and tries each in a process of its
own on the tests that run its line, the fastest first, until one fails. A mutant's name is a hash of
what it changes, and a sample goes by names, so that it stays when something else is edited. The
tests that are given are run once before, to learn which those are; those that take more than
`QUICK` seconds then count no further. What no test notices in `--longest` seconds of processor time
has survived; what hangs for `HANGS` has not. What makes no difference is listed, with the reason,
in `equivalent_mutants.yaml`.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import process_time
from types import CodeType, FunctionType
from typing import NamedTuple

import coverage
import pytest
from ruamel.yaml import YAML

HOUSE = Path(__file__).parent.parent / "ddsim"
GROUPS = {
    "engine": [
        str(path)
        for path in sorted((HOUSE / "engine").glob("*.py"))
        if path.stem not in ("__init__", "ledger", "sharing")
    ],
    "ledger": [str(HOUSE / "engine" / "ledger.py")],
    "sharing": [str(HOUSE / "engine" / "sharing.py")],
    "renewal": [str(HOUSE / "world" / "renewal.py")],
    "causes": [str(HOUSE / "world" / "causes.py")],
    "merging": [str(HOUSE / "learning" / "merging.py")],
}
PER_GROUP = {"engine": 200}
OTHERWISE = 40
EQUIVALENT = Path(__file__).parent / "equivalent_mutants.yaml"
HANGS = 30
QUICK = 0.5
"""Seconds of a test, watched, beyond which it is none of the fast ones."""
SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Div,
    ast.Break: ast.Continue,
    ast.Continue: ast.Break,
}


class Change(NamedTuple):
    """What a mutant does: the function that it is in, and a statement's first line."""

    within: str
    was: str
    now: str


@dataclass(frozen=True)
class Mutant:
    """A change of one node of a file's tree, the `place`th as `ast.walk` has them.

    It is the `nth` in its function that changes such a statement so, from 0.
    """

    file: str
    place: int
    part: int
    line: int
    change: Change
    nth: int

    @property
    def module(self) -> str:
        """The file, from the house on."""
        return Path(self.file).relative_to(HOUSE).as_posix()

    @property
    def name(self) -> str:
        """What it is known by, wherever its lines move to."""
        return _hash(self.module, *self.change, str(self.nth))[:10]

    def tree(self) -> ast.Module:
        """The file's tree with the change."""
        tree = _parsed(self.file)
        _change(tree, list(ast.walk(tree))[self.place], self.part)
        return ast.fix_missing_locations(tree)


def _hash(*texts: str) -> str:
    return sha256("\n".join(texts).encode()).hexdigest()


def _parsed(file: str) -> ast.Module:
    return ast.parse(Path(file).read_text(encoding="utf-8"), file)


def _said(statement: ast.AST) -> str:
    return ast.unparse(statement).splitlines()[0]


def mutants(file: str) -> Iterator[Mutant]:
    """All mutants of a file's functions, without what a function says of itself and of types."""
    tree = _parsed(file)
    within: set[int] = set()
    for each in ast.walk(tree):
        if isinstance(each, ast.FunctionDef):
            within |= {id(node) for part in each.body for node in ast.walk(part)}
    for each in ast.walk(tree):
        if isinstance(each, ast.FunctionDef):
            apart: list[ast.AST] = [each.args, *each.decorator_list]
            apart += [] if each.returns is None else [each.returns]
            within -= {id(node) for part in apart for node in ast.walk(part)}
        elif isinstance(each, ast.AnnAssign):
            within -= {id(node) for node in ast.walk(each.annotation)}
        elif isinstance(each, ast.Assert | ast.Raise):
            within -= {id(node) for node in ast.walk(each)}
    around = {id(inner): each for each in ast.walk(tree) for inner in ast.iter_child_nodes(each)}
    known: Counter[Change] = Counter()
    for place, node in enumerate(ast.walk(tree)):
        if id(node) in within:
            for part in range(_ways(node)):
                change = _words(node, part, around)
                line = node.lineno  # type: ignore[attr-defined]
                yield Mutant(file, place, part, line, change, known[change])
                known[change] += 1


def _words(node: ast.AST, part: int, around: dict[int, ast.AST]) -> Change:
    """A change in words; `around` has what each node stands in."""
    up = [node]
    while id(up[-1]) in around:
        up.append(around[id(up[-1])])
    names = [each.name for each in up if isinstance(each, ast.ClassDef | ast.FunctionDef)]
    statement = next(each for each in up if isinstance(each, ast.stmt))
    twins: dict[int, ast.AST] = {}
    alone = copy.deepcopy(ast.Module([statement], []), twins)
    _change(alone, twins[id(node)], part)
    return Change(".".join(reversed(names)), _said(statement), _said(alone.body[0]))


def _ways(node: ast.AST) -> int:
    """In how many ways a node can be changed."""
    if isinstance(node, ast.Compare):
        return len(node.ops)
    if isinstance(node, ast.Constant):
        return int(isinstance(node.value, int | float))
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        known = node.op
        return int(type(known) in SWAPS)
    if isinstance(node, ast.UnaryOp):
        return int(isinstance(node.op, ast.Not | ast.USub))
    if isinstance(node, ast.Call):
        return int(isinstance(node.func, ast.Name) and node.func.id in ("min", "max"))
    if isinstance(node, ast.Expr):
        return int(isinstance(node.value, ast.Call))
    if isinstance(node, ast.Return):
        return int(node.value is not None)
    return int(isinstance(node, ast.If | ast.IfExp | ast.Assign | ast.Break | ast.Continue))


def _change(tree: ast.Module, node: ast.AST, part: int) -> None:
    if isinstance(node, ast.Compare):
        node.ops[part] = SWAPS[type(node.ops[part])]()
    elif isinstance(node, ast.Constant):
        assert isinstance(node.value, int | float)
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.UnaryOp):
        _replace(tree, node, node.operand)
    elif isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        node.func.id = "max" if node.func.id == "min" else "min"
    elif isinstance(node, ast.Expr):
        _replace(tree, node, ast.Pass())
    elif isinstance(node, ast.If | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Break | ast.Continue):
        _replace(tree, node, SWAPS[type(node)]())
    elif isinstance(node, ast.Assign | ast.Return):
        node.value = ast.Constant(None)


def _replace(tree: ast.Module, old: ast.AST, new: ast.AST) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list) and any(item is old for item in value):
                value[[item is old for item in value].index(True)] = new


def no_difference() -> dict[str, dict[Change, str]]:
    """Why mutants change nothing that could be noticed, module by module."""
    table = YAML(typ="safe").load(EQUIVALENT.read_text(encoding="utf-8"))
    return {
        module: {Change(row["in"], row["was"], row["now"]): row["why"] for row in rows}
        for module, rows in table.items()
    }


def drawn(seed: int, groups: Iterable[str]) -> list[Mutant]:
    """The sample, group by group: those whose names have the least hashes with the seed."""
    found: list[Mutant] = []
    for group in groups:
        every = [mutant for file in GROUPS[group] for mutant in mutants(file)]
        every.sort(key=lambda mutant: _hash(str(seed), mutant.name))
        found += every[: PER_GROUP.get(group, OTHERWISE)]
    return found


def named(names: Iterable[str], groups: Iterable[str]) -> list[Mutant]:
    """The mutants of these names; a SystemExit says which there are not."""
    every = {
        mutant.name: mutant
        for group in groups
        for file in GROUPS[group]
        for mutant in mutants(file)
    }
    if unknown := [name for name in names if name not in every]:
        raise SystemExit(f"no mutants of these groups: {', '.join(unknown)}")
    return [every[name] for name in names]


def on_lines(places: list[str]) -> list[Mutant]:
    """All mutants of some lines, each written as `engine/body.py:80`."""
    return [
        mutant
        for module, _, line in (place.rpartition(":") for place in places)
        for mutant in mutants(str(HOUSE / module))
        if mutant.line == int(line)
    ]


def put_in(file: str, tree: ast.Module) -> None:
    """Give all functions of a file that are there the code of a changed tree."""
    codes: dict[tuple[str, int], CodeType] = {}

    def note(code: CodeType) -> None:
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                codes[inner.co_qualname, inner.co_firstlineno] = inner
                note(inner)

    note(compile(tree, file, "exec", dont_inherit=True))
    for each in gc.get_objects():
        kind = type(each)  # a proxy says that it is what it stands for
        if kind is FunctionType and each.__code__.co_filename == file:
            code = codes.get((each.__code__.co_qualname, each.__code__.co_firstlineno))
            if code is not None:
                each.__code__ = code
        elif kind is functools._lru_cache_wrapper:
            each.cache_clear()


@dataclass
class Trial:
    """A plugin of pytest: in place of running the tests it tries mutants on them."""

    sample: list[Mutant]
    longest: float
    failed: list[str] = field(default_factory=list)
    took: dict[str, float] = field(default_factory=dict)

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what fails."""
        if report.failed:
            self.failed.append(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Learn which tests run which lines, then try each mutant on those."""
        items = {item.nodeid: item for item in session.items}
        data = self._watched(session)
        out = sys.stdout
        for name in self.failed:
            out.write(f"fails without a mutant: {name}\n")
        for name in [*self.failed, *(name for name, took in self.took.items() if took > QUICK)]:
            items.pop(name, None)
        out.write(f"{len(items)} tests of {sum(self.took.values()):.0f} s\n")
        out.flush()
        ends: dict[str, Counter[str]] = {}
        why = no_difference()
        for mutant in self.sample:
            lines = data.contexts_by_lineno(mutant.file)
            names = {name for name in lines.get(mutant.line, []) if name in items}
            tests = sorted(names, key=lambda name: self.took[name])
            tree, change = mutant.tree(), mutant.change
            end = self._fate(mutant, tree, [items[name] for name in tests])
            if ast.dump(tree) == ast.dump(_parsed(mutant.file)):
                end = "equivalent: the same text"
            elif change in (known := why.get(mutant.module, {})) and not end.startswith("killed"):
                end = f"equivalent: {known[change]}"
            group = next(name for name, files in GROUPS.items() if mutant.file in files)
            ends.setdefault(group, Counter())[end.split()[0].strip(":")] += 1
            where = f"{mutant.module}:{mutant.line} {change.within}"
            out.write(f"{mutant.name} {where}: {end}: {change.was} -> {change.now}\n")
            out.flush()
        for group, counts in ends.items():
            said = ", ".join(f"{count} {end}" for end, count in counts.most_common())
            out.write(f"{group}: of {counts.total()} {said}\n")
        out.flush()
        return True

    def _watched(self, session: pytest.Session) -> coverage.CoverageData:
        """Run all tests; return which of them ran which lines."""
        files = sorted({mutant.file for mutant in self.sample})
        watch = coverage.Coverage(data_file=None, include=files, config_file=False)
        watch.start()
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            began = process_time()
            watch.switch_context(item.nodeid)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            self.took[item.nodeid] = process_time() - began
        watch.stop()
        return watch.get_data()

    def _fate(self, mutant: Mutant, tree: ast.Module, items: list[pytest.Item]) -> str:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, HANGS)
            end = "untried"
            try:
                end = self._tried(mutant, tree, items)
            except Exception as error:  # what pytest itself does not catch
                end = f"untried: {error!r}"
            finally:
                os.write(writing, end.encode())
                os._exit(0)
        os.close(writing)
        said = b""
        while piece := os.read(reading, 4096):
            said += piece
        os.close(reading)
        os.waitpid(child, 0)
        return said.decode() or "killed by time"

    def _tried(self, mutant: Mutant, tree: ast.Module, items: list[pytest.Item]) -> str:
        put_in(mutant.file, copy.deepcopy(tree))
        self.failed.clear()
        for count, item in enumerate(items):
            if process_time() > self.longest:
                return f"survived {count} of {len(items)} tests"
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            if self.failed:
                return f"killed by {self.failed[0].split('/')[-1]}"
        return f"survived {len(items)} tests"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--longest", type=float, default=5.0, metavar="SECONDS")
    parser.add_argument("--names", nargs="*", metavar="NAME", help="these instead")
    parser.add_argument("--at", nargs="*", metavar="MODULE:LINE", help="all of these lines instead")
    parser.add_argument("tests", nargs="*")
    given = parser.parse_args()
    chosen = [file for group in given.only for file in GROUPS[group]]
    if given.names:
        found = named(given.names, given.only)
    elif given.at:
        found = [mutant for mutant in on_lines(given.at) if mutant.file in chosen]
    else:
        found = drawn(given.seed, given.only)
    trial = Trial(found, given.longest)
    options = ["-q", "-p", "no:cacheprovider", "-m", "not slow", "-s"]
    sys.exit(pytest.main([*options, *given.tests], plugins=[trial]))
