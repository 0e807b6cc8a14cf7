"""Why goodput is not 1, and what a run costs."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import ddsim as command
from study_case import small, small_file

import ddsim
from ddsim.results.costs import costs
from ddsim.study.words import why_sentences


def test_each_cause_at_zero_is_a_rerun_on_the_same_histories(tmp_path: Path) -> None:
    """The gain is the rerun's goodput less the cell's, replication by replication."""
    scenario = small(tmp_path)
    study = ddsim.sweep(scenario, replications=5, why=True, methods=["elastic_data_parallel"])
    found = study.why().set_index("cause")
    calm = ddsim.sweep(
        scenario.with_({"failures.chip_mtbi": "never"}),
        replications=5,
        methods=["elastic_data_parallel"],
    )
    assert found.loc["failures", "goodput_without"] == calm.summary()["goodput"][0]
    gains = found["goodput_without"] - found["goodput"]
    assert found["gain"].tolist() == pytest.approx(gains.tolist(), abs=1e-12)
    assert found.index[0] == "failures"


def test_causes_that_a_scenario_lacks_are_left_out(tmp_path: Path) -> None:
    """No planned faults, no jitter, no latency: nothing to set to zero."""
    study = ddsim.sweep(small(tmp_path), replications=1, why=True)
    causes = set(study.why()["cause"])
    assert causes == {"failures", "detection", "repair", "elastic stalls", "restarts"}


def test_accounts_are_ranked(tmp_path: Path) -> None:
    """The largest first; with productive they add up to 1."""
    study = ddsim.sweep(small(tmp_path), replications=3, methods=["elastic_data_parallel"])
    losses = study.losses()
    assert losses["share"].is_monotonic_decreasing
    productive = study.summary()["account:productive"][0]
    assert losses["share"].sum() + productive == pytest.approx(1.0, abs=1e-9)


def test_a_sentence_says_it(tmp_path: Path) -> None:
    """One a cell: goodput, where the rest went, what would help."""
    study = ddsim.sweep(small(tmp_path), replications=3, why=True)
    one, other = why_sentences(study)
    assert one.startswith("data_parallel: goodput 0.")
    assert "failed_hardware" in other
    assert "without failures it would be 1.0000" in other


def test_chips_cost_by_the_hour_and_draw_by_what_they_do(tmp_path: Path) -> None:
    """Reserved chips are paid throughout; chips outside the job and failed ones draw nothing."""
    priced = {"prices.chip_hour": "2 USD", "power.chip": "500 W", "power.idle": "100 W"}
    scenario = small(tmp_path).with_(priced | {"power.overhead": 1.2})
    accounts = {"productive": 3600.0, "restart": 7200.0, "unallocated": 3600.0}
    found = costs(scenario, accounts, 2e9)
    assert found["usd"] == pytest.approx(8.0)
    assert found["energy_kwh"] == pytest.approx((0.5 + 0.2) * 1.2)
    assert found["usd_per_billion_merged_tokens"] == pytest.approx(4.0)
    given_back = costs(scenario.with_({"prices.unallocated": 0}), accounts, 0.0)
    assert given_back["usd"] == pytest.approx(6.0)
    assert "usd_per_billion_merged_tokens" not in given_back
    assert costs(small(tmp_path), accounts, 1.0) == {}


def test_costs_stand_in_the_results(tmp_path: Path) -> None:
    """All chips of an hour at 2 USD, in a run's extras and in a study's table."""
    scenario = small(tmp_path).with_({"prices.chip_hour": "2 USD", "power.chip": "400 W"})
    result = ddsim.run(scenario)["elastic_data_parallel"]
    assert result.extra["costs"]["usd"] == pytest.approx(2.0 * (256 + 16) * 2.0)
    study = ddsim.sweep(scenario, replications=1)
    row = study.summary().iloc[1]
    assert row["usd"] == pytest.approx(result.extra["costs"]["usd"])
    per_token = row["usd"] / row["tokens_merged"] * 1e9
    assert row["usd_per_billion_merged_tokens"] == pytest.approx(per_token)
    assert row["energy_kwh"] > 0


def test_what_leaves_a_region_costs_too(tmp_path: Path) -> None:
    """The bytes of every link at its price, beside the chips."""
    scenario = small(tmp_path).with_(
        {
            "network.regions": ["east", "west"],
            "network.bandwidth": "100 Gbit/s",
            "network.price": "0.05 USD/GB",
            "prices.chip_hour": "2 USD",
        }
    )
    result = ddsim.run(scenario, methods=["diloco"])["diloco"]
    sent = 2 * result.wan["total_bytes"] / 1e9  # two equal sites, each sends as much
    assert sent > 0
    chips = 2.0 * (256 + 16) * 2.0
    assert result.extra["costs"]["usd"] == pytest.approx(chips + 0.05 * sent, rel=1e-9)


def test_run_prints_what_it_cost(tmp_path: Path) -> None:
    """A table of money and energy, where there are prices."""
    priced = ("--set", "prices.chip_hour=2 USD", "--set", "power.chip=400 W")
    printed = command("run", small_file(tmp_path), *priced).out
    assert "USD/B merged" in printed
    assert "kWh" in printed
    assert "USD" not in command("run", small_file(tmp_path)).out
