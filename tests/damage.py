"""Seeded damages to saved results and studies; as a script: `python tests/damage.py COUNT [SEED]`.

Each damages one file of a copy and runs one command on it, which must end with 0, or with 2 and
the name of the file.
"""

from __future__ import annotations

import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from command_line import Ran, ddsim
from study_case import small_file

SCENARIO = """\
name: damaged
methods: [diloco, decoupled_diloco]
duration: 40 s
model: {parameters: 1e9, layers: 8}
training: {step_time: 1 s, inner_steps: 8}
cluster: {chips: 32, chips_per_slice: 4, learners: 2}
failures: {chip_mtbi: 20 min, repair: 5 s}
learning: {problem: mlp, batch_size: 8, evaluations: 4, checkpoints: state}
"""
_NUMBER = re.compile(rb"\d+(\.\d+)?")
_VERSION = re.compile(rb'("version": "|"format": )[^",]*')


def cut(content: bytes, rng: random.Random) -> bytes:
    """Lose the end."""
    return content[: rng.randrange(len(content))]


def flip(content: bytes, rng: random.Random) -> bytes:
    """Turn a bit."""
    place = rng.randrange(len(content))
    turned = content[place] ^ (1 << rng.randrange(8))
    return content[:place] + bytes([turned]) + content[place + 1 :]


def empty(content: bytes, rng: random.Random) -> bytes:
    """Lose everything."""
    return b""


def no_text(content: bytes, rng: random.Random) -> bytes:
    """Put in a byte that is not UTF-8."""
    place = rng.randrange(len(content))
    return content[:place] + b"\xff" + content[place + 1 :]


def no_number(content: bytes, rng: random.Random) -> bytes:
    """Put not-a-number in the place of a number."""
    return _put(content, rng, _NUMBER, rng.choice([b"NaN", b"nan", b"-1", b"inf", b"1e999"]))


def wrong_version(content: bytes, rng: random.Random) -> bytes:
    """Say that another version wrote it, where it says which did."""
    return _VERSION.sub(rb"\g<1>99", content)


def no_zip(content: bytes, rng: random.Random) -> bytes:
    """Write something else entirely."""
    return bytes(rng.randrange(256) for _ in range(200))


def doubled(content: bytes, rng: random.Random) -> bytes:
    """Write a stretch twice."""
    start = rng.randrange(len(content))
    return content + content[start:]


def _put(content: bytes, rng: random.Random, what: re.Pattern[bytes], instead: bytes) -> bytes:
    found = list(what.finditer(content))
    if not found:
        return instead
    one = rng.choice(found)
    return content[: one.start()] + instead + content[one.end() :]


DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    cut,
    flip,
    flip,
    empty,
    no_text,
    no_number,
    no_number,
    wrong_version,
    no_zip,
    doubled,
)


@dataclass(frozen=True)
class Damaged:
    """What one damage came to; `mended` is False for a cell that was not computed again."""

    words: str
    path: Path
    ran: Ran
    mended: bool = True

    @property
    def is_right(self) -> bool:
        """Whether the command did what it could, or named the file."""
        named = self.ran.code == 2 and str(self.path) in self.ran.err
        return self.mended and (self.ran.code == 0 or named)


@dataclass
class Ground:
    """A saved result and a study, to be damaged over and over."""

    folder: Path
    kept: dict[Path, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder = self.folder.resolve()
        file = self.folder / "damaged.yaml"
        text = SCENARIO.replace(
            "checkpoints: state", f"checkpoints: {self.folder / 'run' / 'state'}"
        )
        file.write_text(text, encoding="utf-8")
        self.run, self.study = self.folder / "run", self.folder / "study"
        self.other = self.folder / "other"
        self.sweep = ["sweep", small_file(self.folder), "--set", "duration=10 min", "--vary"]
        self.sweep += ["elastic.upscale=1 s,20 s", "--replications", "2", "--jobs", "1", "-q"]
        self.sweep += ["--out", self.study]
        for command in (["run", file, "--out", self.run], self.sweep):
            ran = ddsim(*command)
            assert ran.code == 0, ran.err
        shutil.copytree(self.run, self.other)
        for folder in (self.run, self.study):
            files = [path for path in folder.rglob("*") if path.is_file()]
            self.kept |= {p: p.read_bytes() for p in files if p.suffix != ".png"}

    def commands(self, path: Path) -> list[list[object]]:
        """The commands that may read a file."""
        if path.is_relative_to(self.study):
            study = self.study
            shown = [["plot", study], ["report", study], ["compare", study, study]]
            return [*shown, self.sweep, self.sweep]
        run = self.run
        state = [["run", run / "scenario.yaml"], ["replay", run]]
        if path.parent != run:
            return [*state]
        return [
            ["plot", run],
            ["report", run],
            ["compare", run, self.other],
            ["compare", self.other, run],
            ["check", run / "scenario.yaml"],
            *state,
        ]

    def damage(self, rng: random.Random) -> Damaged:
        """Damage a file, run a command, and put everything back."""
        path = rng.choice(sorted(path for path, content in self.kept.items() if content))
        damage = rng.choice(DAMAGES)
        command = rng.choice(self.commands(path))
        before = self.kept[path]
        content = damage(before, rng)
        path.write_bytes(content)
        try:
            ran = ddsim(*command)
            mended = True
            if command is self.sweep and path.parent.name == "cells" and damage is not flip:
                mended = damage in (no_number, doubled) or path.read_bytes() == before
        finally:
            self.restore()
        where = path.relative_to(self.folder)
        return Damaged(f"{where}, {damage.__name__}: {command[0]}", path, ran, mended)

    def restore(self) -> None:
        """Put back what a damage or a command changed."""
        for path, content in self.kept.items():
            if not path.exists() or path.read_bytes() != content:
                path.write_bytes(content)


def damages(folder: Path, count: int, seed: int) -> Iterator[Damaged]:
    """Damage so many files, one after the other."""
    ground = Ground(folder)
    for number in range(count):
        yield ground.damage(random.Random(f"{seed}/{number}"))


def main(count: int, seed: int) -> int:
    """Say what went wrong, and how commands ended; return how often something did."""
    wrong = 0
    ends: Counter[int] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number, found in enumerate(damages(Path(folder), count, seed)):
            ends[found.ran.code] += 1
            if not found.is_right:
                wrong += 1
                said = found.ran.err.strip()
                end = f"{found.ran.code}, mended {found.mended}"
                sys.stdout.write(f"{number}: {found.words}: {end}: {said}\n")
    sys.stdout.write(f"{count} damages, {wrong} wrong; exit codes: {dict(ends)}\n")
    return wrong


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0) > 0)
