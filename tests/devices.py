"""Devices of a test's own: root could put a file in the place of the machine's."""

import os
import stat
from pathlib import Path

import pytest


def device(folder: Path, name: str, minor: int) -> Path:
    """A memory device of that minor number: /dev/null is 3, /dev/full is 7."""
    if os.geteuid() != 0:
        return Path("/dev") / name  # whose place only root can take
    path = folder / name
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        path.read_bytes() if name == "null" else path.open("wb").close()
    except OSError:
        pytest.skip("no devices can be made or opened here")
    return path


def full(folder: Path) -> Path:
    """A device on which there is no room."""
    return device(folder, "full", 7)


def null(folder: Path) -> Path:
    """A device that takes everything."""
    return device(folder, "null", 3)
