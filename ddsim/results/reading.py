"""Saved results read back: whatever is damaged is named, and nothing of it is taken over."""

from __future__ import annotations

import csv
import gzip
import json
import math
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_type_hints

from ddsim.results import document, files, tapes
from ddsim.results.document import LOGS
from ddsim.results.record import (
    Learning,
    Merge,
    MethodResult,
    Quality,
    Span,
    Unreachable,
    Wan,
)

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T")
_DAMAGED = (
    EOFError,
    OSError,
    zlib.error,
    csv.Error,
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    RecursionError,
)
"""What reading a file raises that is cut, flipped, emptied or not what it should be."""


def load(folder: Path) -> tuple[dict[str, Any], list[MethodResult], str, str]:
    """Read a saved result: what is said of all methods, their results, the scenario in both forms.

    `folder` may also be the path of its results.json. Raises FileNotFoundError where there is none,
    and ValueError, with the file, for one that is damaged.
    """
    if folder.name == files.RESULTS:
        folder = folder.parent
    path = folder / files.RESULTS
    if not path.is_file():
        said = f"{folder}: no {files.RESULTS} there; `ddsim run ... --out` writes one"
        raise FileNotFoundError(said)
    with named(path, "a saved result"):
        head, records = _document(path.read_bytes())
    timelines = _table(folder / files.TIMELINE, Span, _span, "computing")
    merges = _table(folder / files.MERGES, Merge, _merge)
    tape = folder / files.TAPE
    whole = [
        replace(
            item,
            timeline=tuple(timelines.get(item.method, ())),
            merges=tuple(merges.get(item.method, ())),
            tapes=tapes.SavedTapes(tape, item.method) if tape.is_file() else (),
        )
        for item in records
    ]
    return head, whole, read_scenario(folder / files.SCENARIO), read_scenario(folder / files.GIVEN)


@contextmanager
def named(path: Path, what: str) -> Iterator[None]:
    """Say of which file it is that something read within is wrong; `what` it should have been."""
    try:
        yield
    except _DAMAGED as error:
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ValueError(f"{path}: not {what}, or only a part of it ({said})") from error


def read_scenario(path: Path) -> str:
    """Return the text of a scenario that stands beside a result; nothing where there is none."""
    if not path.exists():
        return ""
    with named(path, "the scenario of a result"):
        text = path.read_text(encoding="utf-8")
        if not text.strip():
            raise ValueError("an empty file")
    return text


def read_json(content: bytes) -> Any:
    """Return what a JSON text says; ValueError for what is none, not-a-numbers included."""
    return json.loads(content.decode(), parse_constant=_no_number)


def _no_number(name: str) -> None:
    raise ValueError(f"{name}, where a number is wanted")


# The document.


def _document(content: bytes) -> tuple[dict[str, Any], list[MethodResult]]:
    """Return what a document says of the run, and of each method."""
    tree = read_json(content)
    head = {name: tree[name] for name in _models()["head"].model_fields}
    for name, part in [("head", head), *(("record", item) for item in tree["results"])]:
        _models()[name].model_validate_json(json.dumps(part))
    if head["duration_s"] is None:
        head["duration_s"] = math.inf
    records = [document.record_from(item) for item in tree["results"]]
    if not records:
        raise ValueError("no method in it")
    return head, records


@cache
def _models() -> Mapping[str, type[BaseModel]]:
    """What the parts of a document hold, as the records that they become declare it."""
    from pydantic import ConfigDict, Field, create_model

    config = ConfigDict(strict=True, allow_inf_nan=False)

    def model(kind: Any, optional: Collection[str], **others: Any) -> Any:
        hints = {name: hint for name, hint in get_type_hints(kind).items() if name not in LOGS}
        parts: dict[str, Any] = {
            name: (hint, None if name in optional else ...)
            for name, hint in (hints | others).items()
        }
        return create_model(kind.__name__, __config__=config, **parts)

    number = float | None  # what is not finite is written as null
    learning = model(
        Learning,
        Learning.__optional_keys__,
        final_loss=number,
        initial_loss=number,
        curve=list[list[number]],
        final_losses=list[number],
        final_loss_ci95=list[number] | None,
    )
    defaults = [
        item.name
        for item in fields(MethodResult)
        if (item.default, item.default_factory) != (MISSING, MISSING)
    ]
    wan = model(Wan, Wan.__optional_keys__)
    head: dict[str, Any] = {
        "scenario": (str, ...),
        "seed": (int, ...),
        "replications": (Annotated[int, Field(ge=1)], ...),
        "duration_s": (number, ...),
        "version": (str, ...),
    }
    return {
        "record": model(
            MethodResult,
            defaults,
            wan=wan,
            learning=learning | None,
            quality=model(Quality, Quality.__optional_keys__) | None,
            goal=Literal["reached"] | model(Unreachable, ()) | None,
        ),
        "head": create_model("head", __config__=config, **head),
    }


# The logs.


def _table(
    path: Path, kind: type, make: Callable[[list[str]], T], later: str = ""
) -> dict[str, list[T]]:
    """Return what the rows of a log make, by method; nothing where there is no such file.

    Logs from before there was the last column, `later`, have none.
    """
    if not path.exists():
        return {}
    found: dict[str, list[T]] = {}
    header = ["method", *(item.name for item in fields(kind))]
    with named(path, "a log of a run"):
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", newline="", encoding="utf-8") as file:
            rows = csv.reader(file)
            named_here = next(rows, None)
            if named_here == [name for name in header if name != later]:
                header = named_here
            if named_here != header:
                raise ValueError(f"line 1: its columns are not {', '.join(header)}")
            for row in rows:
                try:
                    if len(row) != len(header):
                        raise ValueError(f"{len(row)} values, not {len(header)}")
                    found.setdefault(row[0], []).append(make(row[1:]))
                except ValueError as error:
                    raise ValueError(f"line {rows.line_num}: {error}") from error
    return found


def _span(row: list[str]) -> Span:
    unit, start, end, state, chips, *share = row
    computing = _finite(share[0]) if share and share[0] else None
    span = Span(unit, _finite(start), _finite(end), state, int(chips), computing)
    if not 0.0 <= span.start <= span.end or span.healthy_chips < 0:
        raise ValueError(f"no stretch of time of so many chips: {start} to {end}, {chips}")
    if computing is not None and not 0.0 <= computing <= 1.0:
        raise ValueError(f"no share of a stretch of time: {computing:g}")
    return span


def _merge(row: list[str]) -> Merge:
    slot, fragments, start, arrival, learners, weights = row
    return Merge(
        slot=int(slot),
        fragments=tuple(map(int, _items(fragments))),
        start=_finite(start),
        arrival=_finite(arrival),
        learners=tuple(_items(learners)),
        weights=tuple(map(_finite, _items(weights))),
    )


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text}, where a number is wanted")
    return value


def _items(text: str) -> list[str]:
    return text.split(files.BETWEEN) if text else []
