"""How far a long run is, where there is no terminal to draw a bar on."""

from __future__ import annotations

import time

import pytest

from ddsim.cli import progress
from ddsim.cli.base import Talk
from ddsim.cli.study_progress import study_bar
from ddsim.study import Progress


def test_a_line_is_said_by_and_by(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what was done last, though nothing new has been for long."""
    monkeypatch.setattr(progress, "EVERY", 0.01)
    with progress.progress_bar(Talk()) as tell:
        assert tell is not None
        tell(3, 10, "diloco")
        time.sleep(0.2)
    assert "3 of 10 runs done, at diloco, after 0 s" in capsys.readouterr().err


def test_a_study_says_replications_and_cells(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of all that there are."""
    monkeypatch.setattr(progress, "EVERY", 0.01)
    with study_bar(Talk()) as tell:
        assert tell is not None
        tell(Progress(2, 5, 40, 100, None, ""))
        time.sleep(0.2)
    assert "40 of 100 replications done, 2 of 5 cells" in capsys.readouterr().err


def test_the_time_left_is_by_the_pace_since_it_began() -> None:
    """What was there before is no part of it; nothing is said before anything was done."""
    assert progress._left(60.0, 10, 40) == ", about 4 min left"
    assert progress._left(60.0, 10, 5) == ", about 30 s left"
    assert progress._left(60.0, 0, 40) == progress._left(60.0, 50, 0) == ""


def test_the_time_left_gets_shorter_while_one_is_under_way() -> None:
    """And is not said where that one takes longer than all that are left would have."""
    assert progress._left(60.0, 10, 5, 10.0) == ", about 20 s left"
    assert progress._left(1.0, 1, 1, 30.0) == ""


def test_a_line_says_how_long_it_still_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once more is done than there was at first."""
    monkeypatch.setattr(progress, "EVERY", 0.01)
    with study_bar(Talk()) as tell:
        assert tell is not None
        tell(Progress(2, 5, 40, 100, None, ""))
        time.sleep(0.05)
        tell(Progress(2, 5, 41, 100, None, ""))
        time.sleep(0.2)
    assert " s left" in capsys.readouterr().err


def test_what_is_quick_or_quiet_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing within the first half a minute, and nothing at all with -q."""
    with progress.progress_bar(Talk()):
        pass
    monkeypatch.setattr(progress, "EVERY", 0.01)
    with progress.progress_bar(Talk(quiet=True)) as tell:
        time.sleep(0.1)
    assert tell is None
    assert capsys.readouterr().err == ""
