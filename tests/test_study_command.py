"""What `ddsim sweep` prints, and where."""

from __future__ import annotations

import io
import json
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from command_line import ddsim
from study_case import small, small_file

from ddsim.cli.base import Talk
from ddsim.cli.study_progress import study_bar
from ddsim.study import Progress, sweep
from ddsim.study.words import records

ARGUMENTS = ("--vary", "elastic.downscale=1 s,30 s", "--replications", 4, "--jobs", 1)


def test_it_prints_cells_differences_and_what_common_histories_gain(tmp_path: Path) -> None:
    """Means with intervals, pairs of methods, one sentence; nothing on stderr."""
    ran = ddsim("sweep", small_file(tmp_path), *ARGUMENTS)
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0] == "small: seed 0, 4 cells, 4 replications each; means with 95% intervals"
    headings = "elastic.downscale method merged goodput ratio goodput tokens/h merged/h"
    assert " ".join(lines[2].split()) == headings
    assert re.search(r"0\.\d{4} \(0\.\d{4} to [01]\.\d{4}\)", lines[3])
    assert any(line.startswith("common histories: the variance") for line in lines)
    assert ran.err == ""


def test_the_ratio_is_to_data_parallel_at_the_same_settings(tmp_path: Path) -> None:
    """Merged tokens over hours of a cell, sums over sums, over those of data_parallel's cell."""
    study = sweep(small(tmp_path), {"restart.spares": [0, 8]}, replications=3)
    rows = records(study.tables()["cells"])
    for base, elastic in list(pairwise(rows))[::2]:
        rates = [row["tokens_merged"] / row["wall_clock_s"] for row in (base, elastic)]
        assert (base["ratio"], elastic["ratio"]) == pytest.approx((1.0, rates[1] / rates[0]))


def test_without_data_parallel_a_study_has_no_ratio(tmp_path: Path) -> None:
    """There is no such column."""
    study = sweep(small(tmp_path), methods=["elastic_data_parallel"], replications=1)
    assert "ratio" not in study.summary()


@pytest.mark.slow
def test_json_is_one_document(tmp_path: Path) -> None:
    """Every table but the replications, a mapping a row."""
    ran = ddsim("sweep", small_file(tmp_path), *ARGUMENTS, "--json", "--why")
    document = json.loads(ran.out)
    assert {"cells", "differences", "losses", "why"} == set(document["tables"])
    cell = document["tables"]["cells"][0]
    assert cell["goodput_low"] <= cell["goodput"] <= cell["goodput_high"]
    assert document["metric"] == "merged_goodput"
    assert len(document["why"]) == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--most", 5), "--most goes with --half-width alone"),
        (("--half-width", "1%", "--replications", 3), "exclude each other"),
        (("--scheduler", "tcp://here:1"), "--scheduler goes with --executor dask alone"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(
    arguments: tuple[object, ...], said: str, tmp_path: Path
) -> None:
    """Nobody believes in an option that was not heard."""
    ran = ddsim("sweep", small_file(tmp_path), *arguments)
    assert ran.code == 2
    assert said in ran.err


@pytest.mark.slow
def test_a_half_width_that_was_not_reached_is_said(tmp_path: Path) -> None:
    """Whoever asks for a narrow interval hears where it is not."""
    rule = ("--half-width", "0.00001%", "--most", 3, "--method", "diloco", "--jobs", 1)
    ran = ddsim("sweep", small_file(tmp_path), "--vary", "elastic.downscale=1 s,30 s", *rule)
    assert ran.code == 0
    assert "2 of 2 cells are wider than 0.00001% after 3 replications" in ran.err


def test_histories_without_a_failure_are_said(tmp_path: Path) -> None:
    """No interval, how many failures were to be expected, and what may have gone unseen."""
    rule = ("--half-width", "0.1%", "--most", 30, "--method", "data_parallel", "--jobs", 1)
    ran = ddsim("sweep", small_file(tmp_path), "--set", "failures.chip_mtbi=5 yr", *rule)
    assert "30 replications each" in ran.out
    assert "no interval for the cell: too few histories differ" in ran.out
    assert "none differs from the rest and none met a failure, where 0.012 is expected" in ran.out
    assert "up to 1.2% of all histories may be unlike any that was seen" in ran.out
    assert "1 of 1 cells have no interval after 30 replications" in ran.err


def test_combinations_that_cannot_be_are_said_on_stderr(tmp_path: Path) -> None:
    """Results stay on stdout."""
    vary = ("--vary", "cluster.learners=2,4", "--vary", "training.quorum=1,4")
    ran = ddsim("sweep", small_file(tmp_path), *vary, "--replications", 1, "--jobs", 1)
    assert ran.code == 0
    assert "left out: data_parallel, cluster.learners=2, training.quorum=4" in ran.err
    assert "left out" not in ran.out


def test_a_run_is_not_written_into_a_study(tmp_path: Path) -> None:
    """Whoever looked there would see the study and not the run."""
    study, file = tmp_path / "study", small_file(tmp_path)
    assert ddsim("sweep", file, *ARGUMENTS, "--out", study).code == 0
    ran = ddsim("run", file, "--out", study)
    assert ran.code == 2
    assert "holds a study" in ran.err
    assert not (study / "results.json").exists()


class Terminal(io.StringIO):
    """What looks like a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells, replications, the widest interval; nothing when quiet."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with study_bar(Talk(quiet=True)) as quiet:
        assert quiet is None
    monkeypatch.setenv("COLUMNS", "200")
    with study_bar(Talk()) as update:
        assert update is not None
        update(Progress(3, 8, 25, 80, 0.0123, "diloco"))
    drawn = terminal.getvalue()
    assert "3 of 8 cells" in drawn
    assert "25 of 80 replications" in drawn
    assert "widest +/- 0.012" in drawn
