"""What results were made by: the hashes of ddsim's own source files, and of any others."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

HOME = Path(__file__).parent
_DIGITS = 16


def hashes_of(files: Mapping[str, Path]) -> dict[str, str]:
    """The hash of each file's content."""
    return {name: _hash(path) for name, path in sorted(files.items())}


@cache
def of_ddsim() -> dict[str, str]:
    """The hash of each of ddsim's own source files, by its place in the package."""
    return hashes_of({str(path.relative_to(HOME)): path for path in HOME.rglob("*.py")})


def digest() -> str:
    """One hash of all of ddsim's source files."""
    text = "".join(f"{name} {found}\n" for name, found in of_ddsim().items())
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:_DIGITS]
