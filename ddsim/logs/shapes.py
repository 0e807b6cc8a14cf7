"""From a file to frames: one adapter for each shape that logs have.

`frames` gives pandas frames in chunks. Their columns are those of the form, their types are said
there and never guessed, and their index, `line`, is the line of the file at which a row begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from ddsim.logs import records, tables
from ddsim.logs.columns import typed
from ddsim.logs.forms import Form
from ddsim.logs.instants import Clock
from ddsim.logs.model import Notice
from ddsim.logs.opened import LogFile
from ddsim.logs.records import PATTERN, Chunks

Frames = Iterator[pd.DataFrame]
_ADAPTERS: dict[str, Callable[[LogFile, Form, list[Notice]], Chunks]] = {
    "table": tables.chunks,
    "records": records.record_chunks,
    "nested": records.nested_chunks,
    "text": records.text_chunks,
}


def frames(file: LogFile, form: Form, clock: Clock, notices: list[Notice]) -> Frames:
    """The rows of a file in typed frames of some ten thousand rows.

    Text is None, numbers, instants and durations are NaN where a row has nothing; durations and
    instants are seconds. What had to be mended goes to `notices`. Raises TraceError, with file and
    line, for what does not have the form.
    """
    for lines, columns in _ADAPTERS[form.shape](file, form, notices):
        index = pd.Index(np.asarray(lines, dtype=np.int64), name="line")
        yield typed(file, form, clock, index, columns)


__all__ = ["PATTERN", "Frames", "frames"]
