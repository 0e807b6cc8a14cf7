"""Hostile scenarios, overrides and logs, seeded; as a script: `python tests/fuzz.py COUNT [SEED]`.

A third number has one try alone written down, and its command said: `python tests/fuzz.py 1 7 218`.

Each changes a shipped scenario or the log of one and gives it to a command, which has to end within
`LONGEST` seconds of processor time and `LARGEST` bytes, with results or with a message that is
meant for a person.
What is expected to take more than `EXPECTED` seconds is refused, as it is by the hour elsewhere.
Saved results and studies have `damage.py`.
"""

from __future__ import annotations

import random
import re
import resource
import shlex
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from types import FrameType
from unittest import mock

from command_line import Ran, ddsim

from ddsim.cli import consent
from ddsim.forecast import seconds
from ddsim.methods.local import driver
from ddsim.scenario import Scenario
from ddsim.scenario.paths import slots

TREE = Path(__file__).parent.parent / "scenarios"
SHIPPED = sorted(TREE.glob("*.yaml"))
PATHS = sorted(slot.path for slot in slots(Scenario) if "N." not in slot.path)
METHODS = ["data_parallel", "elastic_data_parallel", "diloco", "streaming_diloco"]
METHODS += ["decoupled_diloco", "async_local_sgd"]
LONGEST, EXPECTED, LARGEST = 20.0, 1.5, 4e9
_UNEXPECTED = re.compile(r"^ddsim: \w+: |Traceback", re.MULTILINE)
_NUMBER = re.compile(r"\b\d[\d_.]*(e\d+)?\b")

VALUES = """
0 -1 1 2 3 7 1e-9 1e9 1e30 1e308 -1e308 .nan .inf -.inf 0.5 0.999999 true false null ~ "" '' [] {}
never unlimited none fixed in_memory auto 2^62 0x10 1_000 08 1e 1e400 -0.0 99999999999999999999
[1,2,3] {a:1} [[]] {exponential:{mean:1 h}} {weibull:{shape:0.1,mean:1 s}} {gamma:{shape:3}}
{lognormal:{mean:1 h,sigma:9}} {constant:{value:1 s}} {uniform:[0,1]} unit region us-east *a &a !x
"""
QUANTITIES = ["0 s", "1 us", "1 ms", "1 s", "5 min", "3 h", "1 day", "1000 yr", "-1 s", "1 ns"]
QUANTITIES += ["1 bit/s", "1 kbit/s", "5 Gbit/s", "1e9 Gbit/s", "1 step", "0 steps", "80 GB", "5m"]
QUANTITIES += ["1 PFLOP/s", "1 FLOP", "2..9 h", "1 s to 5 s", "normal(1 s, 2 s)", "100 %", "5 GBps"]
HOSTILE = [*VALUES.split(), *QUANTITIES]

Change = Callable[[list[str], random.Random], None]


def drop(lines: list[str], rng: random.Random) -> None:
    """Lose a line."""
    del lines[rng.randrange(len(lines))]


def double(lines: list[str], rng: random.Random) -> None:
    """Have a line twice, somewhere."""
    lines.insert(rng.randrange(len(lines)), rng.choice(lines))


def renumber(lines: list[str], rng: random.Random) -> None:
    """Put something hostile in the place of a number."""
    places = [index for index, line in enumerate(lines) if _NUMBER.search(line.split("#")[0])]
    if places:
        place = rng.choice(places)
        value = rng.choice(["0", "1", "-1", "1e9", "0.001", "3", "1e-12", *HOSTILE])
        lines[place] = _NUMBER.sub(lambda _: value, lines[place], count=1)


def revalue(lines: list[str], rng: random.Random) -> None:
    """Put something hostile in the place of a value."""
    places = [index for index, line in enumerate(lines) if ":" in line.split("#")[0]]
    if places:
        place = rng.choice(places)
        lines[place] = f"{lines[place].split(':')[0]}: {rng.choice(HOSTILE)}"


def indent(lines: list[str], rng: random.Random) -> None:
    """Move a line in or out."""
    place = rng.randrange(len(lines))
    lines[place] = rng.choice(["  ", "    ", "\t", ""]) + lines[place].lstrip()


def graft(lines: list[str], rng: random.Random) -> None:
    """Put in a few lines of another scenario."""
    other = rng.choice(SHIPPED).read_text(encoding="utf-8").splitlines()
    begin = rng.randrange(len(other))
    place = rng.randrange(len(lines))
    lines[place:place] = other[begin : begin + rng.randint(1, 6)]


def garble(lines: list[str], rng: random.Random) -> None:
    """Change a character."""
    place = rng.randrange(len(lines))
    at = rng.randrange(len(lines[place]) + 1)
    lines[place] = (
        lines[place][:at] + rng.choice("\0:{}[],-#&*!|>'\"%@`é\u2028 9") + lines[place][at:]
    )


CHANGES: list[Change] = [drop, double, renumber, renumber, revalue, revalue, indent, graft, garble]


class Hung(BaseException):
    """It takes longer than it may."""


@dataclass(frozen=True)
class Try:
    """What was given to which command, and what came of it."""

    number: int
    words: tuple[str, ...]
    ran: Ran | None

    @property
    def fault(self) -> str | None:
        """What is wrong with what came of it, in a line."""
        if self.ran is None:
            return f"more than {LONGEST:g} s"
        if self.ran.code not in (0, 1, 2):
            return f"exit code {self.ran.code}"
        found = _UNEXPECTED.search(self.ran.err)
        if found:
            return self.ran.err[found.start() :].splitlines()[0]
        if self.ran.code and not (self.ran.err or self.ran.out):
            return "not a word"
        return None


def tries(count: int, seed: int, folder: Path) -> Iterator[Try]:
    """So many, each by its number and the seed alone."""
    with bounded():
        for number in range(count):
            words = written(number, seed, folder)
            yield Try(number, tuple(words), within(words))


def written(number: int, seed: int, folder: Path) -> list[str]:
    """Write the hostile file of a try, and return the words that give it to a command."""
    rng = random.Random(f"{seed}/{number}")
    return (_log if rng.random() < 0.15 else _scenario)(folder, rng)


@contextmanager
def bounded() -> Iterator[None]:
    """Have nothing begun that is expected to be long, and nothing compiled, which is."""
    with (
        mock.patch.object(consent, "HOUR", EXPECTED),
        mock.patch.object(driver, "LEAST_STEPS", inf),
        mock.patch.object(seconds, "COMPILED_FROM", inf),
    ):
        yield


def within(words: list[str]) -> Ran | None:
    """Run a command; None if it takes too long."""
    hung = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal hung
        hung = True
        raise Hung

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        ran = ddsim(*words)
    except Hung:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
    return None if hung else ran  # where it was taken for a fault of a user's Python


def _scenario(folder: Path, rng: random.Random) -> list[str]:
    lines = rng.choice(SHIPPED).read_text(encoding="utf-8").splitlines()
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        rng.choice(CHANGES)(lines, rng)
    path = folder / "hostile.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    (folder / "spot_trace.csv").write_bytes((TREE / "spot_trace.csv").read_bytes())
    words = ["run", str(path), "--method", rng.choice(METHODS)]
    if rng.random() < 0.8:
        words += ["--set", f"duration={rng.choice(['1 s', '10 min', '1 h', '6 h'])}"]
    for _ in range(rng.choice([0, 0, 1, 2, 3])):
        words += ["--set", f"{rng.choice(PATHS)}={rng.choice(HOSTILE)}"]
    return words


def _log(folder: Path, rng: random.Random) -> list[str]:
    lines = (TREE / "spot_trace.csv").read_text(encoding="utf-8").splitlines()
    lines = lines[: rng.choice([1, 2, 3, 50, len(lines)])]
    for _ in range(rng.randint(1, 4)):
        if lines:
            rng.choice([drop, double, renumber, garble])(lines, rng)
    path = folder / "hostile.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return ["trace", str(path)]


def main(count: int, seed: int) -> int:
    """Try so many, say what went wrong, and return how many did."""
    faults = 0
    ends = {0: 0, 1: 0, 2: 0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for item in tries(count, seed, folder):
            if item.ran is not None and item.ran.code in ends:
                ends[item.ran.code] += 1
            if item.fault:
                faults += 1
                sys.stdout.write(f"{item.number}: {item.fault}\n   {' '.join(item.words)}\n")
                sys.stdout.flush()
                hostile = folder / ("hostile.csv" if item.words[0] == "trace" else "hostile.yaml")
                kept = Path(tempfile.gettempdir()) / f"fuzz_{seed}_{item.number}{hostile.suffix}"
                kept.write_bytes(hostile.read_bytes())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    said = f"{count} tries: {ends}, {faults} faults, {memory / 1e9:.2g} GB at most"
    sys.stdout.write(f"{said}\n")
    return faults + (memory > LARGEST)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (8 * 1024**3, 8 * 1024**3))
    given = [int(word) for word in sys.argv[1:]]
    if len(given) > 2:
        words = written(given[2], given[1], Path(tempfile.mkdtemp(prefix="fuzz_")))
        sys.stdout.write(f"ddsim {shlex.join(words)}\n")
        sys.exit()
    sys.exit(bool(main(given[0] if given else 1000, given[1] if len(given) > 1 else 0)))
