"""Collects the problems of one document, each at its position."""

from __future__ import annotations

from ddsim.scenario.document import Document
from ddsim.scenario.errors import Problem
from ddsim.scenario.tree import Entry, Path, Place, dotted, nearest_entry


class Report:
    """The problems found so far in one tree of values."""

    def __init__(self, document: Document, tree: Entry) -> None:
        self.document = document
        self.tree = tree
        self.problems: list[Problem] = []
        self._broken: set[Path] = set()

    def add(self, path: Path, found: str, allowed: str, *, key: bool = False) -> None:
        """Report a problem with what stands at ``path``, at its key if ``key``."""
        self._broken.add(path)
        place = self.place(path, key=key)
        self.problems.append(self.document.problem(place, dotted(path), found, allowed))

    def place(self, path: Path, *, key: bool = False) -> Place:
        """Where ``path`` stands; of what is not given, where the nearest thing around it does."""
        entry, depth = nearest_entry(self.tree, path)
        return entry.at if depth == len(path) and not key else entry.label

    def given(self, *path: str | int) -> bool:
        """Whether something stands at ``path``."""
        entry, depth = nearest_entry(self.tree, path)
        return depth == len(path) and entry.value is not None

    def usable(self, *paths: Path) -> bool:
        """Whether nothing is wrong at any of ``paths``, or with what they lie in."""
        return not any(path[: len(bad)] == bad for path in paths for bad in self._broken)

    def sound(self, *paths: Path) -> bool:
        """Whether nothing is wrong at ``paths``, around them or inside them."""
        return self.usable(*paths) and not any(
            bad[: len(path)] == path for path in paths for bad in self._broken
        )
