"""A study on disk: a folder that is always whole, and goes on where it stopped.

`manifest.json` and `scenario.yaml` say what the study asks; `cells/` holds one file a cell, written
in one move when the cell is done; the tables are made from these.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ddsim
from ddsim.files import write_whole
from ddsim.results import reading as results
from ddsim.results.reading import read_json
from ddsim.scenario import ScenarioError
from ddsim.study import identity
from ddsim.study.errors import StoreError, StudyError
from ddsim.study.rows import rows_of, rows_text
from ddsim.study.work import Row

FORMAT = 2
WHAT = "ddsim study"
GIVEN = "given.yaml"
MANIFEST, SCENARIO, CELLS, TIMINGS = "manifest.json", "scenario.yaml", "cells", "timings.csv"
_LOCK = ".lock"
_SUFFIXES = (".json", ".yaml", ".csv", ".parquet")
_DRAFT = re.compile(r"\..+\.\d+")
_QUESTION = ("scenario_sha256", "seed", "methods", "axes", "cells", "files", "sources")


class Store:
    """The folder of one study, open for writing; `question` says what it asks, as plain data."""

    def __init__(self, folder: Path, scenario: str, question: Mapping[str, Any]) -> None:
        self.folder = folder
        self._scenario = scenario
        self._manifest = {
            "what": WHAT,
            "format": FORMAT,
            "version": ddsim.__version__,
            "scenario_sha256": hashlib.sha256(scenario.encode()).hexdigest(),
            **question,
            "environments": [environment()],
        }
        self._lock: Any = None

    def open(self) -> None:
        """Make the folder, or go on with the one that is there.

        Raises StudyError, and changes nothing, for a folder of something else, of another study,
        of another version, or one that another process is writing; StoreError where nothing can
        be written.
        """
        if self.folder.exists() or self.folder.is_symlink():
            self._recognize()
        if (self.folder / CELLS).is_file():
            raise StudyError(f"{self.folder / CELLS}: a file, where the study keeps a folder")
        with self._writing(self.folder):
            (self.folder / CELLS).mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self.folder / _LOCK)
            for draft in drafts(self.folder):
                draft.unlink(missing_ok=True)
            self._refuse_folders()
        self.write(SCENARIO, self._scenario)
        self._write_manifest()

    def _write_manifest(self) -> None:
        self.write(MANIFEST, json.dumps(self._manifest, indent=2, ensure_ascii=False) + "\n")

    def _refuse_folders(self) -> None:
        """Raise StudyError where a folder stands in the place of one of the study's files."""
        for path in folders(self.folder):
            raise StudyError(f"{path}: a folder, where the study keeps a file")

    def close(self) -> None:
        """Let others write."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def cells(self) -> dict[int, list[Row]]:
        """The rows of the cells that are done."""
        return read_cells(self.folder)

    def commit(self, cell: int, rows: Sequence[Row], elapsed: float) -> None:
        """Keep a cell that is done."""
        environments = self._manifest["environments"]
        if environment() not in environments:  # older rows keep theirs
            environments.append(environment())
            self._write_manifest()
        made_in = environments.index(environment())
        self.write(f"{CELLS}/{cell:06d}.csv", rows_text(rows))
        log = self.folder / TIMINGS
        new = not log.exists()
        with self._writing(log), log.open("a", encoding="utf-8") as file:
            file.write("cell,replications,elapsed_s,environment\n" if new else "")
            file.write(f"{cell},{len(rows)},{elapsed:.3f},{made_in}\n")

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file whole; StoreError when it cannot be, and then the old one stands."""
        path = self.folder / name
        with self._writing(path):
            write_whole(path, content if isinstance(content, bytes) else content.encode())

    @contextmanager
    def _writing(self, path: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            done = len(list((self.folder / CELLS).glob("*.csv")))
            kept = f"; {done} cells in {self.folder} are safe, and the same command goes on"
            raise StoreError(f"cannot write {path}: {reason}{kept if done else ''}") from error

    def _recognize(self) -> None:
        """Raise StudyError unless the folder is empty or this study's."""
        if not self.folder.is_dir():
            raise StudyError(f"{self.folder}: a file; --out needs a folder, which is made")
        path = self.folder / MANIFEST
        if not path.is_file():
            names = {item.name for item in self.folder.iterdir()} - {SCENARIO, CELLS}
            others = sorted(name for name in names if not name.startswith("."))
            if others:
                raise StudyError(
                    f"{self.folder}: a folder with {', '.join(others[:3])} in it, and no study; "
                    "--out needs a new or empty folder, or one of the same study"
                )
            return
        found = read_manifest(self.folder)
        if found["version"] != ddsim.__version__:
            raise StudyError(
                f"{path}: a study of ddsim {found['version']}, and this is ddsim "
                f"{ddsim.__version__}, whose numbers may differ; go on with that version, "
                "or give another --out"
            )
        differing = [name for name in _QUESTION if found.get(name) != self._manifest.get(name)]
        if differing:
            raise StudyError(f"{path}: {self._how_it_differs(found, differing[0])}")
        known = found.get("environments")
        self._manifest["environments"] = known if isinstance(known, list) else [environment()]

    def _how_it_differs(self, found: Mapping[str, Any], name: str) -> str:
        advice = "repeat the command that began it, or give another --out"
        if name == "scenario_sha256":
            from ddsim.study.changes import changes

            try:
                text = read_scenario(self.folder)
                paths = [change.path for change in changes(text, self._scenario)]
            except (StudyError, ScenarioError):  # that it differs is what is to be said
                paths = []
            where = f", which differs in {', '.join(paths[:5])}" if paths else ""
            return f"a study of another scenario{where}; {advice}"
        if name in ("files", "sources"):
            return _changed(name, found[name], self._manifest[name])
        if name == "axes":
            theirs = ", ".join(axis["name"] for axis in found["axes"]) or "nothing"
            return f"a study that varies something else ({theirs}, or other values of it); {advice}"
        return f"a study with other {name} ({found.get(name)}); {advice}"


def _changed(kind: str, theirs: Mapping[str, str], ours: Mapping[str, str]) -> str:
    names = identity.differing(theirs, ours)
    where = "ddsim/" if kind == "sources" else ""
    which = ", ".join(f"{where}{name}" for name in names[:5])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    what = "of ddsim's own sources" if kind == "sources" else "that the scenario names"
    return (
        f"a study of other files {what}: {which}{more} changed since it began, and old rows would "
        "stand beside new ones; put back what it began with, or give another --out"
    )


def is_in_order(folder: Path) -> bool:
    """Whether a folder is as this ddsim leaves one: its manifest, no drafts, files for files."""
    theirs = read_manifest(folder)["version"]
    return theirs == ddsim.__version__ and not drafts(folder) and not folders(folder)


def folders(folder: Path) -> list[Path]:
    """Folders that stand in the place of one of the study's files."""
    files = (*folder.iterdir(), *(folder / CELLS).iterdir())
    return [path for path in files if path.suffix in _SUFFIXES and path.is_dir()]


def drafts(folder: Path) -> list[Path]:
    """What a process that was killed while it wrote has left."""
    files = (*folder.iterdir(), *(folder / CELLS).iterdir())
    return [path for path in files if _DRAFT.fullmatch(path.name)]


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a study; raises StudyError for anything else, older formats included."""
    path = folder / MANIFEST
    try:
        content = read_json(path.read_bytes())
    except FileNotFoundError:
        raise StudyError(f"{folder}: no {MANIFEST} there; `ddsim sweep --out` writes one") from None
    except OSError as error:
        raise StudyError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("what") != WHAT:
        raise StudyError(f"{path}: not the manifest of a study")
    if content.get("format") != FORMAT:
        raise StudyError(
            f"{path}: a store of format {content.get('format')}, and ddsim {ddsim.__version__} "
            f"reads format {FORMAT}; it was left as it is: use the ddsim that wrote it, "
            "or another --out"
        )
    if not {*_QUESTION, "version"} <= set(content) or not all(
        isinstance(content[name], dict) for name in ("files", "sources")
    ):
        raise StudyError(f"{path}: not the whole manifest of a study")
    return content


def read_scenario(folder: Path, name: str = SCENARIO) -> str:
    """The scenario of a study; StudyError where it is damaged, nothing where there is none."""
    try:
        return results.read_scenario(folder / name)
    except ValueError as error:
        raise StudyError(str(error)) from None


def read_cells(folder: Path) -> dict[int, list[Row]]:
    """The rows of every cell of a folder; a file that is not whole counts as not there."""
    cells: dict[int, list[Row]] = {}
    for path in sorted((folder / CELLS).glob("[0-9]*.csv")):
        try:
            rows = rows_of(path.read_bytes().decode())
        except (OSError, UnicodeDecodeError):
            continue
        if rows and path.stem.isdecimal():
            cells[int(path.stem)] = rows
    return cells


@cache
def environment() -> dict[str, str]:
    """What the numbers were made with."""
    packages = ("numpy", "scipy", "simpy")
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        **{name: version(name) for name in packages},
    }


def _locked(path: Path) -> Any:
    """Hold the lock of a folder until the file is closed or the process ends, however it ends."""
    file = path.open("a")
    try:
        import fcntl
    except ImportError:  # not on Windows
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise StudyError(f"{path.parent}: another process is writing this study") from None
    return file
