"""Commands killed at random moments and run again: `python tests/killed.py 100 [SEED]` by hand.

Each of `sweep`, `plan` and `reproduce` is run at peace once. Then it is killed (kill -9, with all
its workers) after a random share of that time, again and again in one folder, and at last let end:
what is in the folder then has to be what the run at peace left, byte for byte.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from interruption import members
from study_case import small_file

OWN = (".lock", "timings.csv")
"""Files that tell of the run itself, whose bytes are never alike."""
ROUND = 5
"""Kills of one folder before the command is let end."""


@dataclass(frozen=True)
class Round:
    """What a command left after some kills: files that differ, are missing, or are too many."""

    command: str
    kills: int
    wrong: tuple[str, ...]


def commands(folder: Path) -> dict[str, list[str]]:
    """The commands to be killed, by name, without the folder that they write to."""
    scenario = str(small_file(folder))
    vary = ",".join(f"{days} day" for days in range(10, 30))
    study = [scenario, "--vary", f"failures.chip_mtbi={vary}", "--replications", "30"]
    return {
        "sweep": ["sweep", *study],
        "plan": ["plan", *study, "--method", "elastic_data_parallel"],
        "reproduce": ["reproduce", "restarts", "wan-sync", "--quick"],
    }


def left(folder: Path) -> dict[str, bytes]:
    """The bytes of every file that a command left, but of its lock and of what it took."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in OWN)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def killed(arguments: list[str], after: float) -> bool:
    """Start a command and kill it and its workers after some seconds; whether it still ran."""
    process = _start(arguments)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        while members(process.pid):
            time.sleep(0.01)
        return True
    return False


def rounds(times: int, seed: int, folder: Path) -> list[Round]:
    """Kill each command its share of so many times."""
    moments = random.Random(seed)
    given = commands(folder)
    found = []
    for place, (name, arguments) in enumerate(given.items()):
        words = [*arguments, "--jobs", "2", "--quiet", "--out"]
        peace = folder / f"{name} at peace"
        began = time.monotonic()
        _end(_start([*words, str(peace)]))
        took = time.monotonic() - began
        share = times // len(given) + (place < times % len(given))
        for number in range(-(-share // ROUND)):
            war = folder / f"{name} at war {number}"
            kills = min(ROUND, share - number * ROUND)
            done = 0
            for _ in range(kills):
                done += killed([*words, str(war)], moments.uniform(0.05, 1.0) * took)
            _end(_start([*words, str(war)]))
            found.append(Round(name, done, _wrong(left(peace), left(war))))
    return found


def _wrong(peace: dict[str, bytes], war: dict[str, bytes]) -> tuple[str, ...]:
    return tuple(sorted(path for path in peace | war if peace.get(path) != war.get(path)))


def _start(arguments: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "ddsim", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.wait():
        raise RuntimeError(f"{process.args!r} ended with {process.returncode}")


def main(times: int, seed: int) -> int:
    """Kill so many times, say what was wrong, and return whether anything was."""
    with tempfile.TemporaryDirectory() as name:
        found = rounds(times, seed, Path(name))
    for item in found:
        if item.wrong:
            sys.stdout.write(f"{item.command}, {item.kills} kills: {', '.join(item.wrong)}\n")
    kills = sum(item.kills for item in found)
    wrong = sum(bool(item.wrong) for item in found)
    sys.stdout.write(f"{kills} kills in {len(found)} folders: {wrong} folders wrong\n")
    return wrong


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(bool(main(given[0] if given else 100, given[1] if len(given) > 1 else 0)))
