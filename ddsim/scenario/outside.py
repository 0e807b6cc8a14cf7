"""Files that a scenario names beyond its own folder: whoever loads it should hear of them."""

from __future__ import annotations

from collections.abc import Iterator
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
    for name, item in type(section).model_fields.items():
        value = getattr(section, name)
        kinds = (presence.TraceFile, variation.TraceFile)
        if value and any(isinstance(kind, kinds) for kind in item.metadata):
            yield Path(value.path)
            continue
        parts = value.values() if isinstance(value, dict) else value
        for part in parts if isinstance(value, dict | tuple) else (value,):
            if isinstance(part, Section):
                yield from _files(part)
