"""Results: the document, the mean, the tables, the folder."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sample_results import comparison, record

from ddsim.results import MethodResult, Results, Span, mean_of
from ddsim.results.worth import COLUMNS
from ddsim.world.chance import Chance

KEYS_OF_A_METHOD = [
    "method",
    "merged_goodput",
    "merged_goodput_ci95",
    "goodput",
    "goodput_ci95",
    "goodput_by_chip_type",
    "time_goodput",
    "uptime",
    "merge_uptime",
    "participation",
    "merged_share",
    "pending_share",
    "compute_utilization",
    "ettr",
    "accounts",
    "steps",
    "tokens",
    "wall_clock_s",
    "quality",
    "goal",
    "failures",
    "mtbi_s",
    "mttr_s",
    "wan",
    "learning",
    "events",
    "elapsed_s",
    "tokens_merged",
]
METRICS_OF_A_METHOD = [
    "ratio",
    "tokens_per_hour",
    "merged_tokens_per_hour",
    "wan_mean_gbps",
    "wan_peak_gbps",
    "wan_total_bytes",
    "usd",
    "usd_per_billion_merged_tokens",
    "energy_kwh",
    "energy_kwh_per_billion_merged_tokens",
    *COLUMNS,
    "final_loss",
]


def test_document_has_its_keys_in_their_order() -> None:
    """The document has its keys and no others, in their order."""
    document = comparison().to_dict()
    assert list(document) == [
        "scenario",
        "seed",
        "replications",
        "duration_s",
        "version",
        "results",
    ]
    assert [list(item) for item in document["results"]] == [
        [*KEYS_OF_A_METHOD, *METRICS_OF_A_METHOD]
    ] * 2


def test_document_has_costs_where_there_are_prices() -> None:
    """What a run cost stands in its document, and is read back from it."""
    spent = {"usd": 1408.0, "usd_per_billion_merged_tokens": 247.0}
    results = replace(comparison(), results=[record(extra={"costs": spent})])
    assert results.to_dict()["results"][0]["costs"] == spent


def test_json_is_the_document() -> None:
    """The JSON text, read back, is the document."""
    results = comparison()
    assert json.loads(results.to_json()) == results.to_dict()


def test_json_has_no_nan_and_no_infinity() -> None:
    """What is not a finite number is null in JSON."""
    odd = record(mtbi_s=math.inf, mttr_s=math.nan, extra={}, wall_clock_s=np.float64("inf"))
    text = replace(comparison(), results=[odd]).to_json()
    item = json.loads(text)["results"][0]
    assert (item["mtbi_s"], item["mttr_s"], item["wall_clock_s"]) == (None, None, None)


def test_json_takes_numpy_scalars() -> None:
    """Numbers from numpy are written like Python's own."""
    odd = record(
        steps=np.float64(0.1), failures=np.int64(3), goodput_by_chip_type={"a": np.ones(2)}
    )
    item = json.loads(replace(comparison(), results=[odd]).to_json())["results"][0]
    assert (item["steps"], item["failures"]) == (0.1, 3.0)
    assert item["goodput_by_chip_type"] == {"a": [1.0, 1.0]}


def test_counts_are_written_as_floats() -> None:
    """3 and 3.0 give the same bytes where the document has a float."""
    whole, real = (replace(comparison(), results=[record(failures=n)]) for n in (3, 3.0))
    assert whole.to_json() == real.to_json()


def test_a_method_is_found_by_name() -> None:
    """Indexing by name gives the method; a name that is not there says which are."""
    results = comparison()
    assert results["decoupled_diloco"].goodput == 0.9
    with pytest.raises(KeyError, match="there are data_parallel, decoupled_diloco"):
        results["diloco"]


def test_ratio_is_of_merged_tokens_per_hour() -> None:
    """The ratio compares merged tokens per hour, and does not exist without a base."""
    results = comparison()
    assert results.ratio("decoupled_diloco") == pytest.approx(8.8 / 3)
    alone = replace(results, results=results.results[1:])
    assert alone.ratio("decoupled_diloco") is None
    assert results["decoupled_diloco"].merged_tokens_per_hour == pytest.approx(8.8e7)


def test_there_is_no_ratio_to_nothing_merged() -> None:
    """A base that merged nothing gives no ratio; a method that merged nothing has one of 0."""
    base, other = comparison().results
    idle = replace(base, tokens_merged=0.0)
    assert replace(comparison(), results=[idle, other]).ratio("decoupled_diloco") is None
    lost = replace(other, tokens_merged=0.0)
    assert replace(comparison(), results=[base, lost]).ratio("decoupled_diloco") == 0.0


def test_merged_goodput_is_the_merged_part_of_goodput() -> None:
    """Goodput x merged share; a method that knows no merges merges all that it keeps."""
    assert record(goodput=0.8, merged_share=0.5).merged_goodput == pytest.approx(0.4)
    assert record("data_parallel", goodput=0.8, merged_share=None).merged_goodput == 0.8


def test_work_of_which_nothing_was_merged_yet_is_not_merged_goodput() -> None:
    """Learners that have not been in a merge have no merged share, and no merged goodput."""
    assert record(goodput=0.8, merged_share=None, tokens_merged=0.0).merged_goodput == 0.0


def test_merged_goodput_of_replications_is_the_mean_of_products() -> None:
    """Not the product of means, which is another number where the two vary together."""
    parts = [record(goodput=1.0, merged_share=1.0), record(goodput=0.5, merged_share=0.2)]
    mean = mean_of(parts)
    assert mean.merged_goodput == pytest.approx(0.55)
    assert mean.merged_goodput_ci95 is not None


def test_ratio_of_replications_is_of_sums() -> None:
    """Merged tokens of all histories over their hours, whichever was the longer."""
    long = [record("data_parallel", tokens_merged=4.0, wall_clock_s=3600.0)] * 2
    short = [
        record(tokens_merged=6.0, wall_clock_s=3600.0),
        record(tokens_merged=6.0, wall_clock_s=7200.0),
    ]
    results = replace(comparison(2), results=[mean_of(long), mean_of(short)])
    assert results.ratio("decoupled_diloco") == pytest.approx((12 / 3) / (8 / 2))


def test_no_time_trains_no_tokens() -> None:
    """A run without duration has 0 tokens per hour, not a division by zero."""
    assert record(wall_clock_s=0.0).tokens_per_hour == 0.0


def test_mean_of_one_is_itself() -> None:
    """One replication has no interval."""
    only = record()
    assert mean_of([only]) is only


def test_interval_is_students() -> None:
    """Two goodputs 0.1 apart give 0.05 x t(0.975, 1) on either side; t from its closed form.

    No goodput is above 1, and no end of its interval.
    """
    mean = mean_of([record(goodput=0.8), record(goodput=0.9)])
    half = 0.05 * math.tan(0.475 * math.pi)
    assert mean.goodput == pytest.approx(0.85)
    assert mean.goodput_ci95 == pytest.approx((0.85 - half, 1.0))


@pytest.mark.parametrize(("failures", "told"), [((3.0, 0.0), False), ((3.0, 1.0), True)])
def test_one_history_with_a_failure_gives_no_interval(
    failures: tuple[float, float], told: bool
) -> None:
    """Where failures are expected, as in a study; without any, jitter alone makes one."""
    parts = [record(goodput=g, failures=n) for g, n in zip((0.8, 0.9), failures, strict=True)]
    mean = mean_of(parts, Chance(strikes=0.9))
    assert (mean.goodput_ci95 is not None, mean.merged_goodput_ci95 is not None) == (told, told)
    assert mean_of(parts, Chance()).goodput_ci95 is not None


def test_mean_keeps_the_accounts_closed() -> None:
    """Means of accounts add up to 1 when an account is missing in some replications."""
    parts = [
        record(accounts={"productive": 1.0}),
        record(accounts={"restart": 0.25, "productive": 0.75}),
    ]
    mean = mean_of(parts)
    assert mean.accounts == {"productive": 0.875, "restart": 0.125}


def test_mean_time_between_interruptions_counts_quiet_histories() -> None:
    """Rates are averaged: one interruption an hour in one of two histories is one in two hours."""
    assert mean_of([record(mtbi_s=3600.0), record(mtbi_s=None)]).mtbi_s == pytest.approx(7200.0)
    assert mean_of([record(mtbi_s=None), record(mtbi_s=None)]).mtbi_s is None


def test_mean_time_to_recover_is_that_of_all_interruptions() -> None:
    """Three of a minute in one history and one of five in another: eight minutes over four."""
    often = record(mtbi_s=12000.0, mttr_s=60.0)
    once = record(mtbi_s=36000.0, mttr_s=300.0)
    assert mean_of([often, once, record()]).mttr_s == pytest.approx(120.0)


def test_cost_a_token_is_that_of_all_histories_together() -> None:
    """One that merged nothing counts with what it cost."""
    paid = {"usd": 6.0, "usd_per_billion_merged_tokens": 3.0}
    histories = [
        record(tokens_merged=2e9, extra={"costs": paid}),
        record(tokens_merged=0.0, extra={"costs": {"usd": 4.0}}),
    ]
    spent = mean_of(histories).extra["costs"]
    assert spent == {"usd": 5.0, "usd_per_billion_merged_tokens": pytest.approx(5.0, rel=1e-12)}


def test_mean_leaves_out_what_a_replication_does_not_have() -> None:
    """None is not zero."""
    assert mean_of([record(participation=0.5), record(participation=None)]).participation == 0.5
    assert mean_of([record(), record()]).merged_share is None


def test_mean_of_learning_is_pointwise() -> None:
    """Loss curves of one length are averaged point by point, others are the first's."""
    one = {"final_loss": 1.0, "initial_loss": 4.0, "curve": [[0.0, 0.0, 4.0], [1.0, 10.0, 1.0]]}
    two = {"final_loss": 2.0, "initial_loss": 4.0, "curve": [[0.0, 0.0, 4.0], [3.0, 20.0, 2.0]]}
    short = two | {"curve": [[0.0, 0.0, 4.0]]}
    mean = mean_of([record(learning=one), record(learning=two)]).learning
    assert mean == {
        "final_loss": 1.5,
        "initial_loss": 4.0,
        "curve": [[0.0, 0.0, 4.0], [2.0, 15.0, 1.5]],
    }
    uneven = mean_of([record(learning=one), record(learning=short)]).learning
    assert uneven is not None
    assert uneven["curve"] == one["curve"]


def test_mean_of_extras() -> None:
    """Numbers are averaged, anything else is the first replication's."""
    mean = mean_of([record(extra={"late": 2, "why": "a"}), record(extra={"late": 4, "why": "b"})])
    assert mean.extra["late"] == 3.0
    assert mean.extra["why"] == "a"


def test_mean_needs_replications_of_one_method() -> None:
    """There is no mean of nothing, nor of different methods."""
    with pytest.raises(ValueError, match="no replications"):
        mean_of([])
    with pytest.raises(ValueError, match="different methods"):
        mean_of([record("diloco"), record("data_parallel")])


def test_summary_has_a_row_a_method() -> None:
    """The summary stands in the order of the methods and holds derived numbers."""
    frame = comparison().summary()
    assert list(frame.index) == ["data_parallel", "decoupled_diloco"]
    assert frame.loc["decoupled_diloco", "ratio"] == pytest.approx(8.8 / 3)
    assert frame["merged_share"].isna().tolist() == [True, False]


def test_accounts_frame_closes() -> None:
    """Each row of the accounts adds up to 1."""
    assert comparison().accounts().sum(axis=1).tolist() == pytest.approx([1.0, 1.0])


def test_timeline_frame_has_a_row_a_span() -> None:
    """Spans of all methods stand below one another."""
    frame = comparison().timeline()
    assert list(frame.columns) == [
        "method",
        "unit",
        "start",
        "end",
        "state",
        "healthy_chips",
        "computing",
    ]
    assert frame.groupby("method").size().to_dict() == {"data_parallel": 7, "decoupled_diloco": 7}


def test_merges_frame_has_a_row_a_merge() -> None:
    """A merge says who was in it."""
    frame = comparison().merges()
    assert len(frame) == 1
    assert frame.loc[0, "learners"] == ("east", "west")


def test_jupyter_shows_the_methods() -> None:
    """The HTML names the scenario, escaped, and each method."""
    html = replace(comparison(3), scenario="a<b")._repr_html_()
    assert "a&lt;b" in html
    assert "mean of 3 replications" in html
    assert "decoupled_diloco" in html


def test_saved_results_come_back_the_same(tmp_path: Path) -> None:
    """What was saved is loaded: numbers, logs, extras and the resolved scenario."""
    results = comparison()
    written = results.save(tmp_path / "new" / "folder")
    assert {path.name for path in written} == {
        "results.json",
        "scenario.yaml",
        "accounts.csv",
        "timeline.csv",
        "merges.csv.gz",
        "trace.json.gz",
    }
    loaded = Results.load(tmp_path / "new" / "folder")
    assert loaded == results
    assert Results.load(tmp_path / "new" / "folder" / "results.json") == results


def test_interval_survives_saving(tmp_path: Path) -> None:
    """The confidence interval is a pair again after loading, whatever its bounds' digits."""
    pair = (0.1 + 0.2, 2 / 3)
    results = replace(comparison(2), results=[record(goodput_ci95=pair)])
    results.save(tmp_path)
    assert Results.load(tmp_path)["decoupled_diloco"].goodput_ci95 == pair


def test_unlimited_duration_survives_saving(tmp_path: Path) -> None:
    """A run that ends with its tokens has no duration: null in JSON, infinite when loaded."""
    replace(comparison(), duration_s=math.inf).save(tmp_path)
    assert Results.load(tmp_path).duration_s == math.inf


def test_saving_again_leaves_nothing_of_the_run_before(tmp_path: Path) -> None:
    """Logs of an earlier run do not stay beside results that have none."""
    comparison().save(tmp_path)
    bare = replace(comparison(), results=[record()], resolved="")
    bare.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["accounts.csv", "results.json"]
    assert Results.load(tmp_path) == bare


def test_an_interrupted_save_is_not_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a file cannot be written, no results.json and no half-written file is left."""
    comparison().save(tmp_path)

    def full(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="disk full"):
        comparison().save(tmp_path)
    assert not (tmp_path / "results.json").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_loading_what_is_not_there_says_so(tmp_path: Path) -> None:
    """An empty folder is a FileNotFoundError that names the file."""
    with pytest.raises(FileNotFoundError, match=r"no results\.json"):
        Results.load(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"results": [{"method": "x"}]}', '{"results": 3}', "\x00"]
)
def test_loading_what_is_not_a_result_says_so(tmp_path: Path, text: str) -> None:
    """Anything else in results.json is a ValueError that names the file."""
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(ValueError, match=r"results\.json: not a saved result"):
        Results.load(tmp_path)


def test_a_broken_log_is_not_a_result(tmp_path: Path) -> None:
    """A log that cannot be read is said, by its own name."""
    comparison().save(tmp_path)
    (tmp_path / "timeline.csv").write_text("method,unit\nx,y\n")
    with pytest.raises(ValueError, match=r"timeline\.csv: not a log of a run"):
        Results.load(tmp_path)


def test_records_do_not_change() -> None:
    """Results are values: a field cannot be set."""
    with pytest.raises(AttributeError):
        record().goodput = 1.0  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Span("a", 0.0, 1.0, "running", 1).end = 2.0  # type: ignore[misc]


def test_fields_are_the_document_in_its_order() -> None:
    """A record's fields begin with the document's keys, so that neither drifts from the other."""
    names = list(MethodResult.__dataclass_fields__)
    assert names[: len(KEYS_OF_A_METHOD)] == KEYS_OF_A_METHOD
