"""``scavenging``, ``trace`` and maintenance: hardware that is in the job for some of the time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from ddsim.naming import shown
from ddsim.scenario.fields import Flag, Kind, Quantity, Range, Text, refuse
from ddsim.scenario.files import files_of
from ddsim.scenario.section import Section, described, required
from ddsim.scenario.units import TIME

_TARGET = "`UNIT`, `UNIT/slice N` or `UNIT/slice N-M` (from 0)."
_SPAN = Quantity(TIME, Range(0.0, above=True))


class Maintenance(Section):
    """A planned time out for some hardware: `unallocated`, after a save in time."""

    target: Annotated[str, Text("what is taken out")] = required("", f"What is out: {_TARGET}")
    at: Annotated[float, Quantity(TIME)] = required(0.0, "When it begins, for the first time.")
    duration: Annotated[float, _SPAN] = required(0.0, "How long it lasts.", alias="for")
    every: Annotated[float | None, _SPAN] = described(
        None, "Time from one beginning to the next.", otherwise="only once"
    )


class Scavenged(Section):
    """Hardware that joins the job and leaves it: `unallocated` in between."""

    target: Annotated[str, Text("what joins and leaves")] = required("", f"What joins: {_TARGET}")
    joins: Annotated[float, Quantity(TIME)] = described(0.0, "When it joins, for the first time.")
    leaves: Annotated[float, Quantity(TIME, Range(0.0, above=True), "never")] = described(
        math.inf, "When it leaves, for the first time."
    )
    every: Annotated[float | None, _SPAN] = described(
        None, "Time from one joining to the next.", otherwise="only once"
    )
    notice: Annotated[float, Quantity(TIME)] = described(
        0.0,
        "Warning before it leaves: it shortens the detection, and with the time for a "
        "save (`checkpoint.save`) nothing is lost.",
    )


@dataclass(frozen=True)
class NodeTrace:
    """How many nodes there were: `counts` from each of the `times` (s) on, up to `end`.

    `path` is the file that said so.
    """

    path: str
    times: tuple[float, ...] = field(default=(), repr=False)
    counts: tuple[int, ...] = field(default=(), repr=False)
    end: float = 0.0


class TraceFile(Kind):
    """The name of a trace file; relative names start from the scenario's folder, or from here.

    The validation context has the scenario's `files`, and as `nodes` what reads one. Without that
    the trace stays empty.
    """

    def read(self, value: Any, context: Any = None) -> NodeTrace:
        """What the file says."""
        if not isinstance(value, str) or not value.strip():
            raise refuse(shown(value), "the name of a trace file")
        files = files_of(context)
        path = files.find(value)
        reader: Callable[[Path], NodeTrace] = (context or {}).get("nodes") or _there
        try:
            return files.read(path, "nodes", reader)
        except FileNotFoundError:
            raise refuse(f"no file {shown(value)}", f"a trace file; looked for {path}") from None

    def write(self, value: Any) -> str:
        """The absolute path."""
        return str(value.path)

    def json_schema(self) -> dict[str, Any]:
        """A string."""
        return {"type": "string"}


def _there(path: Path) -> NodeTrace:
    if not path.is_file():
        raise FileNotFoundError
    return NodeTrace(str(path))


class Replay(Section):
    """Nodes that came and went, replayed on the cluster's slices.

    Of the slices as many are in the job as nodes were there of the most that there ever were.
    Which of them leave is drawn; the one that has been out longest joins first.
    """

    file: Annotated[NodeTrace | None, TraceFile()] = described(
        None, "Node events or node counts, as `ddsim trace` reads them."
    )
    repeat: Annotated[bool, Flag()] = described(
        False, "Whether the trace begins again at its end; else its last number of nodes stays."
    )
    notice: Annotated[float, Quantity(TIME)] = described(
        0.0, "Warning before a node leaves; see scavenging."
    )
