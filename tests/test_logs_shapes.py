"""Each shape of log becomes frames: types as said, the line of each row, errors at their line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ddsim.logs.forms import Form
from ddsim.logs.instants import Clock
from ddsim.logs.model import Notice, TraceError
from ddsim.logs.opened import LogFile
from ddsim.logs.shapes import frames

COLUMNS = {
    "node": {"from": ["host", "node.name"]},
    "at": {"from": "at", "is": "instant"},
    "lasted": {"from": "lasted", "is": "duration", "unit": "min", "optional": True},
}
TABLE: dict[str, Any] = {"shape": "table", "columns": {**COLUMNS, "node": {"from": "host"}}}
RECORDS: dict[str, Any] = {"shape": "records", "columns": COLUMNS}
NESTED: dict[str, Any] = {"shape": "nested", "rows": ["items"], "beside": True, "columns": COLUMNS}


def _read(tmp_path: Path, text: str, form: dict[str, Any]) -> tuple[pd.DataFrame, list[Notice]]:
    path = tmp_path / "log"
    path.write_bytes(text.encode())
    notices: list[Notice] = []
    with LogFile(path) as file:
        found = list(frames(file, Form.model_validate(form), Clock(), notices))
    return pd.concat(found), notices


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t"])
def test_a_table_has_columns_by_name_whatever_stands_between_them(
    tmp_path: Path, delimiter: str
) -> None:
    """The order of columns and what else there is do not matter; comments are no rows."""
    text = "# c\nx,AT,host,lasted\n\n1,2026-01-05T00:00:00Z,n1,2\n#\n1,2026-01-05T00:01:00Z,n2,\n"
    frame, notices = _read(tmp_path, text.replace(",", delimiter), TABLE)
    assert frame.index.tolist() == [4, 6]
    assert frame["node"].tolist() == ["n1", "n2"]
    assert np.diff(frame["at"]).tolist() == [60.0]
    assert frame["lasted"].tolist() == pytest.approx([120.0, np.nan], nan_ok=True)
    assert notices == []


def test_a_field_in_quotes_may_go_over_lines(tmp_path: Path) -> None:
    """A row keeps the line at which it begins."""
    text = 'host,at\n"a\nb",2026-01-05\nc,2026-01-06\n'
    frame, _ = _read(tmp_path, text, TABLE)
    assert frame["node"].tolist() == ["a\nb", "c"]
    assert frame.index.tolist() == [2, 4]


def test_tables_one_after_the_other_are_one(tmp_path: Path) -> None:
    """A header that comes again is no row."""
    frame, _ = _read(tmp_path, "host,at\na,2026-01-05\nhost,at\nb,2026-01-06\n", TABLE)
    assert frame.index.tolist() == [2, 4]


def test_records_are_json_a_line(tmp_path: Path) -> None:
    """A field may stand inside others; of several names the first that is there counts."""
    text = '{"host": "a", "at": 1690000000}\n\n{"node": {"name": "b"}, "at": 1690000060}\n'
    frame, _ = _read(tmp_path, text, RECORDS)
    assert frame["node"].tolist() == ["a", "b"]
    assert frame["at"].tolist() == [1_690_000_000.0, 1_690_000_060.0]
    assert frame.index.tolist() == [1, 3]


def test_a_nested_document_has_rows_with_their_lines(tmp_path: Path) -> None:
    """What stands beside the list, before or after it, is there for each row."""
    text = '{"at": 1690000000,\n "items": [\n  {"host": "a"},\n  {"host": "b"}],\n "lasted": 2}'
    frame, _ = _read(tmp_path, text, NESTED)
    assert frame["node"].tolist() == ["a", "b"]
    assert frame["lasted"].tolist() == [120.0, 120.0]
    assert frame.index.tolist() == [3, 4]


def test_a_document_larger_than_a_piece_is_read_in_pieces(tmp_path: Path) -> None:
    """No row is lost where a piece ends, be it in a word or in a number."""
    name = "x" * 1_000
    rows = ",\n".join(f'{{"host": "{name}", "at": {1690000000 + n}}}' for n in range(2_000))
    frame, _ = _read(tmp_path, f'{{"items": [{rows}]}}', NESTED)
    assert frame["at"].tolist() == [1_690_000_000.0 + n for n in range(2_000)]
    assert frame.index.tolist() == list(range(1, 2_001))


def test_lists_inside_rows_are_taken_one_after_the_other(tmp_path: Path) -> None:
    """An inner row has what its outer one says, and its place; a list has a length."""
    form = {
        "shape": "nested",
        "rows": ["[]", "tries"],
        "columns": {
            "job": {"from": "job"},
            "at": {"from": "at", "is": "instant"},
            "nodes": {"from": "hosts.length", "is": "number"},
        },
    }
    text = (
        '[{"job": "a", "tries": [{"at": 1690000000, "hosts": [1, 2]},'
        ' {"at": 1690000060, "hosts": []}]},\n{"job": "b", "tries": []}]'
    )
    frame, _ = _read(tmp_path, text, form)
    assert frame["job"].tolist() == ["a", "a"]
    assert frame["nodes"].tolist() == [2.0, 0.0]


def test_text_has_the_lines_that_match(tmp_path: Path) -> None:
    """Groups are fields; the frame says which pattern matched."""
    form = {
        "shape": "text",
        "patterns": {"step": r"step (?P<n>\d+)", "save": r"saved in (?P<s>\S+) s"},
        "columns": {
            "step": {"from": "n", "is": "number", "optional": True},
            "save": {"from": "s", "is": "number", "optional": True},
        },
    }
    frame, _ = _read(tmp_path, "hello\nstep 7\nsaved in 2.5 s\n", form)
    assert frame["pattern"].tolist() == ["step", "save"]
    assert frame["step"].tolist() == pytest.approx([7.0, np.nan], nan_ok=True)
    assert frame["save"].tolist() == pytest.approx([np.nan, 2.5], nan_ok=True)
    assert frame.index.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("text", "form", "said"),
    [
        ("host,when\n", TABLE, ":1: no column at for at; the columns are host, when"),
        ("host,at\na,2026-01-05\nb\nc,2026-01-05\n", TABLE, ":3: 1 fields; 2 are needed"),
        ("host,at\na,2026-01-05\nb,soon\n", TABLE, ':3: at is "soon"; a time is needed'),
        ('{"host": 1}\nnope\n', RECORDS, ":2: .nope., which is no JSON"),
        ("[1]\n", RECORDS, ":1: a list of 1; a JSON object a line"),
        ('{"items": [{"host": 1},\n {"host" 2}]}', NESTED, ":2: .*; whole JSON is needed"),
        ('{"others": []}', NESTED, ":1: no 'items' in the document"),
        ("", TABLE, "no rows"),
    ],
)
def test_what_has_not_the_form_is_an_error_at_its_line(
    tmp_path: Path, text: str, form: dict[str, Any], said: str
) -> None:
    """File, line, what was found and what is allowed."""
    with pytest.raises(TraceError, match=said):
        _read(tmp_path, text, form)


@pytest.mark.parametrize(
    ("text", "form"),
    [("host,at\na,2026-01-05\nb", TABLE), ('{"host": "a", "at": 1690000000}\n{"ho', RECORDS)],
)
def test_a_half_written_last_row_is_left_out_and_named(
    tmp_path: Path, text: str, form: dict[str, Any]
) -> None:
    """As of a writer that was interrupted."""
    frame, (notice,) = _read(tmp_path, text, form)
    assert len(frame) == 1
    assert "half-written" in str(notice)


def test_a_duration_may_have_days_and_hours(tmp_path: Path) -> None:
    """As Slurm writes them."""
    form = {"shape": "table", "columns": {"lasted": {"from": "Elapsed", "is": "duration"}}}
    frame, _ = _read(tmp_path, "Elapsed\n1-02:03:04\n02:03:04\n03:04\n", form)
    assert frame["lasted"].tolist() == [93_784.0, 7_384.0, 184.0]
