"""What the README shows is so."""

import json
from pathlib import Path

import pytest
from command_line import ddsim
from readme import Block, blocks, real_output

import ddsim as package


@pytest.mark.parametrize("block", blocks("output"), ids=lambda block: block.what)
@pytest.mark.slow
def test_outputs_are_real(block: Block) -> None:
    """An output in the README is what the command prints; `make readme` renews it."""
    assert block.text == real_output(block.what)


@pytest.mark.parametrize("block", blocks("scenario"), ids=lambda block: block.kind)
def test_scenarios_are_valid(block: Block, tmp_path: Path) -> None:
    """A scenario in the README passes the check."""
    path = tmp_path / "readme.yaml"
    path.write_text(block.text)
    assert ddsim("check", path).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: block.kind)
def test_code_runs(
    block: Block,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The Python in the README runs, prints what it says and leaves its figure."""
    monkeypatch.chdir(tmp_path)
    exec(compile(block.text, "README.md", "exec"), {"__name__": "readme"})
    assert "decoupled_diloco" in capsys.readouterr().out
    assert (tmp_path / "goodput.png").is_file()


def test_a_method_of_ones_own_runs(tmp_path: Path) -> None:
    """The README's own method, named in its scenario, sends nothing and trains more than DiLoCo."""
    for block in blocks("file"):
        (tmp_path / block.what).write_text(block.text)
    ran = ddsim("run", tmp_path / "alone.yaml", "--json")
    assert ran.code == 0, ran.err
    diloco, alone = json.loads(ran.out)["results"]
    assert alone["method"] == "each_alone"
    assert alone["wan"]["total_bytes"] == 0
    assert alone["tokens"] > diloco["tokens"] > 0
    assert sum(alone["accounts"].values()) == pytest.approx(1.0, abs=1e-9)


def test_a_setting_of_ones_own_makes_a_method(tmp_path: Path) -> None:
    """DiLoCo that meets twice as often sends more, and waits for it."""
    for block in blocks("file"):
        (tmp_path / block.what).write_text(block.text)
    text = (tmp_path / "alone.yaml").read_text()
    text = text.replace("my_methods.py", "twice.py").replace("each_alone", "twice_as_often")
    (tmp_path / "twice.yaml").write_text(text)
    diloco, twice = package.run(package.load(str(tmp_path / "twice.yaml"))).results
    assert twice.wan["total_bytes"] > diloco.wan["total_bytes"]
    assert twice.goodput < diloco.goodput


@pytest.mark.slow
def test_a_problem_of_ones_own_is_trained(tmp_path: Path) -> None:
    """The README's own problem, named in its scenario, is learnt by both methods."""
    for block in blocks("file"):
        (tmp_path / block.what).write_text(block.text)
    ran = ddsim("run", tmp_path / "line.yaml", "--json")
    assert ran.code == 0, ran.err
    for item in json.loads(ran.out)["results"]:
        assert item["learning"]["final_loss"] < 0.5 * item["learning"]["initial_loss"]
