"""The pages in a browser: by keyboard, by axe-core, on a phone and at a desk, without script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser import WIDTHS, browser, opened, program
from sample_figures import study_of, uncertain
from sample_results import comparison

from ddsim.report import run_report, study_report
from ddsim.reproduce import Found, Row
from ddsim.reproduce.gallery import gallery

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGES: dict[str, Callable[[], str]] = {
    "run": lambda: run_report(comparison()),
    "study": lambda: study_report(study_of()),
    "uncertain": lambda: study_report(uncertain()),
    "gallery": lambda: gallery({"page": Found([Row("speed", "cell", 12.0, "x", 20.0)])}),
}
"""Every kind of page, of results made by hand."""


@pytest.fixture(scope="module")
def one() -> Iterator[Browser]:
    """A browser for all tests of this file."""
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all pages."""
    where = tmp_path_factory.mktemp("pages")
    for name, make in PAGES.items():
        (where / f"{name}.html").write_text(make(), encoding="utf-8")
    return where


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_it_fits_and_is_accessible_and_says_nothing(
    one: Browser, folder: Path, name: str, width: int
) -> None:
    """No wider than the window, clean by axe-core, nothing on the console, nothing fetched."""
    with opened(one, folder / f"{name}.html", width) as found:
        assert found.excess() == 0
        assert found.violations() == []
        assert found.console == []
        outside = [url for url in found.asked if not url.startswith(("data:", "file:"))]
        assert outside == []


def shown(page: Page, selector: str) -> int:
    """How many elements of that kind are to be seen."""
    return page.locator(f"{selector}:visible").count()


@pytest.mark.slow
def test_methods_and_time_are_chosen_by_keyboard(one: Browser, folder: Path) -> None:
    """Space switches a method off, arrows zoom and move; charts stand in the pictures' place."""
    with opened(one, folder / "run.html", 380) as found:
        page = found.page
        assert shown(page, ".chart svg") == 3
        page.locator("[data-methods] input").first.focus()
        page.keyboard.press("Space")
        assert shown(page, ".chart svg") == 2
        page.locator("[data-zoom]").focus()
        page.keyboard.press("ArrowDown")
        page.locator("[data-where]").focus()
        page.keyboard.press("End")
        page.wait_for_function("document.querySelector('.chart:last-of-type').innerHTML !== ''")
        last = page.locator(".chart:visible").last
        last.locator("text", has_text="10").first.wait_for()
        assert last.locator("svg text", has_text="1").count() > 0
        assert "0" not in last.locator("svg text").all_text_contents()
        assert found.console == []


@pytest.mark.slow
def test_tables_are_sorted_by_keyboard(one: Browser, folder: Path) -> None:
    """Enter on a heading sorts upwards, then downwards, and says so."""
    with opened(one, folder / "run.html", 1280) as found:
        page = found.page
        table = page.locator("table.sortable").first
        head = table.locator("thead th").nth(1)
        head.locator("button").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        assert head.get_attribute("aria-sort") == "descending"
        cells = table.locator("tbody tr td:nth-child(2)").all_text_contents()
        assert cells == sorted(cells, key=float, reverse=True)
        assert len(cells) == 2


@pytest.mark.slow
def test_controls_choose_a_simulated_cell_and_tiles_open_it(one: Browser, folder: Path) -> None:
    """A select for each path; what is shown is that cell's row, and never between two."""
    with opened(one, folder / "study.html", 380) as found:
        page = found.page
        page.locator("[data-choice='network.bandwidth']").focus()
        page.keyboard.press("Home")
        assert "1 Gbit/s" in page.locator("[data-chosen]").inner_text()
        rows = page.locator("[data-cells] tbody tr").all_text_contents()
        assert len(rows) == 2
        tile = page.locator("[data-map]:visible a").last
        number = tile.inner_text()
        tile.focus()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.matches('[data-chosen]')")
        assert "16" in page.locator("[data-chosen]").inner_text()
        assert number in page.locator("[data-cells] tbody").inner_text()
        assert found.console == []


@pytest.mark.slow
def test_without_script_tables_and_pictures_are_whole(one: Browser, folder: Path) -> None:
    """No control that does nothing; every picture and every table is there, maps and links too."""
    for name in PAGES:
        with opened(one, folder / f"{name}.html", 380, script=False) as found:
            page = found.page
            assert shown(page, "input") == shown(page, "select") == shown(page, "button") == 0
            assert shown(page, "img") == page.locator("img").count()
            assert shown(page, "table") >= 1
            assert found.excess() == 0
    with opened(one, folder / "study.html", 380, script=False) as found:
        link = found.page.locator("[data-map] a").first
        target = found.page.locator(str(link.get_attribute("href")))
        assert target.count() == 1


def test_a_missing_browser_fails_in_ci_and_skips_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that CI cannot pass without having looked."""
    monkeypatch.setattr("browser.PROGRAM", None)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        program()
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception):
        program()
