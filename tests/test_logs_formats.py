"""Logs of every format: recognised, read, failures and censored rows counted.

The files in `tests/logs/` are written by hand, from the public descriptions that the presets name.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import ddsim

from ddsim.logs import Jobs, NodeCounts, NodeEvents, Points, TraceError, presets, read, summarize

FOLDER = Path(__file__).parent / "logs"
CASES = [
    # file, format, kind, rows, failures, censored
    ("sacct.txt", "slurm", "jobs", 6, 2, 4),
    ("sacct.json", "slurm", "jobs", 3, 1, 2),
    ("acme.csv", "acme", "jobs", 7, 5, 2),
    ("philly.json", "philly", "jobs", 5, 3, 2),
    ("k8s_events.json", "k8s-events", "points", 6, 6, None),
    ("dmesg.txt", "xid", "points", 3, 3, None),
    ("xid.csv", "xid", "points", 3, 3, None),
    ("gcloud.json", "gcloud", "points", 2, 2, None),
    ("gcloud.txt", "gcloud", "points", 2, 2, None),
    ("lanl.csv", "lanl", "points", 4, 4, None),
    ("backblaze.csv", "backblaze", "lifetimes", 4, 1, 3),
    ("skypilot.json", "skypilot", "node_counts", 10, 2, None),
    ("grafana.csv", "grafana", "node_events", 6, 2, 2),
    ("grafana_count.csv", "grafana", "node_counts", 4, 3, None),
]


@pytest.mark.parametrize(("name", "form", "kind", "rows", "failures", "censored"), CASES)
def test_failures_and_censored_rows_are_counted(
    name: str, form: str, kind: str, rows: int, failures: int, censored: int | None
) -> None:
    """With the format named or recognised alike; what was guessed is said."""
    named, guessed = read(FOLDER / name, form), read(FOLDER / name)
    found = summarize(named)
    assert (found.kind, found.rows, found.removals, found.unended) == (
        kind,
        rows,
        failures,
        censored,
    )
    assert guessed.remarks[0].startswith(f"{name} is read as {form} (")
    assert guessed.remarks[1:] == named.remarks
    assert summarize(guessed).removals == failures


@pytest.mark.parametrize(("name", "form"), [(case[0], case[1]) for case in CASES])
def test_the_wrong_format_is_refused_with_file_and_line(name: str, form: str) -> None:
    """Whichever it is."""
    for other in presets():
        if other != form and presets()[other].holds in ("jobs", "points", "days", "samples"):
            with pytest.raises(TraceError) as caught:
                read(FOLDER / name, other)
            assert caught.value.problems[0].line is not None
            assert name in str(caught.value)


def test_jobs_that_did_not_fail_are_censored_right() -> None:
    """233,467 s with 5 failures among 7 jobs: 12.97 h each, not the 9.26 h of 7 failures."""
    trace = read(FOLDER / "acme.csv")
    assert isinstance(trace, Jobs)
    assert float((trace.end - trace.start).sum()) == 233_467.0
    mtbf = summarize(trace).job_mtbf
    assert mtbf is not None
    assert mtbf / 3_600.0 == pytest.approx(12.97, abs=0.005)


def test_steps_of_slurm_are_no_jobs_and_a_list_of_nodes_is_expanded() -> None:
    """Of 12 rows 4 are steps, 1 waits and 1 never ran; the nodes of what failed have names."""
    trace = read(FOLDER / "sacct.txt")
    assert isinstance(trace, Jobs)
    assert trace.hosts[0] == ("n001", "n002", "n003", "n004", "n007")
    assert trace.nodes.tolist() == [5.0, 5.0, 1.0, 5.0, 5.0, 1.0]
    assert [str(notice) for notice in trace.notices] == [
        "line 10: no start: it never ran; left out"
    ]


def test_a_job_that_goes_on_has_lasted_as_long_as_the_log_says() -> None:
    """Without such a column it lasts until the last instant of the log."""
    trace = read(FOLDER / "sacct.txt")
    assert isinstance(trace, Jobs)
    assert (trace.end - trace.start)[4] == 3 * 3_600.0


def test_times_of_slurm_are_those_of_the_zone_that_is_named(tmp_path: Path) -> None:
    """A job over the change of clocks in autumn is an hour longer than the clock says."""
    file = tmp_path / "sacct.txt"
    rows = "1|FAILED|2026-10-24T12:00:00|2026-10-25T12:00:00\n"
    file.write_text(f"JobID|State|Start|End\n{rows}")
    local, plain = read(file, zone="Europe/Berlin"), read(file)
    assert local.spells().durations.tolist() == [25 * 3_600.0]
    assert plain.spells().durations.tolist() == [24 * 3_600.0]
    assert any("taken as UTC" in remark for remark in plain.remarks)


def test_kubernetes_counts_repeats_and_may_have_no_first_time() -> None:
    """Three are spread from first to last; of two without a first time one has none."""
    trace = read(FOLDER / "k8s_events.json")
    assert isinstance(trace, Points)
    assert trace.nodes.count("gpu-1") == 3
    assert trace.dated.tolist().count(False) == 1
    assert (trace.end - trace.start) / 3_600.0 == 48.0


def test_attempts_that_were_followed_by_another_failed() -> None:
    """A job that passed at its second attempt has a failure, and one that is censored."""
    trace = read(FOLDER / "philly.json")
    assert isinstance(trace, Jobs)
    assert trace.failed.tolist() == [True, False, False, True, True]
    assert trace.nodes.tolist() == [2.0, 2.0, 1.0, 1.0, 1.0]


def test_codes_that_are_the_applications_own_are_no_failures() -> None:
    """They are counted aloud."""
    trace = read(FOLDER / "dmesg.txt")
    assert "rows that are no failures: 31 (1), 63 (1)" in trace.remarks


def test_repairs_are_taken_where_they_are_written() -> None:
    """From the time of the problem to that of its end."""
    found = summarize(read(FOLDER / "lanl.csv"))
    assert found.mttr == pytest.approx((6 + 240 + 30 + 120) / 4 * 60.0)
    assert found.nodes == 50


def test_a_sample_of_each_node_is_nodes_that_come_and_go() -> None:
    """One of their number is counts; SkyPilot's 1 is a preemption, and its gaps are in seconds."""
    events = read(FOLDER / "grafana.csv")
    assert isinstance(events, NodeEvents)
    assert set(events.nodes) == {"n1:9100", "n2:9100"}
    assert sorted(events.spells().durations.tolist()) == [60.0, 60.0, 60.0, 120.0]
    counts = read(FOLDER / "skypilot.json")
    assert isinstance(counts, NodeCounts)
    assert counts.counts.tolist() == [1, 1, 0, 0, 1, 1, 1, 0, 1, 1]
    assert counts.times[1] == 600.0


def test_a_state_that_is_not_known_is_refused(tmp_path: Path) -> None:
    """File, line, field, what was found and what is allowed; nothing is guessed."""
    file = tmp_path / "jobs.txt"
    file.write_text(
        "JobID|State|Start|End\n1|COMPLETED|2026-01-05|2026-01-06\n2|MELTED|2026-01-05|2026-01-06\n"
    )
    with pytest.raises(TraceError, match=r"jobs.txt:3: State is \"MELTED\"; .*CANCELLED"):
        read(file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("JobID    JobName  State\n-------- -------- ------\n1  a  COMPLET+\n", "--parsable2"),
        ("LAST SEEN   TYPE   REASON   OBJECT\n5m   Normal   Pulled   pod/a\n", "--output json"),
    ],
)
def test_what_says_too_little_is_refused_with_what_to_ask_for(
    tmp_path: Path, text: str, said: str
) -> None:
    """Columns that are cut short, and ages in the place of times."""
    file = tmp_path / "log.txt"
    file.write_text(text)
    with pytest.raises(TraceError, match=f"log.txt:1: .*{said}"):
        read(file)


def test_a_format_of_ones_own_is_a_yaml_file(tmp_path: Path) -> None:
    """Which column is what, and which words are failures."""
    own, log = tmp_path / "mine.yaml", tmp_path / "jobs.csv"
    own.write_text(
        "about: our jobs\nholds: jobs\nforms:\n- shape: table\n  columns:\n"
        "    state: {from: how}\n    start: {from: began, is: instant}\n"
        "    end: {from: ended, is: instant}\n"
        "settings:\n  failed: {broke: {cause: broken, domain: job}}\n  censored: [fine]\n"
    )
    log.write_text("how;began;ended\nbroke;1690000000;1690003600\nfine;1690000000;1690007200\n")
    ran = ddsim("trace", log, "--format", own, "--json")
    document = json.loads(ran.out)
    assert document["summary"]["job_mtbf"] == 3 * 3_600.0
    assert document["failures"]["rates"][0]["cause"] == "broken"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "about: x\nholds: jobs\nforms:\n- shape: tabel\n  columns: {}\n",
            'mine.yaml:4: .*"tabel"',
        ),
        ("about: x\nholds: jobs\n", "forms is nothing"),
        ("about: [x\n", "mine.yaml"),
        ("about: x\nholds: songs\nforms:\n- {shape: table, columns: {}}\n", "holds songs"),
    ],
)
def test_a_format_of_ones_own_that_is_wrong_is_refused(
    tmp_path: Path, text: str, said: str
) -> None:
    """With file and line where it has one."""
    own = tmp_path / "mine.yaml"
    own.write_text(text)
    with pytest.raises(TraceError, match=said):
        read(FOLDER / "xid.csv", str(own))


def test_a_trace_prints_how_often_each_cause_strikes() -> None:
    """With its interval, and writes it as `failures.causes`; messages stay off stdout."""
    ran = ddsim("trace", FOLDER / "acme.csv", "--format", "acme")
    assert ran.code == 0
    for text in ("12.97 h", "5.56 h to 1.66 day", "name: node failure", "per: 16.213 h"):
        assert text in ran.out.replace('"', "")
    assert "is read as" not in ran.err


def test_formats_are_listed() -> None:
    """`ddsim list formats` names each, the three kinds included."""
    ran = ddsim("list", "formats", "--json")
    assert set(json.loads(ran.out)["formats"]) >= {*presets(), "node_events", "lifetimes"}


@pytest.mark.parametrize(
    ("line", "node"),
    [
        ("[Mon Jan  5 10:00:00 2026] NVRM: Xid (PCI:0000:17:00): 79, pid=1, fallen off", None),
        ("n7: [Mon Jan  5 10:00:00 2026] NVRM: Xid (PCI:0000:17:00): 79, fallen off", "n7"),
        ("2026-01-05T10:00:00,123456+00:00 NVRM: Xid (PCI:0000:17:00): 79, fallen off", None),
        ("2026-01-05T10:00:00+0000 n7 kernel: NVRM: Xid (PCI:0000:17:00): 79, off", "n7"),
        ("Jan  5 10:00:00 n7 kernel: [ 123.456] NVRM: Xid (0000:17:00): 79, off", "n7"),
    ],
)
def test_the_kernels_log_comes_in_many_forms(tmp_path: Path, line: str, node: str | None) -> None:
    """With a name of the node and without, with dates of each kind."""
    file = tmp_path / "dmesg.txt"
    file.write_text(f"{line}\n")
    trace = read(file)
    assert isinstance(trace, Points)
    assert trace.nodes == (node,)
    assert trace.causes[trace.codes[0]].cause == "GPU off the bus"


def test_a_table_of_xids_needs_no_header(tmp_path: Path) -> None:
    """Time, node, GPU and code."""
    file = tmp_path / "xid.csv"
    file.write_text("1767607200,n1,0,79\n1767610800,n2,3,13\n")
    trace = read(file)
    assert isinstance(trace, Points)
    assert (len(trace.times), trace.end - trace.start) == (1, 3_600.0)


def test_events_of_kubernetes_may_come_one_a_line(tmp_path: Path) -> None:
    """As exporters keep them."""
    events = json.loads((FOLDER / "k8s_events.json").read_text())["items"]
    file = tmp_path / "events.jsonl"
    file.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    assert summarize(read(file)).removals == 6
