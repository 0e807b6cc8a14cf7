"""A replay's own checkpoints: where it was, so that an interrupted one goes on."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

from ddsim import sources
from ddsim.files import TooLargeError, read_within, write_whole
from ddsim.learning.config import LearningConfig
from ddsim.learning.packing import pack, unpack
from ddsim.learning.problem import get
from ddsim.learning.tape import Event
from ddsim.users import files_behind

EVERY = 30.0


MOST_BYTES = 1 << 30  # of a kept state


class Saver:
    """Keeps one file for a replay, named for everything that the replay depends on.

    That is the tape, how it is trained, and the sources: ddsim's own, the files that the problem
    comes from, and the `files` besides. A problem without a file, as one made in a shell, is never
    taken for one that was trained before.
    """

    def __init__(
        self,
        folder: Path,
        tape: Sequence[Event],
        config: LearningConfig,
        seed: int,
        files: Sequence[Path] = (),
        every: float = EVERY,
    ) -> None:
        digest = sha256(repr((_made_by(config, files), config, seed)).encode())
        for event in tape:
            digest.update(repr(event).encode())
        self.path = folder / f"{config.problem}-{digest.hexdigest()[:20]}.npz"
        self._every = every
        self._last = monotonic()

    def due(self) -> bool:
        """Whether so many seconds have gone by since the last one."""
        return monotonic() - self._last >= self._every

    def save(self, state: dict[str, Any]) -> None:
        """Write a state; the file is never half of one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.is_symlink():  # its name can be worked out by whoever made the folder
            self.path.unlink()
        write_whole(self.path, pack(state))
        self._last = monotonic()

    def load(self) -> dict[str, Any] | None:
        """Return the state that was left, None where there is none that can be read."""
        try:
            state = unpack(read_within(self.path, MOST_BYTES))
        except (OSError, ValueError, TooLargeError):
            return None
        return state if isinstance(state, dict) else None


def _made_by(config: LearningConfig, files: Sequence[Path]) -> list[str]:
    """Return the hashes of all source files behind a training."""
    behind = files_behind(get(config.problem))
    if behind is None:
        return [uuid4().hex]
    named = {str(file.resolve()): file for file in (*behind, *files) if file.is_file()}
    return [sources.digest(), *sorted(sources.hashes_of(named).values())]
