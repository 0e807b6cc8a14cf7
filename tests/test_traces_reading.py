"""Trace files of each kind: what is read, what is mended and said, what is refused."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ddsim.logs import (
    Lifetimes,
    NodeCounts,
    NodeEvents,
    Trace,
    TraceError,
    read,
    summarize,
)

EVENTS = "0,add,a\n0,add,b\n60000,remove,a\n120000,add,c\n180000,remove,b\n"
COUNTS = "0,4\n60000,3\n60000,2\n120000,4\n"
DATES = "2021-12-11, 23:59:30, 55\n2021-12-12, 00:01:30, 54\n2021-12-12, 00:02:00, 56\n"
LIVES = "kind,lifetime_min,zone\nx,2,us\ny,3.5,eu\nx,1,us\n"

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a trace file of its own for each test."""

    def to(text: str) -> Path:
        path = tmp_path / "trace.csv"
        path.write_bytes(text.encode())
        return path

    return to


def _notices(trace: Trace) -> list[str]:
    return [str(notice) for notice in trace.notices]


def test_node_events_are_recognized_and_read(write: Write) -> None:
    """`time_ms,add|remove,node` gives times in seconds, what came and went, and the names."""
    trace = read(write(EVENTS))
    assert isinstance(trace, NodeEvents)
    assert trace.times.tolist() == [0.0, 0.0, 60.0, 120.0, 180.0]
    assert trace.added.tolist() == [True, True, False, True, False]
    assert trace.nodes == ("a", "b", "a", "c", "b")
    assert trace.notices == ()


def test_node_counts_in_milliseconds_are_recognized_and_read(write: Write) -> None:
    """`time_ms,count` gives times in seconds and counts, each row kept."""
    trace = read(write(COUNTS))
    assert isinstance(trace, NodeCounts)
    assert trace.times.tolist() == [0.0, 60.0, 60.0, 120.0]
    assert trace.counts.tolist() == [4, 3, 2, 4]
    assert trace.start is None


@pytest.mark.parametrize(("heading", "size"), [("time_s", 1.0), ("hours", 3600.0), ("time", 1e-3)])
def test_times_have_the_unit_that_their_heading_says(
    write: Write, heading: str, size: float
) -> None:
    """Milliseconds where it says none."""
    trace = read(write(f"{heading},nodes\n0,4\n60,3\n7200,2\n"))
    assert isinstance(trace, NodeCounts)
    assert trace.times.tolist() == pytest.approx([0.0, 60.0 * size, 7200.0 * size])


def test_node_counts_with_dates_are_recognized_and_read(write: Write) -> None:
    """`date, time, count` gives seconds from the first row, across midnight."""
    trace = read(write(DATES))
    assert isinstance(trace, NodeCounts)
    assert trace.times.tolist() == [0.0, 120.0, 150.0]
    assert trace.counts.tolist() == [55, 54, 56]
    assert trace.start == "2021-12-11 23:59:30"


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (("1690000000", "1690000060"), "read as seconds since 1970"),
        (("1690000000000", "1690000060000"), "read as milliseconds since 1970"),
        (("1690000000000000", "1690000060000000"), "read as microseconds since 1970"),
        (("2023-07-22T04:26:40Z", "2023-07-22T06:27:40+02:00"), "is read as"),
        (("2023-07-22 04:26:40", "2023-07-22 04:27:40"), "taken as UTC"),
        (("5", "60005"), "is read as"),
    ],
)
@pytest.mark.parametrize("header", ["", "time,event,node\n"])
def test_times_may_be_instants_in_any_unit_or_dates(
    write: Write, header: str, times: tuple[str, str], said: str
) -> None:
    """Told apart by size and said aloud; a minute is a minute."""
    events = read(write(f"{header}{times[0]},add,a\n{times[1]},remove,a\n"))
    counts = read(write(f"{header.replace(',node', '')}{times[0]},4\n{times[1]},3\n"))
    for trace in (events, counts):
        assert isinstance(trace, NodeEvents | NodeCounts)
        assert trace.times.tolist() == [0.0, 60.0]
        assert any(said in remark for remark in trace.remarks)


@pytest.mark.parametrize(
    "times", [("1690000000", "1690000060000"), ("0", "1690000000000"), ("2023-07-22", "1690000000")]
)
def test_a_file_that_mixes_units_is_refused_at_its_line(
    write: Write, times: tuple[str, str]
) -> None:
    """Nothing is guessed."""
    with pytest.raises(TraceError, match=r"trace\.csv:2: time is"):
        read(write(f"{times[0]},add,a\n{times[1]},remove,a\n"))


@pytest.mark.parametrize(("first", "line"), [("0", 2), ("99999999999999999999", 1)])
def test_a_number_beyond_all_dates_is_refused_at_its_line(
    first: str, line: int, write: Write
) -> None:
    """The first of them, in a file that has no other, too."""
    path = write(f"{first},add,a\n99999999999999999999,add,b\n")
    with pytest.raises(TraceError, match=rf"trace\.csv:{line}: time is 1e\+20, "):
        read(path)


def test_a_unit_that_is_given_holds(write: Write) -> None:
    """For numbers whose size does not tell it."""
    trace = read(write("0,add,a\n60,remove,a\n"), unit="s")
    assert isinstance(trace, NodeEvents)
    assert trace.times.tolist() == [0.0, 60.0]


def test_a_unit_against_the_size_of_times_is_said(write: Write) -> None:
    """Seconds since 1970 that are given as milliseconds; small numbers may have any unit."""
    said = read(write("1760000000,4\n1760006000,3\n"), unit="ms").remarks
    assert any("1760000000 is 2025-10-09 08:53:20 UTC in seconds" in item for item in said)
    assert not any("by its size" in item for item in read(write(COUNTS), unit="ms").remarks)


def test_json_that_is_cut_is_refused_where_it_ends(write: Write) -> None:
    """And not called a kind of trace that is not known."""
    with pytest.raises(TraceError, match=r":2: broken JSON: .* at column"):
        read(write('[{"time": "2026-01-01T00:00:00", "node": "a"},\n {"time": "2026-01-0'))


def test_lifetimes_are_recognized_by_their_header(write: Write) -> None:
    """The unit of a life stands in its column's name."""
    trace = read(write(LIVES))
    assert isinstance(trace, Lifetimes)
    assert trace.column == "lifetime_min"
    assert trace.durations.tolist() == [120.0, 210.0, 60.0]
    assert trace.ended.all()


def test_a_dated_duration_is_a_life_only_where_that_is_said(write: Write) -> None:
    """That of an outage, or of a job, stands beside a time as well."""
    path = write("timestamp,host,duration_min\n2026-01-01 00:10,n1,20\n")
    with pytest.raises(TraceError, match="unknown kind of trace"):
        read(path)
    lives = read(path, column="duration_min")
    assert isinstance(lives, Lifetimes)
    assert lives.durations.tolist() == [1_200.0]


@pytest.mark.parametrize(
    ("column", "expected"), [("censored", [True, False]), ("ended", [False, True])]
)
def test_lives_that_have_not_ended_are_marked(
    write: Write, column: str, expected: list[bool]
) -> None:
    """A column `censored` or `ended` says which lives were cut off by the end of watching."""
    trace = read(write(f"lifetime_s,{column}\n5,no\n6,yes\n"))
    assert isinstance(trace, Lifetimes)
    assert trace.ended.tolist() == expected


def test_the_column_of_lives_can_be_named(write: Write) -> None:
    """Where several columns hold times, one is chosen by name."""
    path = write("lifetime_s,uptime_h\n5,1\n")
    with pytest.raises(TraceError, match="more than one holds lives: lifetime_s, uptime_h"):
        read(path)
    trace = read(path, column="uptime_h")
    assert isinstance(trace, Lifetimes)
    assert trace.durations.tolist() == [3_600.0]
    with pytest.raises(TraceError, match="no column 'age'; there are lifetime_s, uptime_h"):
        read(path, column="age")


def test_ends_of_line_comments_and_blank_lines_do_not_matter(write: Write) -> None:
    """Windows line ends, a byte order mark, comments and empty lines change nothing."""
    trace = read(write("\ufeff# a comment\r\n\r\n" + EVENTS.replace("\n", "\r\n")))
    assert isinstance(trace, NodeEvents)
    assert len(trace.times) == 5
    assert trace.notices == ()


def test_unsorted_rows_are_sorted_and_named(write: Write) -> None:
    """A row earlier than one before it is put in its place, and said so with its line."""
    trace = read(write("0,add,a\n120000,remove,a\n60000,add,b\n180000,remove,b\n"))
    assert isinstance(trace, NodeEvents)
    assert trace.nodes == ("a", "b", "a", "b")
    assert _notices(trace) == ["line 3: earlier than a row before it; rows sorted by time"]


def test_unsorted_counts_are_sorted_and_named(write: Write) -> None:
    """The same for counts."""
    trace = read(write("0,4\n120000,3\n60000,5\n"))
    assert isinstance(trace, NodeCounts)
    assert trace.counts.tolist() == [4, 5, 3]
    assert _notices(trace) == ["line 3: earlier than a row before it; rows sorted by time"]


def test_rows_of_one_instant_keep_their_order(write: Write) -> None:
    """Sorting is stable: a node that leaves and comes at one instant is there afterwards."""
    trace = read(write("60000,remove,a\n60000,add,a\n0,add,a\n"))
    assert isinstance(trace, NodeEvents)
    assert trace.added.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("extra", "line", "message"),
    [
        ("180000,remove,b\n", 6, "the same event again; left out"),
        ("190000,add,c\n", 6, "an add of a node that is there already; left out"),
        ("190000,remove,z\n", 6, "a removal of a node that never came; left out"),
        ("190000,remove,a\n", 6, "a removal of a node that has gone already; left out"),
    ],
)
def test_events_that_cannot_have_happened_are_left_out_and_named(
    write: Write, extra: str, line: int, message: str
) -> None:
    """Duplicates, second comings and removals of what is not there: the line and the repair."""
    trace = read(write(EVENTS + extra))
    assert isinstance(trace, NodeEvents)
    assert len(trace.times) == 5
    assert _notices(trace) == [f"line {line}: {message}"]


def test_a_node_may_come_again(write: Write) -> None:
    """A node that has gone comes back under its name, for a second life."""
    trace = read(write("0,add,a\n10000,remove,a\n30000,add,a\n70000,remove,a\n"))
    assert isinstance(trace, NodeEvents)
    assert trace.notices == ()
    assert trace.spells().durations.tolist() == [10.0, 40.0]


def test_a_count_given_twice_is_left_out_and_named(write: Write) -> None:
    """The same count at the same time twice in a row is one row."""
    trace = read(write("0,4\n0,4\n60000,3\n60000,3\n"))
    assert isinstance(trace, NodeCounts)
    assert trace.counts.tolist() == [4, 3]
    assert _notices(trace) == ["lines 2, 4: the same row again; left out"]


@pytest.mark.parametrize("text", [EVENTS + "2400", EVENTS + "240000,rem", EVENTS + "240000,re\n"])
def test_a_half_written_last_line_is_left_out_and_named(write: Write, text: str) -> None:
    """A last line that breaks off counts for nothing, and is said so."""
    trace = read(write(text))
    assert isinstance(trace, NodeEvents)
    assert len(trace.times) == 5
    (notice,) = _notices(trace)
    assert notice.startswith("line 6: half-written (")
    assert notice.endswith("; left out")


def test_a_last_line_that_may_be_cut_short_is_named(write: Write) -> None:
    """Without its end of line a last count of 1 might have been 12: kept, and said so."""
    trace = read(write("0,4\n60000,1"))
    assert isinstance(trace, NodeCounts)
    assert trace.counts.tolist() == [4, 1]
    assert _notices(trace) == [
        "line 2: the last line has no end of line and may be cut short; kept as it stands"
    ]


def test_lives_of_no_length_are_left_out_and_named(write: Write) -> None:
    """A life of 0 or less cannot be."""
    trace = read(write("lifetime_s\n5\n0\n-3\n7\n"))
    assert isinstance(trace, Lifetimes)
    assert trace.durations.tolist() == [5.0, 7.0]
    assert _notices(trace) == ["lines 3, 4: a life that is not longer than 0; left out"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("0,add,a\nx,add,b\n10,add,c\n20,add,d\n", 2, "time_ms is 'x'; a whole number >= 0"),
        ("0,add,a\n5,add,b\n10,drop,c\n20,add,d\n", 3, "event is 'drop'; add or remove"),
        ("0,add,a\n5,add,\n10,add,c\n", 2, "node is empty; a node's name"),
        ("0,add,a\n5,add\n10,add,c\n20,add,d\n", 2, "2 fields; 3 are needed"),
        ("0,4\n60,-3\n120,4\n180,5\n", 2, "count is '-3'; a whole number >= 0"),
        ("0,4\n60,3.5\n120,4\n180,5\n", 2, "count is '3.5'"),
        (DATES + "2021-13-12, 00:03:00, 56\n", 4, "date and time are '2021-13-12' and"),
        ("lifetime_s\n5\nlong\n6\n", 3, "lifetime_s is 'long'; a number is needed"),
        ("lifetime_s\n5\ninf\n6\n", 3, "lifetime_s is 'inf'; a number is needed"),
        ("lifetime_s,ended\n5,maybe\n", 2, "ended is 'maybe'; 1 or 0"),
        ("lifetime,zone\n5,us\n", 1, "so that the unit is known"),
        ("hello world\nfoo\n", 1, "unknown kind of trace, first row 'hello world'"),
    ],
)
def test_a_row_that_does_not_fit_is_an_error_at_its_line(
    write: Write, text: str, line: int, message: str
) -> None:
    """File, line, what was found and what is allowed; nothing is guessed."""
    path = write(text)
    with pytest.raises(TraceError) as caught:
        read(path)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == (str(path), line)
    assert message in str(caught.value)


def test_an_unknown_kind_names_those_that_are_known(write: Write) -> None:
    """A file of no known kind is met with the forms that can be read."""
    with pytest.raises(TraceError) as caught:
        read(write("1,2,3,4\n"))
    for form in ("time_ms,add|remove,node", "time_ms,count", "date, time, count", "lifetime_s"):
        assert form in str(caught.value)


def test_all_faulty_rows_are_reported_together(write: Write) -> None:
    """One message names every row at fault, up to ten."""
    rows = [f"{n},add,n{n}\n" for n in range(40)] + ["x,add,y\n"] * 12 + ["50,add,z\n"]
    with pytest.raises(TraceError) as caught:
        read(write("".join(rows)))
    assert len(caught.value.problems) == 12
    assert str(caught.value).endswith("... and 2 more like these")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no rows"),
        (b"# only a comment\n", "no rows"),
        (b"0,add,a\n1,add,\xff\n", ":2: bytes that are not text"),
        (b"0,1\n\0\0", "binary data"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    """Empty and binary files are errors."""
    path = tmp_path / "trace.csv"
    path.write_bytes(data)
    with pytest.raises(TraceError, match=message):
        read(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """The message names the file."""
    with pytest.raises(TraceError, match=r"absent\.csv: No such file"):
        read(tmp_path / "absent.csv")


def test_a_kind_may_be_forced_but_must_exist(write: Write) -> None:
    """A given kind is taken at its word; one that is not known is an error."""
    path = write(COUNTS)
    assert isinstance(read(path, "node_counts"), NodeCounts)
    with pytest.raises(TraceError, match="3 are needed"):
        read(path, "node_events")
    with pytest.raises(TraceError, match=r'no format "nodes"; .*slurm, .*lifetimes, node_events'):
        read(path, "nodes")
    with pytest.raises(TraceError, match="only lifetimes have columns"):
        read(path, column="x")


def test_lives_in_events_end_or_are_cut_off_by_the_end(write: Write) -> None:
    """A node that is still there at the last row has a life that has not ended."""
    trace = read(write(EVENTS))
    spells = trace.spells()
    assert spells.durations.tolist() == [60.0, 180.0, 60.0]
    assert spells.ended.tolist() == [True, True, False]


def test_capacity_is_a_step_function_of_time(write: Write) -> None:
    """Rows of one instant count as their last, and only changes stand."""
    events, counts = read(write(EVENTS)), read(write(COUNTS))
    assert isinstance(events, NodeEvents)
    assert isinstance(counts, NodeCounts)
    counts_path = counts.capacity()
    assert counts_path[0].tolist() == [0.0, 60.0, 120.0]
    assert counts_path[1].tolist() == [4, 2, 4]
    assert events.capacity()[0].tolist() == [0.0, 60.0, 120.0, 180.0]
    assert events.capacity()[1].tolist() == [2, 1, 2, 1]


def test_a_summary_of_events(write: Write) -> None:
    """Span, nodes, peak, time-weighted mean, availability, comings and goings."""
    summary = summarize(read(write(EVENTS)))
    assert (summary.kind, summary.rows, summary.span) == ("node_events", 5, 180.0)
    assert (summary.nodes, summary.peak) == (3, 2)
    assert summary.mean == pytest.approx((2 * 60 + 1 * 60 + 2 * 60) / 180)
    assert summary.availability == pytest.approx((2 * 60 + 1 * 60 + 2 * 60) / 180 / 2)
    assert (summary.additions, summary.removals, summary.unended) == (3, 2, 1)
    assert summary.node_mtbf == pytest.approx(300.0 / 2)
    assert summary.median_life == 120.0


def test_events_and_their_counts_have_one_summary(write: Write) -> None:
    """The same history as counts has the same span, peak, mean, losses and mean life."""
    events = summarize(read(write(EVENTS)))
    counts = summarize(read(write("0,1\n0,2\n60000,1\n120000,2\n180000,1\n")))
    assert counts.mean is not None
    for field in ("span", "peak", "mean", "availability", "removals", "node_mtbf"):
        assert getattr(counts, field) == pytest.approx(getattr(events, field))
    assert (counts.nodes, counts.unended, counts.median_life) == (None, None, None)


def test_a_summary_of_lives(write: Write) -> None:
    """Mean life counts what the unended have lived; the median is of those that ended."""
    summary = summarize(read(write("lifetime_s,ended\n10,1\n20,1\n60,0\n")))
    assert (summary.nodes, summary.removals, summary.unended) == (3, 2, 1)
    assert summary.node_mtbf == 45.0
    assert summary.median_life == 15.0
    assert summary.span is None


def test_a_summary_is_plain_in_a_document(write: Write) -> None:
    """to_dict() holds plain types, with notices as sentences."""
    document = summarize(read(write(EVENTS + "9"))).to_dict()
    assert document["notices"] == ["line 6: half-written (1 fields); left out"]
    assert all(
        value is None or type(value) in (str, int, float, list) for value in document.values()
    )
    assert not any(isinstance(value, np.generic) for value in document.values())
