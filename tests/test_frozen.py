"""Results stay what they were: a quick part of the frozen collection, and how it is compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from frozen import Comparison, Frozen, FrozenCase, main

LATEST = Path(__file__).parent / "frozen" / "sixth.json.gz"
QUICK = (
    "shipped/measured_grid",
    "shipped/llama3_16k",
    "settings/training.overlap_steps=13",
    "settings/training.on_failure=*",
    "settings/central, jitter",
    "laws/horizon 0.3 s for 30 s",
    "ties/two lost units return at once",
    "decimals/1",
    "naive/data_parallel 3",
    "naive/async_local_sgd 3",
    "dressed/1004",
    "drawn/plain 7",
    "drawn/deep 1 all",
)


@pytest.mark.slow
def test_results_are_what_they_were() -> None:
    """To 1e-9, in a few quick cases of each group; the whole is compared by the script."""
    was = Frozen.read(LATEST)
    cases = [case for name in QUICK for case in was.matching(name)]
    assert len(cases) == len(QUICK) + 1
    compared = Comparison(was, Frozen.of(cases, jobs=1))
    assert compared.equal, "\n".join(compared.lines())


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """A file with one case, and another in which one of its figures is half as large again."""
    case = FrozenCase("group/one", shipped="measured_grid")
    paths = tmp_path / "was.json.gz", tmp_path / "now.json.gz"
    for path, steps in zip(paths, (100.0, 150.0), strict=True):
        Frozen([case], {case.name: {"diloco": {"steps": steps, "goodput": 0.5}}}).write(path)
    return paths


def test_what_differs_is_told(pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """With its path, both values and by how much; the exit code is 1."""
    was, now = pair
    assert main(["--compare", str(was), "--against", str(now)]) == 1
    assert "steps: 100.0 -> 150.0 (0.333 relative)" in capsys.readouterr().out


def test_within_the_tolerance_nothing_differs(pair: tuple[Path, Path]) -> None:
    """A third is within a half."""
    was, now = pair
    assert main(["--compare", str(was), "--against", str(now), "--tolerance", "0.5"]) == 0


def test_a_case_that_fails_now_differs(pair: tuple[Path, Path]) -> None:
    """An error is no result."""
    was = Frozen.read(pair[0])
    failed = Frozen(was.cases, {"group/one": {"error": {"error": "ValueError: no"}}})
    assert {method for _, method in Comparison(was, failed).found} == {"diloco", "error"}
