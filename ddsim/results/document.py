"""Results as plain data: the JSON document, and back."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from ddsim.results.metrics import values
from ddsim.results.record import MethodResult

# Logs are long and have files of their own.
LOGS = ("timeline", "merges", "tapes", "run_log")
_BESIDE = ("costs", "checkpoint")
"""What of `extra` the document has."""


def plain(value: Any) -> Any:
    """Return `value` as JSON knows it: no tuples, no numpy scalars, None for what isn't finite."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        listed = value.tolist()
        return plain(listed) if not isinstance(listed, float) else _finite(listed)
    if isinstance(value, float):
        return _finite(value)
    return str(value)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def record_document(
    result: MethodResult, ratio: float | None = None, *, beside: bool = False
) -> dict[str, Any]:
    """Return one method's entry of the document, in the order of its fields, then its metrics.

    Every metric stands there under its own name, `ratio`, which the result does not know, too.
    With `beside` it holds what the document leaves out, logs excepted: all of `extra`, of which
    the document has `costs`, where there are prices, and `checkpoint`, where there are saves.
    `merges_every` stands there where the log of merges is thinned.
    """
    left_out = set(LOGS) if beside else {*LOGS, "extra"}
    if result.merges_every == 1:
        left_out.add("merges_every")
    document = {
        item.name: _as_declared(plain(getattr(result, item.name)), item.type)
        for item in fields(result)
        if item.name not in left_out
    }
    for name in () if beside else _BESIDE:
        if name in result.extra:
            document[name] = plain(result.extra[name])
    document.update(plain({"ratio": ratio} | values(result)))
    return document


def _as_declared(value: Any, kind: Any) -> Any:
    """A count where a float is declared, so that 3 and 3.0 are the same bytes."""
    return float(value) if isinstance(value, int) and kind in (float, float | None) else value


def record_from(document: Mapping[str, Any]) -> MethodResult:
    """Rebuild a `MethodResult` from its entry; keys that it does not know are ignored.

    Raises KeyError or TypeError when the entry is not one.
    """
    known = {item.name for item in fields(MethodResult)} - set(LOGS)
    found = {key: value for key, value in document.items() if key in known}
    for name in ("merged_goodput_ci95", "goodput_ci95"):
        interval = found.get(name)
        if interval is not None:
            found[name] = (interval[0], interval[1])
    return MethodResult(**found)


def to_json(document: Mapping[str, Any]) -> str:
    """Return `document` as JSON: the same bytes for the same numbers, keys in their order."""
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False)
