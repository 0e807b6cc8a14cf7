"""Predictions that are committed before their published values enter the tree."""

from __future__ import annotations

import csv
import subprocess
from functools import cache
from pathlib import Path

import blind_history
import pytest

from ddsim.reproduce import Found, reproduce
from ddsim.reproduce.basis import predicted
from ddsim.reproduce.blind import found
from ddsim.reproduce.blind_tables import BlindError, predictions, shipped, values
from ddsim.reproduce.gallery import gallery
from ddsim.reproduce.rows import Row, beside_published, without_value
from ddsim.reproduce.summary import predictions as summed
from ddsim.reproduce.writing import csv_text, markdown

TREE = Path(__file__).parent.parent
DOCUMENT = TREE / "docs" / "validation.md"
PREDICTED = "name,quantity,cell,system,unit,predicted,guess,guessed,assumes"
PUBLISHED = "name,quantity,cell,published,source,commit,beyond"
MADE = f"{PREDICTED}\nfleets,goodput,a,a cluster,%,91.234,80,as last year,Nodes are alike.\n"
HASH = "0123456789abcdef"


def value(published: float = 90.0, commit: str = HASH, beyond: str = "") -> str:
    """A text of the table of values with the value of the one prediction in `MADE`."""
    return f"{PUBLISHED}\nfleets,goodput,a,{published},a paper,{commit},{beyond}\n"


def pages(published: str, now: float = 91.234) -> tuple[str, dict[str, str], str]:
    """Page, line of CSV and gallery of the prediction in `MADE` with those values."""
    made = predictions(MADE)
    item = found("fleets", {("goodput", "a"): now}, made, values(published, made))
    said = {"fleets": item}
    (line,) = csv.DictReader(csv_text(said).splitlines())
    return markdown(said), line, gallery(said)


def test_a_prediction_without_a_value_says_so() -> None:
    """On the page, in the numbers and in the gallery; none of them counts it as a number."""
    page, line, pictures = pages(PUBLISHED)
    assert "Prediction without a value yet: 1." in page
    assert "| prediction without a value yet | cell | of | predicted | guess | unit |" in page
    assert "| goodput | a | a cluster | 91.23 | 80 | % |" in page
    assert "- guess: as last year." in page
    assert "0 published or measured numbers" in page
    assert (line["kind"], line["published"], line["blind"]) == ("predicted", "", "no value yet")
    assert "prediction without a value yet" in pictures
    assert "guess: as last year." in pictures


def test_a_prediction_with_a_value_shows_the_commit() -> None:
    """Beside the number in the table of predictions, under its own table, and in the files."""
    page, line, pictures = pages(value())
    assert "1 of them were predicted before the value was known" in page
    assert "| fleets: goodput, a | a cluster | 0123456 | 90 | 91.23 | 80 | % | 1.37% |" in page
    assert "- predicted before the value was known, in commit 0123456." in page
    assert "without a value" not in page
    assert (line["kind"], line["published"], line["blind"]) == ("predicted", "90", "0123456")
    assert "predicted before its value, in commit" in pictures
    assert "0123456" in pictures


@pytest.mark.parametrize("published", [PUBLISHED, value()])
def test_the_committed_number_counts_and_what_the_engine_gives_now_is_said(published: str) -> None:
    """Both stand on the page and in the gallery where a page would print them differently."""
    said = "goodput, a: committed as 91.23, which counts; the engine gives 88 now."
    page, line, pictures = pages(published, now=88.0)
    assert said in page
    assert said in pictures
    assert (line["simulated"], line["simulated_now"]) == ("91.234", "88")
    page, _, pictures = pages(published, now=91.2341)
    assert "which counts" not in page + pictures


def test_blind_predictions_have_a_median_of_their_own() -> None:
    """Those without a value are counted apart."""
    made = predictions(f"{MADE}fleets,goodput,b,a cluster,%,50,40,as last year,Nodes are alike.\n")
    other = Row("speed", "c", 150, "x", 100.0, source="a", basis=predicted(1, "as last time"))
    item = found(
        "fleets", {("goodput", "a"): 91, ("goodput", "b"): 50}, made, values(value(), made)
    )
    said = summed({"fleets": item, "causes": Found([other])})
    assert (len(said.rows), said.blind, said.waiting) == (2, 1, 1)
    assert said.median_blind == pytest.approx(1.234 / 90)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,cell\n", ["blind_predictions.csv, line 1", '"name,cell"', PREDICTED]),
        (MADE.replace("80", "many"), ["line 2", '"guess": found "many"; a number']),
        (MADE.replace("as last year", ""), ["line 2", '"guessed": found nothing']),
        (MADE + MADE.splitlines()[1], ["line 3", "each stands once"]),
        (MADE.replace(",Nodes are alike.", ""), ["line 2", "fewer cells than line 1"]),
    ],
)
def test_a_prediction_that_is_wrong_is_named(text: str, words: list[str]) -> None:
    """File, line, field, what was found and what is allowed."""
    with pytest.raises(BlindError) as caught:
        predictions(text)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (value(commit="HEAD"), ["blind_values.csv, line 2", '"commit": found "HEAD"; 12 to 40']),
        (value().replace("goodput,a", "godput,a"), ['did you mean "fleets: goodput: a"?']),
        (value().replace("a paper", ""), ["line 2", '"source": found nothing']),
        (value().replace("90.0", ">90"), ['"published": found ">90"; a number']),
    ],
)
def test_a_value_that_is_wrong_is_named(text: str, words: list[str]) -> None:
    """A commit that is none, a prediction that there is not, no source, no number."""
    with pytest.raises(BlindError) as caught:
        values(text, predictions(MADE))
    assert all(word in str(caught.value) for word in words)


def test_a_value_far_off_needs_a_sentence() -> None:
    """The error says how far off, and where the sentence goes."""
    with pytest.raises(BlindError, match=r'blind_values.csv, line 2, "beyond".* 21.6% off'):
        pages(value(75.0))
    page, _, _ = pages(value(75.0, beyond="Nodes differ."))
    assert "- fleets: a. Nodes differ." in page


def test_what_the_engine_gives_is_said_where_nothing_is_predicted() -> None:
    """And a cell that only one of the two knows is named."""
    made = predictions(MADE.replace("91.234", ""))
    with pytest.raises(BlindError, match=r'"predicted": found nothing; the engine gives 12\.3457'):
        found("fleets", {("goodput", "a"): 12.34567}, made, {})
    with pytest.raises(BlindError, match='has none for what the engine gives: "goodput, b"'):
        found("fleets", {("goodput", "b"): 1.0}, {}, {})
    with pytest.raises(BlindError, match=r'the engine gives none for what .*: "goodput, a"'):
        found("fleets", {}, made, {})


# The tree itself


@cache
def blind_rows() -> dict[str, Found]:
    """What the engine gives now of every blind prediction."""
    names = dict.fromkeys(key[0] for key in shipped()[0])
    return reproduce(names, quick=True) if names else {}


@pytest.mark.slow
def test_blind_predictions_are_as_they_were_committed_or_the_page_says_both() -> None:
    """`make validate` puts on docs/validation.md what the engine gives now."""
    page = DOCUMENT.read_text(encoding="utf-8")
    for item in blind_rows().values():
        for row in item.rows:
            assert row.basis is not None
            assert row.basis.kind == "predicted"
            assert row.foretold is not None
            moved = f"- {row.quantity}, {row.cell}: {row.foretold.moved}."
            assert not row.foretold.moved or moved in page


@pytest.mark.slow
def test_the_page_has_every_blind_prediction() -> None:
    """With the commit where its value is known, without a value where it is not."""
    page = DOCUMENT.read_text(encoding="utf-8")
    for name, item in blind_rows().items():
        for row in without_value(item.rows):
            assert f"| {row.quantity} | {row.cell} | {row.basis and row.basis.system} | " in page
        for row in beside_published(item.rows):
            assert row.foretold is not None
            start = f"| {name}: {row.quantity}, {row.cell} | "
            assert f"{start}{row.basis and row.basis.system} | {row.foretold.mark} | " in page


def test_each_commit_held_the_prediction_before_the_value() -> None:
    """Asked of the history, where there is all of it."""
    if reason := blind_history.without_history(TREE):
        pytest.skip(reason)
    assert blind_history.complaints(TREE) == []


# A history of its own


class History:
    """A repository with the two tables, committed step by step."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / blind_history.FOLDER).mkdir(parents=True)
        self.git("init", "--quiet")
        self.commit(f"{PREDICTED}\n", f"{PUBLISHED}\n")

    def git(self, *words: str) -> str:
        """What git prints."""
        names = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]
        command = ["git", *names, "-C", str(self.root), *words]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        return ran.stdout.strip()

    def commit(self, made: str, published: str) -> str:
        """The hash of a commit with those tables."""
        folder = self.root / blind_history.FOLDER
        (folder / "blind_predictions.csv").write_text(made, encoding="utf-8")
        (folder / "blind_values.csv").write_text(published, encoding="utf-8")
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a step")
        return self.git("rev-parse", "HEAD")

    def said(self) -> str:
        """All that is wrong with it."""
        return "\n".join(blind_history.complaints(self.root))


@pytest.fixture
def history(tmp_path: Path) -> History:
    """One with two empty tables."""
    if blind_history.git(tmp_path, "--version") is None:
        pytest.skip("there is no git")
    return History(tmp_path / "tree")


def test_a_prediction_committed_before_its_value_is_taken(history: History) -> None:
    """The commit of the prediction, or any between it and the value's."""
    first = history.commit(MADE, f"{PUBLISHED}\n")
    second = history.commit(MADE, f"{PUBLISHED}\n")
    for commit in (first, second):
        history.commit(MADE, value(commit=commit))
        assert blind_history.without_history(history.root) == ""
        assert history.said() == ""


def test_a_commit_without_the_prediction_is_refused(history: History) -> None:
    """So is one that this history does not hold."""
    before = history.git("rev-parse", "HEAD")
    history.commit(MADE, value(commit=before))
    assert "holds no prediction of fleets, goodput, a" in history.said()
    history.commit(MADE, value(commit=HASH))
    assert f"line 2, commit {HASH}: no commit that this history holds" in history.said()


def test_a_prediction_changed_since_is_refused(history: History) -> None:
    """Its number within what a page prints, its guess and the rule of it."""
    commit = history.commit(MADE, f"{PUBLISHED}\n")
    history.commit(MADE.replace("91.234", "91.2342"), value(commit=commit))
    assert history.said() == ""
    history.commit(MADE.replace("91.234", "90.1"), value(commit=commit))
    assert "was predicted as 91.23 there, and is 90.1 now" in history.said()
    history.commit(MADE.replace(",80,", ",20,"), value(commit=commit))
    assert "guess of fleets, goodput, a was 80.0 there, and is 20.0 now" in history.said()


def test_a_value_that_was_there_already_is_refused(history: History) -> None:
    """With the prediction, or at any time before, though it was taken out in between."""
    together = history.commit(MADE, value())
    history.commit(MADE, value(commit=together))
    assert f"was there before, in commit {together[:12]}" in history.said()
    out_again = history.commit(MADE, f"{PUBLISHED}\n")
    history.commit(MADE, value(commit=out_again))
    assert "the value of fleets, goodput, a was there before, in commit" in history.said()


def test_no_history_is_asked_where_there_is_not_all_of_it(history: History, tmp_path: Path) -> None:
    """An archive, a folder within another repository, a shallow clone: each is a reason to skip."""
    history.commit(MADE, f"{PUBLISHED}\n")
    assert "no git repository" in blind_history.without_history(history.root / "ddsim")
    shallow = tmp_path / "shallow"
    history.git("clone", "--quiet", "--depth", "1", history.root.as_uri(), str(shallow))
    assert "shallow clone" in blind_history.without_history(shallow)
