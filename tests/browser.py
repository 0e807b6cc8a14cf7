"""Pages in headless Chromium, as wide as a phone or a desk.

Chromium is the system's (Debian's package `chromium`); playwright brings none of its own here.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PROGRAM = shutil.which("chromium") or shutil.which("google-chrome")
WIDTHS = (380, 1280)
_QUIET = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
_LONG = 60_000  # milliseconds, where much else runs


def program() -> str:
    """Where the browser is; without one tests are skipped, in CI they fail."""
    if PROGRAM is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium here: apt-get install chromium")
        pytest.skip("no Chromium on this machine")
    return PROGRAM


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser for several pages."""
    where = program()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        one = play.chromium.launch(executable_path=where, args=_QUIET.split(), timeout=_LONG)
        yield one
        one.close()


@dataclass
class Opened:
    """A page that is open, and what it has said and asked for since."""

    page: Page
    console: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def violations(self) -> list[str]:
        """What axe-core finds."""
        from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

        found = Axe().run(self.page).response["violations"]
        return [f"{item['id']}: {item['nodes'][0]['html'][:120]}" for item in found]

    def excess(self) -> int:
        """Pixels by which the page is wider than the window."""
        root = "document.documentElement"
        return int(self.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth"))


@contextmanager
def opened(one: Browser, path: Path, width: int, *, script: bool = True) -> Iterator[Opened]:
    """A file as a page of that width, its script done."""
    context = one.new_context(viewport={"width": width, "height": 900}, java_script_enabled=script)
    page = context.new_page()
    page.set_default_timeout(_LONG)
    found = Opened(page)
    page.on("console", lambda message: found.console.append(message.text))
    page.on("pageerror", lambda error: found.console.append(str(error)))
    page.on("request", lambda request: found.asked.append(request.url))
    page.goto(path.as_uri())
    if script:
        page.wait_for_selector("html[data-ready]", state="attached")
    yield found
    context.close()
