"""Run logs of every form are read into the same events."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import ddsim
from ddsim.calibration import calibrate
from ddsim.logs.model import TraceError
from ddsim.logs.run_log import Event, RunLog, to_bytes
from ddsim.logs.runs import read_run

MEGATRON = """using world size: 16, data-parallel size: 4
[before the start of training step] datetime: 2026-05-01 10:00:00
 [2026-05-01 10:00:45] iteration       10/     100 | elapsed time per iteration (ms): 4500.0 | x
 [2026-05-01 10:01:31] iteration       20/     100 | elapsed time per iteration (ms): 4600.0 | x
    save-checkpoint ................................: (6825.01, 6826.84)
using world size: 16, data-parallel size: 4
    load-checkpoint ................................: (2825.01, 2826.84)
[before the start of training step] datetime: 2026-05-01 10:03:00
 [2026-05-01 10:03:45] iteration       30/     100 | elapsed time per iteration (ms): 4500.0 | x
[after training is done] datetime: 2026-05-01 10:04:00
"""
GOODPUT: list[dict[str, object]] = [
    {"job_start_time": 1690000000.0},
    {"tpu_init_start_time": 1690000001.0},
    {"tpu_init_end_time": 1690000011.0},
    {"training_prep_start_time": 1690000011.0},
    {"step_count": 0, "step_start_time": 1690000030.0},
    {"step_count": 1, "step_start_time": 1690000032.0},
    {"custom_badput_event_type": "evaluate", "custom_badput_event_start_time": 1690000033.0},
    {"custom_badput_event_type": "evaluate", "custom_badput_event_end_time": 1690000036.0},
    {"step_count": 2, "step_start_time": 1690000037.0},
    {"job_start_time": 1690000100.0},
    {"step_count": 2, "step_start_time": 1690000130.0},
    {"step_count": 3, "step_start_time": 1690000132.0},
]
DRILL = """t_s,replica,event,step,outer_step,value
0,0,process_start,,,
0,1,process_start,,,
5,0,eval,0,,10
5,1,eval,0,,10
13,0,step10,10,,800
13,1,step10,10,,800
14,0,commit,10,1,2
14,1,commit,10,1,2
15,0,fault_kill_safe,,,
16,1,fault_kill_safe,,,
20,1,commit,20,2,1
21,1,fault_partition,,,
30,1,fault_heal,,,
32,0,process_start,,,
34,0,checkpoint_loaded,,,
40,0,eval,0,,9
"""


def kinds(log: RunLog) -> Counter[str]:
    """How many events of each kind a log has."""
    return Counter(event.event for event in log.events)


def test_a_simulated_run_leaves_a_log_that_reads_as_it_was(tmp_path: Path) -> None:
    """Steps, synchronizations and failures are as many as the result says."""
    source = tmp_path / "case.yaml"
    source.write_text(
        "duration: 600 s\nmethods: [diloco, data_parallel]\n"
        "model: {parameters: 1e6, layers: 2}\n"
        "training: {step_time: 1 s, tokens_per_step: 1, inner_steps: 10, release: end_of_step}\n"
        "cluster: {chips: 4, chips_per_slice: 2, learners: 2, jitter: 0.05}\n"
        "network: {bandwidth: 1 Gbit/s, latency: 1 ms}\n"
        "failures: {causes: [{name: crash, domain: unit, mtbi: 200 s}], repair: 20 s,"
        " detection: 5 s}\n"
        "restart: {time: 10 s, moment_bits: 0}\n"
        "checkpoint: {policy: fixed, interval: 50 steps, save: 2 s, restore: 3 s}\n",
        encoding="utf-8",
    )
    from ddsim import simulation

    results = simulation.run(ddsim.load(source), log=True)
    for result in results.results:
        path = tmp_path / f"{result.method}.jsonl"
        path.write_bytes(to_bytes(result.run_log))
        log = read_run(path)
        assert [event._replace(line=0) for event in log.events] == list(result.run_log[1:-1])
        assert log.method == result.method
        assert kinds(log)["failure"] == result.failures > 0
        assert log.span == 600.0
        assert kinds(log)["sync"] == len(result.merges)
        assert kinds(log)["save"] > 0


def test_a_text_log_tells_steps_saves_and_restarts(tmp_path: Path) -> None:
    """A line is the mean of the iterations since the one before."""
    path = tmp_path / "train.log"
    path.write_text(MEGATRON, encoding="utf-8")
    log = read_run(path)
    assert log.form == "megatron"
    assert log.units == {"job": 16}
    assert [event.steps for event in log.of("step")] == [10, 10, 10]
    assert [event.duration for event in log.of("step")] == pytest.approx([4.5, 4.6, 4.5])
    assert [event.duration for event in log.of("save", "load")] == pytest.approx([6.83, 2.83], 0.01)
    assert kinds(log)["failure"] == 1
    assert log.span == 240.0


def test_goodput_records_survive_an_end_that_is_missing(tmp_path: Path) -> None:
    """What lacks it is left out with a remark; a job's second start is a failure."""
    path = tmp_path / "goodput.jsonl"
    rows = (json.dumps({"job_name": "a", **row}) + "\n" for row in GOODPUT)
    path.write_text("".join(rows), encoding="utf-8")
    log = read_run(path)
    assert log.form == "goodput"
    assert [event.duration for event in log.of("step")] == [2.0, 5.0, 2.0]
    assert [event.cause for event in log.of("stall")] == ["evaluate"]
    assert [event.duration for event in log.of("restart", "down")] == [10.0, 63.0]
    assert [notice.lines for notice in log.notices] == [(4,)]


def test_a_drills_kill_took_effect_where_the_process_starts_anew(tmp_path: Path) -> None:
    """The other kill is a fault without a failure."""
    path = tmp_path / "drill.csv"
    path.write_text(DRILL, encoding="utf-8")
    log = read_run(path)
    assert log.form == "storm"
    assert [(event.time, event.unit) for event in log.of("failure")] == [(15.0, "replica 0")]
    assert [event.duration for event in log.of("load", "restart")] == [5.0, 5.0, 2.0, 6.0]
    assert [event.duration for event in log.of("down")] == [17.0]
    assert Counter(event.cause for event in log.of("fault")) == {"kill": 2, "partition": 1}
    assert [len(event.participants) for event in log.of("sync")] == [2, 1]
    assert [event.steps for event in log.of("step")] == [10, 10]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"time": 1.0, "event": "stap"}, 'did you mean "step"'),
        ({"time": 1.0, "event": "step", "duration": -1.0}, "at least 0"),
        ({"time": 1.0, "event": "sync", "participants": "a"}, "a list of units"),
        ({"time": "soon", "event": "step"}, "a number is needed"),
    ],
)
def test_what_is_no_event_is_refused_with_its_line(
    tmp_path: Path, row: dict[str, object], said: str
) -> None:
    """And with what would be one."""
    path = tmp_path / "run.jsonl"
    first = to_bytes([Event(0.0, "step", "a", 1.0)]).decode()
    path.write_text(first + json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(TraceError, match=said) as error:
        read_run(path)
    assert "run.jsonl:2" in str(error.value)


def test_a_format_that_there_is_not_is_refused_though_files_show_theirs(tmp_path: Path) -> None:
    """With what there is."""
    log = tmp_path / "run.jsonl"
    log.write_text('{"time": 1.0, "event": "step", "unit": "a", "duration": 1.0, "step": 1}\n')
    with pytest.raises(TraceError, match='no format "foo"; there are'):
        calibrate([log], "foo")
