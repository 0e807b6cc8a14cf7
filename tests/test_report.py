"""The HTML report of a run or a study."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from command_line import ddsim
from sample_figures import to_a_loss
from sample_results import comparison, record
from study_case import small

import ddsim as package
from ddsim.report import charts, parts, run_report, study_report
from ddsim.report import page as page_of_run
from ddsim.report.quality import law_texts
from ddsim.results import Span, mean_of
from ddsim.results.verdict import leads, verdict
from ddsim.study.measures import difference
from ddsim.study.work import numbers_of
from ddsim.world.chance import Chance

VOID = {"meta", "link", "img", "br", "input"}


@dataclass
class Page(HTMLParser):
    """The elements of a page, checked for proper nesting while they are read."""

    open: list[str] = field(default_factory=list)
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
            self.text.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element, which has to be this one."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note text with the element that it stands in."""
        if self.open:
            self.text[self.open[-1]][-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every element of that name."""
        return [attributes for name, attributes in self.elements if name == tag]


def read(text: str) -> Page:
    """Parse a page."""
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open
    return page


@pytest.fixture(scope="module")
def run_page() -> str:
    """The report of results made by hand."""
    return run_report(replace(comparison(), resolved="name: a\ndescription: Is <this> safe?\n"))


@pytest.fixture(scope="module")
def study_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of a small study with two cells a method."""
    folder = tmp_path_factory.mktemp("study")
    vary = {"failures.chip_mtbi": ["5 day", "50 day"]}
    return study_report(package.sweep(small(folder), vary, replications=3))


@pytest.fixture(scope="module", params=["run", "study"])
def page(request: pytest.FixtureRequest, run_page: str, study_page: str) -> str:
    """Either report."""
    return run_page if request.param == "run" else study_page


@pytest.mark.slow
def test_nothing_is_fetched(page: str) -> None:
    """Pictures and scripts are in the file; there is no address."""
    found = read(page)
    assert all("src" not in script for script in found.all("script"))
    for image in found.all("img"):
        assert str(image["src"]).startswith("data:image/")
    for link in found.all("link"):
        assert str(link["href"]).startswith("data:")
    assert all(str(a["href"]).startswith("#") for a in found.all("a"))
    (style,) = found.text["style"]
    assert "url(" not in style
    assert "@import" not in style


@pytest.mark.slow
def test_it_can_be_read_without_seeing_it(page: str) -> None:
    """Language, landmarks, one h1, labelled sections, text for pictures, headed tables."""
    found = read(page)
    assert found.all("html")[0]["lang"] == "en"
    for landmark in ("header", "nav", "main", "footer", "h1"):
        assert len(found.all(landmark)) == 1
    ids = {attributes["id"] for _, attributes in found.elements if "id" in attributes}
    for section in found.all("section"):
        assert section["aria-labelledby"] in ids
    assert all(str(a["href"])[1:] in ids for a in found.all("a"))
    for image in found.all("img"):
        assert len(str(image["alt"])) > 40
        assert image["width"]
        assert image["height"]
    assert len(found.all("table")) == len(found.all("caption")) > 0

    assert {th["scope"] for th in found.all("th")} == {"col", "row"}


def test_what_scrolls_can_be_reached_by_keyboard(page: str) -> None:
    """Wide tables and figures scroll in boxes that take the focus and have a name."""
    boxes = [d for d in read(page).all("div") if d.get("class") == "scroll"]
    assert boxes
    assert all(box["tabindex"] == "0" and box["aria-label"] for box in boxes)


def test_ids_are_unique(page: str) -> None:
    """No two elements share one."""
    ids = [attributes["id"] for _, attributes in read(page).elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_it_fits_a_phone_and_paper(page: str) -> None:
    """The viewport is the device's, and printing has rules of its own."""
    (viewport,) = [m for m in read(page).all("meta") if m.get("name") == "viewport"]
    assert viewport["content"] == "width=device-width, initial-scale=1"
    assert "@media print" in page


@pytest.mark.slow
def test_the_question_is_the_scenarios_description(run_page: str) -> None:
    """Escaped; `title` replaces it, and a scenario without one has its name there."""
    assert escape("Is <this> safe?") in run_page
    assert "<this>" not in run_page
    assert "<h1>Why?</h1>" in run_report(comparison(), title="Why?")
    assert "<h1>sample</h1>" in run_report(comparison())


def test_a_run_has_all_its_parts(run_page: str) -> None:
    """Comparison, accounts, timeline, how far to trust it, scenario."""
    assert read(run_page).text["h2"] == [
        "Comparison",
        "Where the time went",
        "Timeline",
        "How far to trust it",
        "Scenario",
    ]


def test_accounts_are_a_table_that_adds_up(run_page: str) -> None:
    """Every column of shares is 100 per cent."""
    table = run_page.split("each column adds up to 100</caption>")[1].split("</table>")[0]
    rows = [re.findall(r"<td>([\d.]+)</td>", line) for line in table.splitlines()]
    for column in zip(*filter(None, rows), strict=True):
        assert sum(map(float, column)) == pytest.approx(100, abs=0.05)


def test_intervals_stand_in_the_comparison() -> None:
    """In per cent, where there are replications."""
    results = replace(comparison(5), results=[record(goodput=0.9, goodput_ci95=(0.88, 0.92))])
    assert "<td>88.00 to 92.00</td>" in run_report(results)


@pytest.mark.slow
def test_without_the_extra_figures_are_pictures_and_the_page_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No chart, no control of one, no library; tables are sorted all the same."""
    for module in (charts, page_of_run, parts):
        monkeypatch.setattr(module, "available", lambda: False)
    text = run_report(comparison())
    assert "ddsim[report]" in text
    assert 'class="chart"' not in text
    assert "vegaEmbed = vegaEmbed" not in text
    assert 'class="sortable"' in text
    assert len(text) < 400_000


@pytest.mark.slow
def test_pages_stay_small(run_page: str, study_page: str) -> None:
    """The library is most of them; many spans make no more boxes than there is room for."""
    assert max(len(run_page), len(study_page)) < 1_500_000
    spans = [
        Span(f"unit {unit}", float(start), start + 1.0, state, 8, share)
        for unit in range(12)
        for start in range(2000)
        for state, share in (("running", 0.5) if start % 2 else ("waiting_on_peers", 0.0),)
    ]
    results = [record(name, timeline=spans) for name in ("diloco", "decoupled_diloco")]
    assert len(run_report(replace(comparison(), results=results))) < 3_000_000


def verdict_of(*shares: tuple[float, ...]) -> str:
    """The verdict on two methods with these merged goodputs in each history."""
    names = ("diloco", "decoupled_diloco")
    parts_of = [
        [record(name, share) for share in of] for name, of in zip(names, shares, strict=True)
    ]
    results = [mean_of(of) for of in parts_of]
    return verdict(replace(comparison(len(shares[0])), results=results))


def test_the_verdict_says_tie_where_the_paired_difference_may_be_0() -> None:
    """Over shared histories: differences of both signs are a tie, those of one sign are none."""
    assert verdict_of((0.5, 0.7, 0.9), (0.52, 0.69, 0.9)).startswith("Tie: ")
    first = verdict_of((0.5, 0.7, 0.9), (0.53, 0.74, 0.95))
    assert first.startswith(
        "Decoupled diloco is first with a merged goodput of 74.00%, 4.00 points"
    )
    assert "over 3 shared histories" in first
    assert "95%" in first


def test_the_verdict_on_one_history_says_nothing_of_chance() -> None:
    """A difference without interval, and equal numbers, which are a tie."""
    assert "does not say how much of that is chance" in verdict_of((0.5,), (0.6,))
    assert verdict_of((0.5,), (0.5,)).startswith("Tie: ")


@pytest.mark.parametrize("chance", [Chance(), Chance(strikes=0.9), Chance(faults=0.9)])
@pytest.mark.parametrize("struck", [(0, 0, 0), (0, 2, 0), (1, 2, 0)])
@pytest.mark.parametrize("shares", [(0.6, 0.6, 0.6), (0.6, 0.6, 0.7), (0.6, 0.65, 0.7)])
def test_a_run_is_as_sure_of_its_first_as_a_study_of_the_same_histories(
    shares: tuple[float, ...], struck: tuple[int, ...], chance: Chance
) -> None:
    """The paired difference has an interval in both or in neither, and the same."""
    one, other = (
        [record(name, share, failures=float(n)) for share, n in zip(of, struck, strict=True)]
        for name, of in (("decoupled_diloco", shares), ("diloco", (0.5, 0.5, 0.5)))
    )
    means = [mean_of(one, chance), mean_of(other, chance)]
    _, [lead] = leads(replace(comparison(3), results=means))
    pairs = [(numbers_of(a), numbers_of(b)) for a, b in zip(one, other, strict=True)]
    found = difference(pairs, "merged_goodput", chance)
    assert found is not None
    assert lead.difference == pytest.approx(found.value)
    assert lead.interval == ((found.low, found.high) if found.enough else None)


def test_the_verdict_says_that_too_few_histories_were_struck() -> None:
    """One of three met the failure that is expected in each."""
    struck = [record("diloco", share, failures=n) for share, n in ((0.6, 0), (0.7, 0), (0.8, 1))]
    quiet = [record("data_parallel", 0.5, failures=0.0)] * 3
    means = [mean_of(of, Chance(strikes=1.0)) for of in (struck, quiet)]
    said = verdict(replace(comparison(3), results=means))
    assert said.endswith(
        "3 shared histories, too few of which differ or met a failure for an interval."
    )


def test_what_a_choice_rests_on_comes_first() -> None:
    """Merged goodput, hours and cost to the target with their intervals, before all else."""
    text = run_report(to_a_loss())
    lead = text.split("<header>")[1].split("</header>")[0]
    assert 'class="verdict"' in lead
    assert "<td>240 (120 to 700)</td>" in lead
    assert lead.index("merged goodput (%)") < lead.index("hours to the target")


def test_losses_are_shown_where_a_model_was_trained() -> None:
    """A section with the curve and a table of its ends."""
    learning = {"initial_loss": 3.0, "final_loss": 1.5, "curve": [[0, 0, 3.0], [60, 9, 1.5]]}
    text = run_report(replace(comparison(), results=[record(learning=learning)]))
    assert "Learning" in read(text).text["h2"]
    assert "decoupled diloco from 3 to 1.5" in text


def test_a_study_has_cells_and_differences(study_page: str) -> None:
    """A row a cell with its interval, and what methods differ by."""
    headings = read(study_page).text["h2"]
    assert headings[:3] == ["Comparison", "Where the time went", "Differences"]
    assert headings[-1] == "Scenario"
    assert study_page.count("<td>50 day</td>") >= 2


def test_a_studys_page_says_what_its_words_mean(study_page: str) -> None:
    """What goodput is, what a path is called; each caption once."""
    assert "merged goodput is the part of it that entered a merge" in study_page
    captions = re.findall(r"<(?:fig)?caption>([^<]*)", study_page)
    assert sum("of each cell with its 95% interval" in caption for caption in captions) == 1
    assert '<th scope="col">chip_mtbi</th>' in study_page


def test_a_studys_page_has_its_target_and_the_range_of_its_law() -> None:
    """As a run prints them; nothing of a scenario without a law, or with Python of its own."""
    resolved = package.load("which_method_first").resolved()
    target, beyond = law_texts(resolved)
    assert target == (
        "The target is a loss of 2.157 nats by chinchilla_besiroglu, what 20 tokens a parameter "
        "come to."
    )
    assert beyond.startswith("Beyond the law's range: ")
    assert law_texts("") == law_texts("quality: {law: null}") == []
    assert law_texts("python: [a.py]\nquality: {law: x}") == []


def test_a_studys_accounts_add_up(study_page: str) -> None:
    """Each row of shares is 100 per cent."""
    table = study_page.split("of a row add up to 100</caption>")[1].split("</table>")[0]
    rows = [re.findall(r"<td>([\d.]+)</td>", line) for line in table.splitlines()]
    rows = [row for row in rows if row]
    assert len(rows) == 4
    for row in rows:
        assert sum(map(float, row)) == pytest.approx(100, abs=0.05)


@pytest.mark.slow
def test_the_command_writes_the_file(tmp_path: Path) -> None:
    """Into the results' folder or to --out; what is no result is refused."""
    comparison().save(tmp_path / "run")
    ran = ddsim("report", tmp_path / "run")
    assert (ran.code, ran.out.strip()) == (0, str(tmp_path / "run" / "report.html"))
    assert read((tmp_path / "run" / "report.html").read_text(encoding="utf-8"))
    package.sweep(small(tmp_path), replications=2, out=tmp_path / "study")
    ran = ddsim("report", tmp_path / "study", "--out", tmp_path / "s.html", "--title", "How much?")
    assert ran.code == 0, ran.err
    assert "<h1>How much?</h1>" in (tmp_path / "s.html").read_text(encoding="utf-8")
    assert ddsim("report", tmp_path).code == 2


def test_a_run_that_ends_at_its_goal_is_as_long_as_it_took() -> None:
    """And not as long as it was allowed to be."""
    result = replace(record("diloco"), wall_clock_s=7200.0)
    allowed = comparison()
    found = replace(allowed, results=(replace(result, goal="reached"),), duration_s=86400.0)
    assert page_of_run._length(found) == "up to 2 h"
    assert page_of_run._length(replace(found, results=(result,))) == "24 h"
