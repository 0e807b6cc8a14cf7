"""Published availability and preemption traces, read and fitted where their folder is at hand."""

import os
from pathlib import Path

import pytest

from ddsim.logs import fit, read, scenario_snippet, summarize

FOLDER = os.environ.get("DDSIM_TRACES")

pytestmark = pytest.mark.skipif(
    FOLDER is None, reason="DDSIM_TRACES does not name a folder with the published traces"
)


def _file(name: str) -> Path:
    path = Path(FOLDER or ".") / name
    if not path.exists():
        pytest.skip(f"{name} is not in the folder that DDSIM_TRACES names")
    return path


@pytest.mark.parametrize(
    ("name", "kind", "rows", "peak", "removals"),
    [
        ("bamboo/p3-trace.csv", "node_events", 344, 32, 167),
        ("bamboo/g4dn-trace.csv", "node_events", 153, 24, 74),
        ("bamboo/a100x1-east1b.txt", "node_counts", 268, 64, 154),
        ("oobleck/1h.csv", "node_events", 45, 30, 15),
        ("parcae/p3.csv", "node_counts", 344, 32, 167),
        ("gcp_preemptible/gcp_preemptible_lifetimes_2019.csv", "lifetimes", 1_442, None, 1_442),
    ],
)
def test_every_published_trace_is_read_without_repairs(
    name: str, kind: str, rows: int, peak: int | None, removals: int
) -> None:
    """Kind, rows, peak and losses are found, and nothing needs mending."""
    trace = read(_file(name))
    summary = summarize(trace)
    assert summary.notices == ()
    assert (summary.kind, summary.rows, summary.peak) == (kind, rows, peak)
    assert summary.removals == removals
    assert len(fit(trace).fits) == 6


def test_preemptible_lives_need_a_mixture() -> None:
    """A single Weibull fits badly, a mixture better, and the 24 h limit shows as late mass."""
    trace = read(_file("gcp_preemptible/gcp_preemptible_lifetimes_2019.csv"))
    report = fit(trace)
    assert report.best is not None
    assert report.best.kind == "mixture"
    single = next(one for one in report.fits if one.kind == "weibull")
    assert single.aic > report.best.aic + 1_000.0
    assert single.ks > 2.0 * report.best.ks
    said = "\n".join(report.remarks)
    assert "a single Weibull fits badly" in said
    assert "a mixture of two Weibulls fits better than one" in said
    assert "late mass: 25%" in said
    assert "mixture:" in scenario_snippet(trace, report)


def test_the_events_and_the_counts_of_one_cluster_agree() -> None:
    """Two publications of the same cluster have the same mean life of a node."""
    events = summarize(read(_file("bamboo/p3-trace.csv")))
    counts = summarize(read(_file("parcae/p3.csv")))
    assert counts.node_mtbf == pytest.approx(events.node_mtbf, rel=1e-12)
    assert counts.mean == pytest.approx(events.mean, rel=1e-12)
