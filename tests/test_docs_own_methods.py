"""What docs/own_methods.md shows is so: its policy, its method, their tables and their errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import ddsim
from readme import Block, blocks

import ddsim as package
from ddsim.engine.policies import Settings, Sight
from ddsim.methods.local import arrays

PAGE = Path(__file__).parent.parent / "docs" / "own_methods.md"
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's files, in the folder that one is in."""
    monkeypatch.chdir(tmp_path)
    for block in blocks("file", PAGE):
        (tmp_path / block.what).write_text(block.text, encoding="utf-8")


def fields_of(heading: str) -> list[str]:
    """The names in the first column of the table under a heading."""
    table = TEXT.split(f"| {heading} |")[1].split("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


@pytest.mark.parametrize(
    ("heading", "fields"),
    [
        ("it may set", Settings._fields),
        ("it sees", Sight._fields),
        ("field", arrays.Settings._fields),
    ],
)
def test_tables_have_every_field(heading: str, fields: tuple[str, ...]) -> None:
    """In their order."""
    assert tuple(fields_of(heading)) == fields


@pytest.mark.slow
def test_the_policy_decides() -> None:
    """From 8 h on its few bits, all before."""
    result = package.run(package.load("night.yaml"))["decoupled_diloco"]
    log = result.extra["policy"]["log"]
    assert log[0]["payload_bits"] == 1
    assert log[0]["at_s"] == pytest.approx(8 * 3600, abs=60)
    assert len(log) == 1


@pytest.mark.slow
def test_the_method_synchronizes() -> None:
    """Two by two, over the links, all through failures; all of its time is accounted for."""
    lost = {"at": "1 h", "fault": "kill", "target": "unit 1", "for": "10 min"}
    results = package.run(package.load("gossip.yaml", {"chaos": [lost]}))
    gossip, diloco = results["gossip"], results["diloco"]
    assert len(gossip.merges) > 100
    assert {len(merge.learners) for merge in gossip.merges} == {2}
    assert gossip.wan["total_bytes"] > 0
    assert gossip.failures == diloco.failures > 0
    assert sum(gossip.accounts.values()) == pytest.approx(1.0, abs=1e-9)
    assert gossip.merged_share is not None
    assert 0.9 < gossip.merged_share < 1.0  # but for what the lost unit had not handed over
    assert gossip.accounts["waiting_on_peers"] > 0


@pytest.mark.parametrize("block", blocks("error", PAGE), ids=lambda block: block.what)
def test_errors_are_those_shown(block: Block, tmp_path: Path) -> None:
    """Of the policy with its last line in place of another."""
    code = tmp_path / "night_bits.py"
    *lines, _ = code.read_text(encoding="utf-8").splitlines()
    code.write_text("\n".join([*lines, f"        {block.what}"]), encoding="utf-8")
    ran = ddsim("run", "night.yaml", "--set", "duration=10 min")
    assert ran.code == 2
    assert block.text.strip() in ran.err.replace(f"{tmp_path}/", "")
