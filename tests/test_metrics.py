"""Metrics: one registry of names, headings, units and directions."""

import pytest
from sample_results import comparison, record

from ddsim.results import mean_of
from ddsim.results.metrics import METRICS, OWN, RANKING, refusal, values
from ddsim.study.measures import mean


def test_the_document_and_the_summary_know_every_metric_by_its_name() -> None:
    """The same names everywhere."""
    results = comparison()
    assert set(METRICS) <= set(results.to_dict()["results"][0])
    assert set(METRICS) <= set(results.summary().columns)


def test_a_metric_has_one_value_wherever_it_stands() -> None:
    """The document says what the result has by itself."""
    results = comparison()
    for item, document in zip(results.results, results.to_dict()["results"], strict=True):
        assert {name: document[name] for name in OWN} == values(item)


def test_tables_begin_with_what_methods_are_ranked_by() -> None:
    """Merged goodput, then the ratio."""
    assert list(METRICS)[:2] == [RANKING, "ratio"]
    assert comparison().summary().columns[0] == RANKING


@pytest.mark.parametrize("name", [name for name in METRICS if "usd" in name or "kwh" in name])
def test_a_cost_is_better_where_it_is_lower(name: str) -> None:
    """Money and energy are never maximized."""
    assert METRICS[name].direction == "lower"


def test_headings_are_as_unique_as_names() -> None:
    """No two columns of a table are called the same."""
    assert len({metric.heading for metric in METRICS.values()}) == len(METRICS)


def test_costs_of_a_token_are_sums_over_sums() -> None:
    """A replication that merged nothing counts with what it cost."""
    costs = [{"usd": 10.0, "usd_per_billion_merged_tokens": 5.0}, {"usd": 10.0}]
    parts = [
        record(extra={"costs": spent}, tokens_merged=tokens)
        for spent, tokens in zip(costs, (2e9, 0.0), strict=True)
    ]
    assert mean_of(parts).extra["costs"]["usd_per_billion_merged_tokens"] == 10.0
    assert mean([values(item) for item in parts], "usd_per_billion_merged_tokens") == 10.0


def test_the_ratio_is_no_methods_own() -> None:
    """A refusal says what to ask for instead; of any other name, what there is."""
    assert "merged_tokens_per_hour" in refusal("ratio")
    assert "merged_goodput" in refusal("speed")
