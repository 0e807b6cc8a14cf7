import pickle
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from scenario_text import BROKEN, problems_of

from ddsim.scenario import ScenarioError, load

LONG = ("billion_laughs", "deep_nesting")  # to read
FILES = [
    pytest.param(file, marks=pytest.mark.slow if file.stem in LONG else [], id=file.stem)
    for file in sorted(BROKEN.glob("*.yaml"))
]
LINE = re.compile(r"[^:]+:\d+:\d+: [^;]+: [^;]+; .+")


def expected(file: Path) -> list[str]:
    """The beginnings of the problems that a file says it has."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("# expect: ") for line in lines if line.startswith("# expect: ")]


@cache
def problems(path: str | Path) -> Sequence[str]:
    """What loading says is wrong, line by line."""
    with pytest.raises(ScenarioError) as caught:
        load(path)
    return str(caught.value).splitlines()


@pytest.mark.parametrize("file", FILES)
def test_a_broken_file_has_exactly_the_problems_it_says(file: Path) -> None:
    """Every problem is reported once, in the file's order, with position, path and remedy."""
    found = problems(file)
    wanted = [f"{file}:{line}" for line in expected(file)]
    assert wanted, "the file says no problem"
    assert len(found) == len(wanted), "\n".join(found)
    for line, beginning in zip(found, wanted, strict=True):
        assert line.startswith(beginning)


@pytest.mark.parametrize("file", FILES)
def test_a_problem_is_file_line_column_path_found_allowed(file: Path) -> None:
    """Every line has the one form."""
    for line in problems(file):
        assert LINE.fullmatch(line), line


def test_there_are_many_broken_files() -> None:
    """The list of files was found at all."""
    assert len(FILES) >= 35


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "1:1: scenario: an empty file; `ddsim init` writes"),
        (b"\n\n", "1:1: scenario: an empty file; `ddsim init` writes"),
        (bytes(range(256)), "1:1: scenario: a binary file; a scenario is YAML text in UTF-8"),
        (b"seed: 1\nname: caf\xe9\n", "2:10: scenario: byte 0xe9, which is not UTF-8; a scenario"),
        (b"seed: 1\nname: \x07\n", "scenario: not YAML"),
        (b"#" * 5_000_000, "1:1: scenario: 5000000 bytes; at most 4000000"),
    ],
    ids=["empty", "blank", "binary", "not UTF-8", "control character", "too large"],
)
def test_what_is_not_yaml_text_is_said_to_be(tmp_path: Path, data: bytes, message: str) -> None:
    """A file without text in it is named as what it is."""
    file = tmp_path / "odd.yaml"
    file.write_bytes(data)
    (line,) = problems(file)
    assert message in line


def test_a_key_of_another_section_is_shown_where_it_belongs(tmp_path: Path) -> None:
    """In one section, or in two."""
    file = tmp_path / "moved.yaml"
    file.write_text("training: {mfu: 0.4, chip: H100}\n")
    said = "\n".join(problems(file))
    assert 'unknown key "mfu"; did you mean "cluster.mfu"? allowed: ' in said
    assert 'unknown key "chip"; did you mean "cluster.chip" or "power.chip"? allowed: ' in said


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    """The shipped scenarios are offered instead."""
    (line,) = problems(tmp_path / "none.yaml")
    assert "no file or shipped scenario" in line
    assert "four_regions_12b" in line


def test_a_name_nearly_shipped_is_suggested() -> None:
    """A misspelt shipped name gets the right one."""
    (line,) = problems("four_region_12b")
    assert 'did you mean "four_regions_12b"?' in line


def test_a_folder_is_not_a_scenario(tmp_path: Path) -> None:
    """A folder is refused as one."""
    (line,) = problems(tmp_path)
    assert line == (
        f"{tmp_path}:1:1: scenario: a folder; a scenario file, or the name of a shipped scenario"
    )


def test_utf16_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    """What Windows editors write is text."""
    text = "seed: -1\n"
    for encoding in ("utf-16", "utf-8-sig"):
        file = tmp_path / f"{encoding}.yaml"
        file.write_bytes(text.encode(encoding))
        assert any(":1:7: seed: -1; " in line for line in problems(file))


def test_a_message_does_not_repeat_long_values() -> None:
    """A value of thousands of characters is cut."""
    text = problems_of(f"duration: {'x' * 5000}\n")
    assert len(text) < 300


def test_a_message_stays_on_its_line() -> None:
    """Line breaks in a value are escaped."""
    text = problems_of('duration: "a\\nb"\n')
    assert len(text.splitlines()) == 1


def test_an_error_survives_pickling() -> None:
    """Worker processes can hand an error back."""
    with pytest.raises(ScenarioError) as caught:
        load("nothing_of_that_name")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.problems == caught.value.problems
    assert str(copy) == str(caught.value)


def test_importing_the_package_imports_no_heavy_library() -> None:
    """pydantic, pint and ruamel.yaml are imported when a scenario is loaded."""
    code = "import sys, ddsim.scenario; print([m for m in ('pydantic', 'pint', 'ruamel.yaml')"
    code += " if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
