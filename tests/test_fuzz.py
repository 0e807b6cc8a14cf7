"""Whatever is given to a command, it ends soon, with results or with a message for a person."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz import tries

SEED, COUNT = 5, 40


@pytest.mark.slow
def test_hostile_scenarios_overrides_and_logs_are_answered(tmp_path: Path) -> None:
    """No traceback, no error that is not meant for a person, nothing beyond 20 s.

    `python tests/fuzz.py 1000` tries many more.
    """
    found = list(tries(COUNT, SEED, tmp_path))
    assert [(item.number, item.fault, item.words) for item in found if item.fault] == []
    codes = {item.ran.code for item in found if item.ran is not None}
    assert codes >= {0, 2}
