"""What a trace file holds once it has been read."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ddsim.errors import InputError
from ddsim.logs.rules import Cause

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Problem:
    """What is wrong with a trace file, and where; `line` is None for the file as a whole."""

    file: str
    line: int | None
    found: str
    allowed: str

    @property
    def where(self) -> str:
        """``file:line``, or the file alone."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return f"{self.where}: {self.found}; {self.allowed}"


class TraceError(InputError, ValueError):
    """A trace that cannot be read; `problems` lists all that was found, one line each."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        shown = [str(problem) for problem in self.problems[:10]]
        if len(self.problems) > len(shown):
            shown.append(f"... and {len(self.problems) - len(shown)} more like these")
        super().__init__("\n".join(shown))


@dataclass(frozen=True)
class Notice:
    """A fault in a trace that was mended, how, and in which lines (all of them, from 1)."""

    found: str
    repair: str
    lines: tuple[int, ...]

    def __str__(self) -> str:
        shown = ", ".join(str(line) for line in self.lines[:5])
        more = f" and {len(self.lines) - 5} more" if len(self.lines) > 5 else ""
        word = "line" if len(self.lines) == 1 else "lines"
        return f"{word} {shown}{more}: {self.found}; {self.repair}"


@dataclass(frozen=True)
class Spells:
    """Lengths of life in seconds: those that ended, and those that were still going on.

    `ended[i]` is False where the life was longer than `durations[i]` (right-censored).
    """

    durations: Array
    ended: Flags

    def __len__(self) -> int:
        return len(self.durations)


@dataclass(frozen=True)
class NodeEvents:
    """Nodes that come and go.

    `times` in seconds from the first row, in order; where `added` is False the node has gone.
    `watched` is until when the log goes on, if that is later than the last event. `remarks`, here
    as in every trace, say what was taken for what.
    """

    file: str
    times: Array
    added: Flags
    nodes: tuple[str, ...]
    notices: tuple[Notice, ...] = ()
    remarks: tuple[str, ...] = ()
    watched: float = 0.0

    @cached_property
    def counts(self) -> Counts:
        """The number of nodes after each event."""
        return np.cumsum(np.where(self.added, 1, -1))

    def capacity(self) -> tuple[Array, Counts]:
        """The instants at which the number of nodes changes, and the number from each on."""
        return _settled(self.times, self.counts)

    def spells(self) -> Spells:
        """The life of each node from its coming to its going; at the end of the trace unended."""
        since: dict[str, float] = {}
        durations, ended = [], []
        for time, added, node in zip(
            self.times.tolist(), self.added.tolist(), self.nodes, strict=True
        ):
            if added:
                since[node] = time
            else:
                durations.append(time - since.pop(node))
                ended.append(True)
        last = max(float(self.times[-1]), self.watched)
        durations += [last - start for start in since.values()]
        ended += [False] * len(since)
        return Spells(np.array(durations), np.array(ended, dtype=np.bool_))


@dataclass(frozen=True)
class NodeCounts:
    """How many nodes there are. `times` in seconds from the first row, in order.

    `start` is the date and time of the first row where the file gives one.
    """

    file: str
    times: Array
    counts: Counts
    start: str | None = None
    notices: tuple[Notice, ...] = ()
    remarks: tuple[str, ...] = ()

    def capacity(self) -> tuple[Array, Counts]:
        """The instants at which the number of nodes changes, and the number from each on."""
        return _settled(self.times, self.counts)

    def spells(self) -> Spells:
        """The times between losses, of the whole and not of a node: counts do not say which left.

        One spell for each instant at which nodes are lost, since the one before or the first row.
        """
        fallen = np.flatnonzero(np.diff(self.counts) < 0) + 1
        marks = np.concatenate([self.times[:1], np.unique(self.times[fallen]), self.times[-1:]])
        ended = np.ones(len(marks) - 1, dtype=np.bool_)
        ended[-1] = False
        return Spells(np.diff(marks), ended)


@dataclass(frozen=True)
class Lifetimes:
    """Observed lengths of life; `column` is the column that they come from."""

    words: ClassVar[str] = "a table of lifetimes"
    file: str
    column: str
    durations: Array
    ended: Flags
    notices: tuple[Notice, ...] = ()
    remarks: tuple[str, ...] = ()

    def spells(self) -> Spells:
        """The lives, ended or not."""
        return Spells(self.durations, self.ended)


@dataclass(frozen=True)
class Jobs:
    """Jobs that ran, `start` to `end` in seconds since 1970, on so many `nodes` (NaN: unknown).

    `codes` say what ended each: a place in `causes`, or below 0 no failure. `hosts` are the nodes
    of those that failed, in their order, where the log names them.
    """

    words: ClassVar[str] = "a table of jobs"
    file: str
    start: Array
    end: Array
    nodes: Array
    codes: Counts
    causes: tuple[Cause, ...]
    hosts: tuple[tuple[str, ...], ...]
    notices: tuple[Notice, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def failed(self) -> Flags:
        """Which jobs failed."""
        return self.codes >= 0

    def spells(self) -> Spells:
        """How long each job ran, ended by a failure or censored."""
        return Spells(self.end - self.start, self.failed)


@dataclass(frozen=True)
class Points:
    """Failures as points, in order of time, watched from `start` to `end`, seconds since 1970.

    `codes` are places in `causes`; a node is None where none is named, a repair (seconds) NaN.
    Where `dated` is False the failure is counted, but its time is not known. `population` is how
    many nodes there are, if the log says so. Failures of one node that are less than `together`
    seconds apart are one incident.
    """

    words: ClassVar[str] = "failures as points"
    file: str
    start: float
    end: float
    times: Array
    dated: Flags
    nodes: tuple[str | None, ...]
    codes: Counts
    causes: tuple[Cause, ...]
    repairs: Array
    population: int | None = None
    together: float = 0.0
    notices: tuple[Notice, ...] = ()
    remarks: tuple[str, ...] = ()

    @cached_property
    def incidents(self) -> Counts:
        """The places of failures that are the first of their incident."""
        if not self.together:
            return np.arange(len(self.times))
        last: dict[str, float] = {}
        first = []
        for place, (time, node) in enumerate(zip(self.times.tolist(), self.nodes, strict=True)):
            if node is None or not self.dated[place]:
                first.append(place)
                continue
            if time - last.get(node, -np.inf) >= self.together:
                first.append(place)
            last[node] = time
        return np.array(first, dtype=np.int64)

    def spells(self) -> Spells:
        """The times between incidents of the whole; those at the edges are censored."""
        places = self.incidents[self.dated[self.incidents]]
        marks = np.concatenate([[self.start], self.times[places], [self.end]])
        ended = np.ones(len(marks) - 1, dtype=np.bool_)
        ended[[0, -1]] = False
        gaps = np.diff(marks)
        real = ended | (gaps > 0.0)
        return Spells(gaps[real], ended[real])


Trace = NodeEvents | NodeCounts | Lifetimes | Jobs | Points


def _settled(times: Array, counts: Counts) -> tuple[Array, Counts]:
    """Of several rows at one instant the last; of rows without change the first."""
    last = np.append(np.diff(times) > 0.0, True)
    times, counts = times[last], counts[last]
    changed = np.append(True, np.diff(counts) != 0)
    return times[changed], counts[changed]
