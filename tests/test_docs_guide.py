"""Every command and every piece of code in docs/guide.md works, in its order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command_line import ddsim

from ddsim.methods import registry

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "guide.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(sh|python)\n(.*?)```", PAGE, re.DOTALL)
LINKS = re.findall(r"\]\(([^)#]+)\)", PAGE)


def run(command: str) -> None:
    """Run a command of the page, in this process alone."""
    program, *arguments = shlex.split(command)
    assert program == "ddsim"
    more = ["--jobs", "1"] if arguments[0] == "sweep" else []
    ran = ddsim(*arguments, *more)
    assert ran.code == 0, f"{command}: {ran.err}"
    assert ran.out or arguments[0] in ("init", "check")


@pytest.mark.slow
def test_commands_and_code_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after another, as a reader would."""
    monkeypatch.chdir(tmp_path)
    assert len(BLOCKS) >= 8
    for language, text in BLOCKS:
        if language == "python":
            exec(compile(text, "guide.md", "exec"), {"__name__": "guide"})
        else:
            for command in text.splitlines():
                run(command)
    for made in ("first/report.html", "drill/timeline.svg", "published/validation.md"):
        assert (tmp_path / "out" / made).is_file()


def test_links_lead_somewhere() -> None:
    """Pages that the guide names are there."""
    assert LINKS
    for link in LINKS:
        assert (DOCS / link).is_file(), link


@pytest.mark.parametrize("method", registry.names())
def test_every_method_is_explained(method: str) -> None:
    """It has a row of its own."""
    assert f"| `{method}` |" in PAGE
