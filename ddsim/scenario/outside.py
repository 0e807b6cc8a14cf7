"""Files that a scenario names beyond its own folder: whoever loads it should hear of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ddsim.scenario import presence, variation
from ddsim.scenario.section import Section
from ddsim.scenario.tree import plain

if TYPE_CHECKING:
    from ddsim.scenario.document import Document
    from ddsim.scenario.schema import Scenario


def is_outside(file: Path, document: Document) -> bool:
    """Whether a file lies beyond the folder of a document, links followed."""
    return not file.resolve().is_relative_to(Path(document.files.folder).resolve())


def files_outside(scenario: Scenario) -> list[Path]:
    """What a scenario reads, or keeps a training's state in, beyond its own folder; resolved.

    What an override named is left out: whoever gave it knows.
    """
    document = scenario.document
    named = list(_files(scenario))
    if scenario.learning.problem is not None and scenario.learning.checkpoints is not None:
        named.append(Path(scenario.learning.checkpoints))
    given = {Path(str(plain(item.value))).absolute() for item in document.overrides}
    found = [file for file in named if is_outside(file, document) and file.absolute() not in given]
    return list(dict.fromkeys(file.resolve() for file in found))


def _files(section: Section) -> Iterator[Path]:
    of_files = _names_files(type(section))
    for name, value in section.__dict__.items():
        if name in of_files and value:
            yield Path(value.path)
        elif isinstance(value, Section):
            yield from _files(value)
        elif isinstance(value, dict | tuple):
            parts = value.values() if isinstance(value, dict) else value
            for part in {id(part): part for part in parts}.values():  # many may be the same one
                if isinstance(part, Section):
                    yield from _files(part)


@cache
def _names_files(section: type[Section]) -> frozenset[str]:
    """The fields of a section that name a file."""
    kinds = (presence.TraceFile, variation.TraceFile)
    return frozenset(
        name
        for name, item in section.model_fields.items()
        if any(isinstance(kind, kinds) for kind in item.metadata)
    )
