"""The notebooks run, use the public interface alone and carry no outputs."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

import ddsim.learning

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    """The cells of a notebook of one kind."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in document["cells"] if cell["cell_type"] == kind]


def source(cell: dict[str, Any]) -> str:
    """A cell's text."""
    return "".join(cell["source"])


def test_there_are_five() -> None:
    """First run, failures, bandwidth, convergence, a decision."""
    assert len(NOTEBOOKS) >= 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(path: Path) -> None:
    """What is checked in is the question and the code."""
    for cell in cells(path, "code"):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_asks_one_question(path: Path) -> None:
    """Its heading is one."""
    heading = source(cells(path, "markdown")[0]).splitlines()[0]
    assert heading.startswith("# ")
    assert heading.endswith("?")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_only_the_public_interface_is_used(path: Path) -> None:
    """What is taken from ddsim is public; numpy is all that stands beside it."""
    for cell in cells(path, "code"):
        for node in ast.walk(ast.parse(source(cell))):
            if isinstance(node, ast.Import):
                assert {name.name for name in node.names} <= {"ddsim", "numpy"}
            if isinstance(node, ast.ImportFrom):
                assert node.module == "ddsim.learning"
                assert {name.name for name in node.names} <= set(ddsim.learning.__all__)
            if isinstance(node, ast.Attribute):
                assert not node.attr.startswith("_")
                if isinstance(node.value, ast.Name) and node.value.id == "ddsim":
                    assert node.attr in ddsim.__all__


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path: Path, tmp_path: Path) -> None:
    """Every cell, in a kernel of its own, without an error."""
    nbformat = pytest.importorskip("nbformat", reason="no Jupyter here")
    nbclient = pytest.importorskip("nbclient", reason="no Jupyter here")
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    assert not [out for out in outputs if out["output_type"] == "error"]
    pictures = sum("image/png" in out.get("data", {}) for out in outputs)
    assert pictures == sum(source(cell).endswith(".figure") for cell in cells(path, "code")) > 0
