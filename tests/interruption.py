"""Commands that a signal ends: by hand, `python tests/interruption.py 100` tries that many moments.

A command is started in a session of its own, gets a signal after some time, and is looked at: it
and all that it started are gone soon, and what it wrote is whole.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from study_case import small_file

SOON = 2.0
"""Seconds in which everything is over."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_VARY = ["--vary", "elastic.upscale=" + ",".join(f"{value} s" for value in range(1, 60))]


@dataclass(frozen=True)
class Ended:
    """What a signal left: exit code, seconds that it took, what is wrong in the folder."""

    code: int | None
    seconds: float
    left: list[int]
    broken: list[str]
    said: str

    @property
    def well(self) -> bool:
        """Whether it is as it should be; a signal may come before Python heeds it, or after all."""
        codes = (0, 130, *(-number for number in SIGNALS))
        return self.code in codes and self.seconds < SOON and not (self.left or self.broken)


def commands(folder: Path) -> dict[str, list[str]]:
    """The commands to be ended, by name, which read from and write into a folder."""
    scenario = str(small_file(folder))
    trace = folder / "lives.csv"
    lives = (f"{1 + index * 7919 % 50_000}" for index in range(200_000))
    trace.write_text("lifetime_s\n" + "\n".join(lives) + "\n")
    run = ["run", scenario, "--set", "duration=30 yr"]
    study = [scenario, *_VARY, "--replications", "500", "--jobs", "2"]
    found = {
        "run": run,
        "run --jobs": [*run, "--jobs", "2", "--replications", "50"],
        "sweep": ["sweep", *study],
        "plan": ["plan", *study],
        "reproduce": ["reproduce", "goodput", "--quick", "--jobs", "2"],
        "report": ["report", str(_saved(folder, scenario))],
        "trace": ["trace", str(trace)],
    }
    for name, arguments in found.items():
        if name != "trace":
            arguments += ["--out", str(folder / f"{name}.html")]
    return found


def _saved(folder: Path, scenario: str) -> Path:
    saved = folder / "saved"
    ddsim = [sys.executable, "-m", "ddsim"]
    subprocess.run(
        [*ddsim, "run", scenario, "-q", "--out", str(saved)], check=True, capture_output=True
    )
    return saved


def ended(arguments: list[str], number: int, after: float, folder: Path) -> Ended:
    """Start a command, send it a signal after some seconds, and look at what is left."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ddsim", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    return watched(process, folder)


def watched(process: subprocess.Popen[bytes], folder: Path) -> Ended:
    """Wait for a process that got a signal, and for all of its session."""
    began = time.monotonic()
    code = None
    while time.monotonic() - began < SOON:
        code = process.poll()
        if code is not None and not members(process.pid):
            break
        time.sleep(0.02)
    seconds = time.monotonic() - began
    left = members(process.pid)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    _, said = process.communicate()
    return Ended(code, seconds, left, broken(folder), said.decode())


def members(session: int) -> list[int]:
    """The processes of a session that are alive."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, _, own = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            except OSError:  # it has just ended
                continue
            if int(own) == session and state not in "ZX":
                found.append(int(entry.name))
    return found


def broken(folder: Path) -> list[str]:
    """Files of a folder that are half written, or drafts of such."""
    found = []
    for path in folder.rglob("*"):
        if path.name.startswith(".") and path.name != ".lock":
            found.append(str(path))
        try:
            if path.suffix == ".json":
                json.loads(path.read_text())
            elif path.suffix == ".gz":
                gzip.decompress(path.read_bytes())
            elif (
                path.suffix == ".html"
                and path.is_file()
                and not path.read_text().rstrip().endswith("</html>")
            ) or (path.parent.name == "cells" and not path.read_text().endswith("# end\n")):
                found.append(str(path))
        except (ValueError, EOFError, OSError):
            found.append(str(path))
    return found


def main(moments: int) -> int:
    """Try so many random moments over all commands; the number that went wrong."""
    rng = random.Random(21)
    wrong = 0
    slowest = 0.0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        listed = list(commands(folder).items())
        for index in range(moments):
            name, arguments = listed[index % len(listed)]
            number, after = rng.choice(SIGNALS), rng.uniform(0.02, 5.0 if name != "report" else 2.5)
            found = ended(arguments, number, after, folder)
            wrong += not found.well
            slowest = max(slowest, found.seconds)
            mark = "" if found.well else f"  WRONG {found}"
            print(f"{name:12} {signal.Signals(number).name:8} {after:5.2f} s", end="")  # noqa: T201
            print(f"  {found.code} in {found.seconds:.2f} s{mark}", flush=True)  # noqa: T201
    print(f"{wrong} of {moments} went wrong; the slowest took {slowest:.2f} s")  # noqa: T201
    return wrong


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100) > 0)
