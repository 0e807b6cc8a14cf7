"""The files that a scenario names, read when it is loaded and not again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ddsim.naming import shown
from ddsim.scenario.fields import WHOLE, refuse, whole_text

T = TypeVar("T")


@dataclass
class Files:
    """What was made of each file that a scenario names.

    Relative names start from ``folder``, the scenario's; what is not there, from the current one.
    A scenario keeps these with it, so that what is made of it later, in a worker process on another
    machine too, needs no file again and sees none that has changed since.
    """

    folder: str = ""
    _places: dict[str, Path] = field(default_factory=dict, repr=False)
    _read: dict[tuple[Path, str], Any] = field(default_factory=dict, repr=False)

    def find(self, name: str) -> Path:
        """The absolute path of a file, whether there is one or not.

        Raises the error by which a field refuses a path that no file can have.
        """
        if name not in self._places:
            path = Path(self.folder, name).absolute()
            here = Path(name).absolute()
            found = here if here.is_file() and not path.is_file() else path
            if whole_text(str(found)) != str(found):
                raise refuse(shown(str(found)), WHOLE)
            if not found.is_file():
                return found
            self._places[name] = found
        return self._places[name]

    def named(self) -> dict[str, Path]:
        """The files that were found so far, by the names by which they were asked for."""
        return dict(self._places)

    def read(self, path: Path, kind: str, reader: Callable[[Path], T]) -> T:
        """What ``reader`` makes of a file as one of a kind, the first time; whatever it raises."""
        if (path, kind) not in self._read:
            self._read[path, kind] = reader(path)
        made: T = self._read[path, kind]
        return made


def files_of(context: Any) -> Files:
    """The files that a validation context has as ``files``; without any, those from here."""
    files: Files = (context or {}).get("files") or Files()
    return files
