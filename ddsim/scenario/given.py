"""A scenario as its author wrote it, and what the comments say of where its numbers come from.

Comments are for people, so that nothing is simulated by them; a page shows them beside the numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ddsim.scenario.document import SET_BESIDE
from ddsim.scenario.loading import read_text
from ddsim.scenario.tree import Entry, plain

Basis = Literal["published", "assumed", "noted", "given", "set"]
BASES: dict[Basis, str] = {
    "published": "its comment names a source",
    "assumed": "its comment calls it assumed",
    "noted": "its comment says something else",
    "given": "in the file, without a comment of its own",
    "set": "set for this run, over what the file says",
}
"""Where a number comes from, each with what that means."""
_COMMENT = re.compile(r"""\s#\s?([^'"]*)$""")
_TOPIC = re.compile(r"^\s*[\w ,]{1,40}(\([^)]*\))?:")
_METHOD = re.compile(r"methods\.\d+\.?")
_NO_NUMBERS = ("name", "description", "seed", "study", "python")
_LETTERS = {"inner_steps": "H", "fragments": "P", "overlap_steps": "tau", "quorum": "K"}
_SOURCED = ("published", "arxiv", "measured", "docs of", "documentation of")


@dataclass(frozen=True, slots=True)
class Setting:
    """One value that the file, or who ran it, gives: its path, its text, and the comment beside."""

    path: str
    value: str
    basis: Basis
    note: str = ""


def prose_of(text: str) -> list[str]:
    """What the comments at the top of a file say, by paragraphs."""
    paragraphs: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            break
        words = line.lstrip("#")
        if not words.strip() or _TOPIC.match(words):
            paragraphs.append([])
        if words.strip():
            paragraphs[-1].append(words.strip())
    return [" ".join(lines) for lines in paragraphs if lines]


def settings_of(text: str) -> list[Setting]:
    """Every number that a text gives, with what its comment says of it; raises ScenarioError.

    Where none stands beside a value, the comments at the top may name it.
    """
    body, _, beside = text.partition(SET_BESIDE)
    lines, prose = body.splitlines(), prose_of(body)
    found = []
    for path, entry in _leaves(read_text(body).root, ""):
        if path.split(".")[0] in _NO_NUMBERS or _METHOD.fullmatch(path):
            continue
        basis, note = _basis(lines, entry)
        if basis == "given":
            basis = _basis_in(prose, path.rsplit(".", 1)[-1])
            note = "" if basis == "given" else "by the comments at the top"
        found.append(Setting(_METHOD.sub("methods.", path), _short(entry), basis, note))
    return _with(found, [line.lstrip("# ") for line in beside.splitlines() if line.strip()])


def _basis_in(prose: Sequence[str], name: str) -> Basis:
    """What the first paragraph that is on what is published, or assumed, and names it says."""
    called = re.compile(rf"\b({name}|{_LETTERS.get(name, name)})\b")
    for basis in ("published", "assumed"):
        if any(text.startswith(basis) and called.search(text) for text in prose):
            return basis
    return "given"


def _with(found: list[Setting], options: Sequence[str]) -> list[Setting]:
    """Settings with those that were set beside the file in their place."""
    for option in options:
        path, _, value = option.partition("=")
        if path.startswith("--method"):
            continue
        kept = [item for item in found if not f"{item.path}.".startswith(f"{path.strip()}.")]
        found = [*kept, Setting(path.strip(), value.strip(), "set")]
    return found


def _leaves(entry: Entry, path: str) -> Iterator[tuple[str, Entry]]:
    if isinstance(entry.value, dict) and entry.value:
        for key, item in entry.value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(entry.value, tuple) and any(isinstance(e.value, dict) for e in entry.value):
        for place, item in enumerate(entry.value):
            yield from _leaves(item, f"{path}.{_called(item, place)}" if path else str(place))
    else:
        yield path, entry


def _called(entry: Entry, place: int) -> str:
    """How an item of a list is called: by its name, where it has one."""
    if isinstance(entry.value, dict) and "name" in entry.value:
        return str(entry.value["name"].value)
    return str(place)


def _short(entry: Entry) -> str:
    value = plain(entry)
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _basis(lines: Sequence[str], entry: Entry) -> tuple[Basis, str]:
    place = entry.label.line - 1
    match = _COMMENT.search(lines[place]) if place < len(lines) else None
    note = match.group(1).strip() if match else ""
    said = note.lower()
    if not note:
        return "given", ""
    if "assumed" in said:
        return "assumed", note
    return ("published" if any(word in said for word in _SOURCED) else "noted"), note
