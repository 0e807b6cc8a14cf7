"""What each number of the validation owes to its source, and what is said on top of the page."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import predicted_rows
import pytest
from sample_reproductions import made
from test_reproduce import tables

from ddsim.reproduce import Found, Row
from ddsim.reproduce.basis import EXPLAINED_FROM, KINDS, calibrated, identity, predicted
from ddsim.reproduce.registry import Conclusion
from ddsim.reproduce.rows import beside_published
from ddsim.reproduce.summary import by_kind, contradicted, predictions, unexplained
from ddsim.reproduce.writing import markdown

DOCUMENT = Path(__file__).parent.parent / "docs" / "validation.md"
AGAIN = Path(__file__).parent / "kinds_again.csv"


def row(simulated: float, guess: float, published: float = 100.0, beyond: str = "") -> Row:
    """A predicted row of a system."""
    basis = predicted(guess, "as last time", system="a cluster", beyond=beyond)
    return Row("speed", f"{simulated:g}", simulated, "x", published, source="a", basis=basis)


def test_a_published_zero_is_compared_absolutely() -> None:
    """It has no relative error, and a nearer number is nearer all the same."""
    near, far = row(0.009, guess=0.02, published=0.0), row(0.03, guess=0.02, published=0.0)
    assert near.relative_error is None
    assert (near.beats_guess, far.beats_guess) == (True, False)


def test_rounding_is_no_error_of_a_guess() -> None:
    """A guess that is the published number but for its last digits is 0% off."""
    assert row(1.0, guess=0.1 + 0.2, published=0.3).guess_error == 0.0


def test_a_system_counts_once_whatever_it_was_measured_under() -> None:
    """The same code on a thin link and under faults is one system."""
    names = ["a code on a thin link", "a code under a storm", "another code"]
    bases = [predicted(1.0, "as last time", system=name) for name in names]
    rows = [Row("speed", "x", 1.0, "x", 1.0, source="a", basis=basis) for basis in bases]
    assert predictions({"a": Found(rows)}).systems == ("a code", "another code")


@pytest.mark.slow
def test_every_published_number_has_a_kind_and_what_is_behind_it() -> None:
    """A reason where it is not predicted, a guess with its making where it is."""
    for item in made().values():
        for one in beside_published(item.rows):
            assert one.basis is not None, one
            assert one.basis.kind in KINDS
            if one.basis.kind == "predicted":
                assert one.basis.guess is not None
                assert one.basis.guessed
            else:
                assert one.basis.why


@pytest.mark.slow
def test_no_kind_gains_or_loses_numbers_unnoticed() -> None:
    """`python tests/predicted_rows.py --write` renews what is kept."""
    assert predicted_rows.kinds() == predicted_rows.kept()["kinds"]


@pytest.mark.slow
def test_no_predicted_error_drifts_unnoticed() -> None:
    """A coarse pass, whose seeds are fixed; `python tests/predicted_rows.py --write` renews it."""
    assert predicted_rows.errors() == pytest.approx(predicted_rows.kept()["errors"], abs=2e-3)


@pytest.mark.slow
def test_the_page_has_the_kind_of_every_number() -> None:
    """As the code assigns it."""
    kinds = {key: cells[2] for key, cells in tables(DOCUMENT.read_text(encoding="utf-8")).items()}
    assert kinds == {key: cells[2] for key, cells in tables(markdown(made())).items()}


def test_every_prediction_far_off_on_the_page_has_a_sentence() -> None:
    """None stands under the heading without one."""
    text = DOCUMENT.read_text(encoding="utf-8").split("\n## Predicted\n")[1].split("\n## ")[0]
    far = [
        cells
        for line in text.splitlines()
        if (cells := line.split(" | "))[-1:] in (["yes |"], ["no |"])
        and cells[-3] != "-"  # of nothing no error is a share
        and abs(float(cells[-3].rstrip("%"))) > 100 * EXPLAINED_FROM
    ]
    said = [line for line in text.split("% off:")[1].splitlines() if line.startswith("- ")]
    assert far
    for cells in far:
        cell = cells[0].split(", ", 1)[1]
        assert any(cell in line and re.search(r"\. [A-Z].+\.$", line) for line in said), cell


def test_a_prediction_far_off_without_a_sentence_is_found() -> None:
    """Beyond 15%, and only there."""
    bare, near, told = row(120, 90), row(110, 90), row(120, 90, beyond="The sun shone.")
    assert unexplained([bare, near, told]) == [bare]


def test_the_headline_is_of_the_predicted_alone() -> None:
    """Median and worst error, with and without those that a naive guess is as near as."""
    rows = [row(101, 90), row(104, 90), row(110, 95), row(130, 140)]
    other = Row("speed", "other", 500, "x", 100.0, source="a", basis=calibrated("all of it"))
    said = predictions({"a": Found([*rows, other])})
    assert (said.median, said.worst) == pytest.approx((0.07, 0.3))
    assert said.beaten == 3
    assert said.median_beaten == pytest.approx(0.04)
    assert said.systems == ("a cluster",)


def test_numbers_are_counted_by_kind() -> None:
    """Those without a published number are of none."""
    rows = [row(101, 90), Row("q", "c", 1.0), Row("q", "d", 1, "", 1.0, basis=identity("it is"))]
    assert {of.kind: of.numbers for of in by_kind({"a": Found(rows)}) if of.numbers} == {
        "identity": 1,
        "predicted": 1,
    }


def test_only_conclusions_that_do_not_hold_are_contradicted() -> None:
    """They stand on top of the page with what would explain them."""
    held = Conclusion("It is warm.", "So it is here.", True, "")
    not_held = Conclusion("It rains.", "Here it does not.", False, "A cloud would do.")
    found = {"causes": Found([], conclusions=[held, not_held])}
    assert contradicted(found) == [("causes", not_held)]
    text = markdown(found)
    assert "- causes: It rains. Here it does not. A cloud would do." in text
    assert "It is warm." not in text


def test_the_page_lists_what_ddsim_contradicts() -> None:
    """Two conclusions that it is known not to bear out are among them."""
    text = DOCUMENT.read_text(encoding="utf-8")
    listed = text.split("## Contradicted conclusions")[1].split("\n## ")[0]
    for name, words in (
        ("scavenging", "Borrowed compute slows data-parallel"),
        ("sites", "198 for data_parallel and 0.84"),
    ):
        assert f"- {name}: " in listed
        assert words in listed


def test_a_second_assignment_of_kinds_agrees() -> None:
    """From the questions of docs/validation-kinds.md and the sources: 95% and more are the same."""
    lines = list(csv.DictReader(AGAIN.read_text(encoding="utf-8").splitlines()))
    page = DOCUMENT.read_text(encoding="utf-8")
    first, second = [], []
    for section in page.split("\n## Predicted\n")[1].split("\n## ")[1:]:
        for found in re.finditer(rf"^\| (.+) \| (.+) \| ({'|'.join(KINDS)}) \|", section, re.M):
            quantity, cell, kind = found.groups()
            rules = [
                line["kind"]
                for line in lines
                if section.startswith(line["section"])
                and re.fullmatch(line["quantity"], quantity)
                and re.fullmatch(line["cell"], cell)
            ]
            assert rules, f"nobody has assigned a kind to {quantity}, {cell}, a second time"
            first.append(kind)
            second.append(rules[0])
    same = sum(one == other for one, other in zip(first, second, strict=True))
    assert len(first) >= 300
    assert same >= 0.95 * len(first)
