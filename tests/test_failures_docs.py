"""What docs/failures.md shows works as it stands."""

import re
from pathlib import Path

import on_failure_table
import pytest
from command_line import ddsim as command

import ddsim

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_scenario_of_the_page_runs(tmp_path: Path) -> None:
    """Every cause in it strikes something in the time of the run, or is a link's."""
    text, *_ = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    file = tmp_path / "my_failures.yaml"
    file.write_text(text)
    scenario = ddsim.load(file)
    for result in ddsim.run(scenario).results:
        assert sum(result.accounts.values()) == pytest.approx(1.0, abs=1e-9)
        found = result.extra["blast_radius"]["by_cause"]
        assert {"GPU", "software", "spot", "overheating"} <= set(found)
        assert result.accounts["degraded"] > 0.0
        assert result.accounts["unallocated"] > 0.0


@pytest.mark.slow
def test_the_commands_of_the_page_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each names a command and a scenario or file that exist."""
    monkeypatch.chdir(ROOT)
    for line in "".join(re.findall(r"```sh\n(.*?)```", PAGE, re.S)).splitlines():
        _, name, what, *options = line.split()
        settings = [item for item in options if item == "--set" or "=" in item]
        ran = command("check", what, *settings) if name == "run" else command(name, what)
        assert ran.code == 0


@pytest.mark.slow
def test_what_the_rules_cost_is_what_the_page_says() -> None:
    """Every number of the table comes out of the run of today."""
    assert on_failure_table.written() == on_failure_table.rows()


def test_the_rules_can_be_set_for_one_method(tmp_path: Path) -> None:
    """As the page has it, on top of its scenario."""
    scenario, *others = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    (settings,) = (block for block in others if "training.on_failure" in block)
    before, after = scenario.split("methods:\n")
    file = tmp_path / "my_failures.yaml"
    file.write_text(before + settings + after[after.index("model:") :])
    loaded = ddsim.load(file)
    assert [
        loaded.for_method(name).training.on_failure for name in ("diloco", "streaming_diloco")
    ] == [
        "drop",
        "rollback",
    ]
