"""What docs/logs.md shows works as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from command_line import ddsim

from ddsim.logs import presets, read_log

PAGE = (Path(__file__).parent.parent / "docs" / "logs.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(sh|python|yaml)\n(.*?)```", PAGE, re.DOTALL)
BY_KIND = {kind: [text for one, text in BLOCKS if one == kind] for kind in ("sh", "python", "yaml")}


def test_every_format_has_a_row() -> None:
    """In the table of formats."""
    named = set(re.findall(r"^\| `([\w-]+)` \|", PAGE, re.MULTILINE))
    assert set(presets()) - {"goodput", "megatron", "steps", "storm"} <= named


@pytest.mark.slow
def test_the_commands_of_the_page_work() -> None:
    """On the logs that ship."""
    for line in BY_KIND["sh"][0].splitlines():
        ran = ddsim(*shlex.split(line)[1:])
        assert ran.code == 0, ran.err
        assert ran.out


@pytest.mark.slow
def test_the_code_of_the_page_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the scenario of the page, in fewer replications."""
    monkeypatch.chdir(tmp_path)
    Path("our_cluster.yaml").write_text(BY_KIND["yaml"][0])
    (code,) = BY_KIND["python"]
    made: dict[str, Any] = {}
    exec(compile(code.replace("replications=4", "replications=2, jobs=1"), "logs.md", "exec"), made)
    summary = made["study"].summary()
    assert summary["checkpoint.interval"].nunique() == 3
    assert summary["merged_goodput"].between(0.0, 1.0).all()


def test_the_format_of_ones_own_on_the_page_is_one(tmp_path: Path) -> None:
    """It reads jobs, and counts what failed."""
    own, log = tmp_path / "mine.yaml", tmp_path / "jobs.csv"
    own.write_text(BY_KIND["yaml"][1])
    log.write_text(
        "how,began,ended\nbroke,2026-01-05T00:00Z,2026-01-05T10:00Z\n"
        "running,2026-01-05T01:00Z,running\nwaiting,,\n"
    )
    report = read_log(log, str(own))
    assert (report.summary.removals, report.summary.unended) == (1, 1)
    assert report.causes[0]["name"] == "node failure"


def test_the_codes_of_the_page_are_those_of_the_preset() -> None:
    """Which XIDs are failures stands in both."""
    listed = PAGE.partition("serviced are failures,")[2].partition(".\n")[0]
    codes = set(map(int, re.findall(r"\d+", listed)))
    failed = presets()["xid"].settings["failed"]
    assert codes == {int(code) for code in failed}


def test_uncertain_causes_are_ranges_around_the_causes() -> None:
    """As wide as the intervals; where a log names no causes there are none."""
    log = read_log("slurm_month", timezone="Europe/Berlin")
    assert [cause["name"] for cause in log.causes] == ["job failure", "node failure"]
    ranges = log.uncertain_causes
    assert ranges[0]["per"]["low"].endswith(" h")
    assert set(ranges[1]["mtbi"]) == {"low", "high"}
    assert list(log.rates()["failures"]) == [27, 7]
