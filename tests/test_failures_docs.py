"""What docs/failures.md shows works as it stands."""

import re
from pathlib import Path

import pytest
from command_line import ddsim as command

import ddsim

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")


def test_the_scenario_of_the_page_runs(tmp_path: Path) -> None:
    """Every cause in it strikes something in the time of the run, or is a link's."""
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    file = tmp_path / "my_failures.yaml"
    file.write_text(text)
    scenario = ddsim.load(file)
    for result in ddsim.run(scenario).results:
        assert sum(result.accounts.values()) == pytest.approx(1.0, abs=1e-9)
        found = result.extra["blast_radius"]["by_cause"]
        assert {"GPU", "software", "spot", "overheating"} <= set(found)
        assert result.accounts["degraded"] > 0.0
        assert result.accounts["unallocated"] > 0.0


def test_the_commands_of_the_page_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each names a command and a scenario or file that exist."""
    monkeypatch.chdir(ROOT)
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.S)
    for line in block.strip().splitlines():
        _, name, what = line.split()
        ran = command("check", what) if name == "run" else command(name, what)
        assert ran.code == 0
