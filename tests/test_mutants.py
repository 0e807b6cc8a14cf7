"""Mutants are known by what they change, so that a sample outlives edits elsewhere."""

from __future__ import annotations

import ast
from pathlib import Path

import mutants
import pytest

MODULE = """\
def first(a, b):
    if a < b + 1:
        return a * b
    return a - b


def second(a, b):
    a = b + 1
    a = b + 1
    return min(a, b) % 7
"""
BEFORE = '''\
"""What stands above."""

LEAST = 1


def another(a):
    """Half of it."""
    return a / 2 - LEAST


'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A group of one module in a house of its own, of which five mutants are drawn."""
    file = tmp_path / "module.py"
    file.write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(mutants, "HOUSE", tmp_path)
    monkeypatch.setattr(mutants, "GROUPS", {"one": [str(file)]})
    monkeypatch.setattr(mutants, "PER_GROUP", {"one": 5})
    return file


def all_of(file: Path) -> dict[str, mutants.Mutant]:
    """All mutants of a module by name."""
    return {mutant.name: mutant for mutant in mutants.mutants(str(file))}


def sample() -> set[str]:
    """The names of those that are drawn."""
    return {mutant.name for mutant in mutants.drawn(1, ["one"])}


def test_each_mutant_has_a_name_of_its_own(module: Path) -> None:
    """Those of equal statements of one function too."""
    assert len(all_of(module)) == len(list(mutants.mutants(str(module))))


def test_lines_above_move_no_names(module: Path) -> None:
    """A name goes with the function and the statement, not with the line."""
    before = all_of(module)
    module.write_text(BEFORE + MODULE, encoding="utf-8")
    after = all_of(module)
    moved = {after[name].line - mutant.line for name, mutant in before.items()}
    assert moved == {BEFORE.count("\n")}


def test_an_edited_statement_renames_its_own_mutants_alone(module: Path) -> None:
    """Not those of the condition that it stands under."""
    before = all_of(module)
    module.write_text(MODULE.replace("a * b", "a * b * b"), encoding="utf-8")
    gone = before.keys() - all_of(module).keys()
    assert {before[name].change.was for name in gone} == {"return a * b"}


def test_what_is_new_takes_no_more_places_of_a_sample_than_it_needs(module: Path) -> None:
    """Who leaves the sample makes room for a new mutant, each for one."""
    before, known = sample(), all_of(module).keys()
    module.write_text(BEFORE + MODULE, encoding="utf-8")
    new = sample() - before
    assert len(before) == len(sample()) == 5
    assert new <= all_of(module).keys() - known


def test_names_find_their_mutants_again(module: Path) -> None:
    """In the order that is asked for; one that there is not is said."""
    names = list(all_of(module))[3:1:-1]
    assert [mutant.name for mutant in mutants.named(names, ["one"])] == names
    with pytest.raises(SystemExit, match="0123456789"):
        mutants.named(["0123456789"], ["one"])


def test_a_mutant_does_what_it_says(module: Path) -> None:
    """The tree that is compiled has the statement that its words have."""
    source = MODULE.splitlines()
    for mutant in all_of(module).values():
        changed = ast.unparse(mutant.tree()).replace("\n\n", "\n\n\n").splitlines()
        assert [new.strip() for old, new in zip(source, changed, strict=True) if new != old] == [
            mutant.change.now
        ]


@pytest.mark.slow
def test_what_makes_no_difference_is_a_mutant_that_there_is() -> None:
    """No entry of the list is left of a statement that is gone."""
    for module, reasons in mutants.no_difference().items():
        there = {mutant.change for mutant in mutants.mutants(str(mutants.HOUSE / module))}
        assert not [change for change in reasons if change not in there], module
