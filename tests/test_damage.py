"""What is damaged names itself, and what is in the way is found before the work is done."""

from __future__ import annotations

import errno
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import ddsim
from damage import Ground, damages
from sample_results import comparison

from ddsim import simulation
from ddsim.files import write_whole
from ddsim.results import Results
from ddsim.study import sweeping

SEED, COUNT = 11, 30


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """A saved result and a study."""
    return Ground(tmp_path_factory.mktemp("ground"))


@pytest.fixture
def restored(ground: Ground) -> Iterator[Ground]:
    """The same, whole again afterwards."""
    yield ground
    ground.restore()


@pytest.mark.slow
def test_seeded_damages_are_named_or_borne(tmp_path: Path) -> None:
    """Whatever is cut, flipped, emptied or changed: exit code 0, or 2 and the file's name.

    `python tests/damage.py 1000` tries many more.
    """
    wrong = [
        (found.words, found.ran.code, found.ran.err)
        for found in damages(tmp_path, COUNT, SEED)
        if not found.is_right
    ]
    assert wrong == []


DAMAGED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "cut merges": ("merges.csv.gz", lambda content: content[:-9]),
    "merges that are not packed": ("merges.csv.gz", gzip.decompress),
    "emptied merges": ("merges.csv.gz", lambda _: b""),
    "an emptied timeline": ("timeline.csv", lambda _: b""),
    "NaN in a timeline": ("timeline.csv", lambda content: content.replace(b",0.0,", b",nan,", 1)),
    "bytes that are no text": ("timeline.csv", lambda content: content + b"\xff\n"),
    "an emptied scenario": ("scenario.yaml", lambda _: b""),
    "NaN in the results": (
        "results.json",
        lambda content: content.replace(b'"seed": 7', b'"seed": NaN'),
    ),
    "a text for a number": (
        "results.json",
        lambda content: content.replace(b'"goodput": 0.3', b'"goodput": "x"'),
    ),
    "an emptied result": ("results.json", lambda _: b""),
}


@pytest.mark.parametrize("what", DAMAGED)
@pytest.mark.parametrize("command", ["plot", "report", "compare"])
def test_a_damaged_result_names_the_file(tmp_path: Path, what: str, command: str) -> None:
    """And the command leaves with 2, no 130 among them."""
    name, damage = DAMAGED[what]
    comparison().save(tmp_path)
    path = tmp_path / name
    before = path.read_bytes()
    path.write_bytes(damage(before))
    assert path.read_bytes() != before
    ran = ddsim(command, tmp_path, *([tmp_path] if command == "compare" else []))
    assert ran.code == 2
    assert f"{path}: " in ran.err


def test_the_line_of_a_log_is_named(tmp_path: Path) -> None:
    """One that has no time in it, by its number."""
    comparison().save(tmp_path)
    path = tmp_path / "timeline.csv"
    lines = path.read_text().splitlines(keepends=True)
    lines[2] = lines[2].replace("7200.0", "NaN", 1)
    path.write_text("".join(lines))
    with pytest.raises(ValueError, match=r"timeline\.csv: .*line 3: NaN"):
        Results.load(tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda content: content[:40] + b"\xff" + content[41:], marks=pytest.mark.slow),
        lambda content: content[:-20],
        pytest.param(lambda content: b"", marks=pytest.mark.slow),
        pytest.param(
            lambda content: content.replace(b"goodput", b"badput", 1), marks=pytest.mark.slow
        ),
        pytest.param(
            lambda content: content.replace(b"\n1.0,", b"\nnan,").replace(b"\n0.", b"\nnan", 1),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["no text", "cut", "emptied", "another column", "not a number"],
)
def test_a_damaged_cell_is_computed_again(
    restored: Ground, damage: Callable[[bytes], bytes]
) -> None:
    """It counts as not there; the others are kept, and the study comes out the same."""
    cell = restored.study / "cells" / "000001.csv"
    before = cell.read_bytes()
    cell.write_bytes(damage(before))
    assert cell.read_bytes() != before
    ran = ddsim(*restored.sweep)
    assert ran.code == 0, ran.err
    assert cell.read_bytes() == before
    timed = (restored.study / "timings.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in timed[5:]] == ["1"]


@pytest.mark.slow
def test_a_study_with_a_damaged_cell_is_reported(restored: Ground) -> None:
    """Of the cells that are whole."""
    cell = restored.study / "cells" / "000001.csv"
    cell.write_bytes(cell.read_bytes()[:-20])
    assert ddsim("report", restored.study).code == 0


@pytest.mark.parametrize("name", ["version", "format"])
def test_a_study_of_another_version_names_its_manifest(restored: Ground, name: str) -> None:
    """It is not gone on with."""
    path = restored.study / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: "99"}))
    ran = ddsim(*restored.sweep)
    assert ran.code == 2
    assert f"{path}: " in ran.err


def test_a_tape_that_tells_what_cannot_have_been_is_named(restored: Ground) -> None:
    """A learner that there is not, a slot that nobody answered."""
    path = restored.run / "tape.jsonl.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    lines[1] = b'["Steps",1.0,99,1,1.0]\n'
    path.write_bytes(gzip.compress(b"".join(lines)))
    ran = ddsim("replay", restored.run, "--set", "learning.checkpoints=null")
    assert ran.code == 2
    assert f"{path}: " in ran.err


@pytest.mark.slow
def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what was written on the way, and not the error alone."""
    path = tmp_path / "report.html"

    def full(self: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    comparison().save(tmp_path)
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=str(path)):
        write_whole(path, b"content")
    ran = ddsim("report", tmp_path)
    assert ran.code == 1
    assert ran.err == f"ddsim: {path}: No space left on device\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["results.json", "tape.jsonl.gz", "goodput.png", "scenario.yaml", "learning.png"]
)
@pytest.mark.parametrize("command", ["run", "replay"])
def test_a_folder_in_the_place_of_a_file_is_found_at_once(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, name: str
) -> None:
    """Not after the simulation or the training."""
    (tmp_path / name).mkdir()
    done: list[object] = []
    monkeypatch.setattr(simulation, "simulate", lambda *given, **more: done.append(given))
    monkeypatch.setattr("ddsim.replaying.train", lambda *given, **more: done.append(given))
    given = ground.folder / "damaged.yaml" if command == "run" else ground.run
    ran = ddsim(command, given, "--out", tmp_path)
    assert ran.code == 2
    assert f"{tmp_path / name}: a folder" in ran.err
    assert not done


@pytest.mark.parametrize("name", ["cells/000000.csv", "cells.csv", "timings.csv"])
def test_a_folder_in_the_place_of_a_studys_file_is_found_at_once(
    restored: Ground, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Before the first cell."""
    path = restored.study / name
    path.unlink()
    path.mkdir()
    done: list[object] = []
    monkeypatch.setattr(sweeping, "dispatch", lambda *given: done.append(given))
    ran = ddsim(*restored.sweep)
    path.rmdir()
    assert ran.code == 2
    assert f"{path}: a folder" in ran.err
    assert not done


def test_a_folder_in_the_place_of_a_reproductions_file_is_found_at_once(tmp_path: Path) -> None:
    """Before anything is simulated."""
    (tmp_path / "gallery.html").mkdir()
    ran = ddsim("reproduce", "--out", tmp_path)
    assert ran.code == 2
    assert f"{tmp_path / 'gallery.html'}: a folder" in ran.err


def test_a_file_that_ends_early_is_no_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads it: what click makes of it is made an error again."""

    def ends(*_: object) -> None:
        raise EOFError("it ends early")

    monkeypatch.setattr("ddsim.scenario.shipped.names", ends)
    ran = ddsim("list", "scenarios")
    assert ran.code == 1
    assert "it ends early" in ran.err
