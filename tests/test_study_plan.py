"""The best setting, raced for on common histories."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import ddsim
from study_case import small, small_file

import ddsim as package
from ddsim.results.metrics import METRICS
from ddsim.study import Plan, StudyError, plan, sweeping
from ddsim.study.caveats import edge_sentence
from ddsim.study.grid import Label
from ddsim.study.lacking import lacks
from ddsim.study.likely import likely_axes
from ddsim.study.racing import Race
from ddsim.study.words import INNER_STEPS, loss_sentence, plan_sentence
from ddsim.study.work import Row
from ddsim.world.chance import Chance

VARY = {
    "elastic.downscale": ["1 s", "5 s", "10 s", "20 s", "40 s"],
    "elastic.upscale": ["1 s", "10 s", "60 s"],
}


@pytest.mark.slow
def test_it_finds_what_an_exhaustive_search_finds(tmp_path: Path) -> None:
    """The shortest stalls are best; who is clearly behind meets no more histories."""
    scenario = small(tmp_path).with_({"failures.chip_mtbi": "4 day"})
    found = plan(scenario, VARY, methods=["elastic_data_parallel"], replications=12)
    everything = package.sweep(
        scenario, VARY, methods=["elastic_data_parallel"], replications=12
    ).summary()
    assert found.best.settings == {"elastic.downscale": "1 s", "elastic.upscale": "1 s"}
    assert found.best.value == everything["merged_goodput"].max()
    assert found.exhaustive == 15 * 12
    assert found.runs == sum(item.histories for item in found.candidates) < found.exhaustive


@pytest.mark.slow
def test_how_sure_it_is_covers_all_candidates(tmp_path: Path) -> None:
    """Those that left early count, and the best's interval allows for its having been chosen."""
    scenario = small(tmp_path).with_({"failures.chip_mtbi": "4 day"})
    found = plan(scenario, VARY, methods=["elastic_data_parallel"], replications=12)
    assert found.finalists < len(found.candidates)
    assert 0.95 <= found.sure <= 1.0
    assert found.at_most == 0.0
    best, second = found.candidates[:2]
    assert (best.behind, best.behind_low) == (0.0, None)
    assert second.behind_low is not None
    assert 0.0 < second.behind_low < second.behind
    alone = package.sweep(
        scenario, methods=["elastic_data_parallel"], replications=12, vary=best_of(found)
    ).summary()
    assert found.low is not None
    assert found.low < alone["merged_goodput_low"][0]


def test_a_candidate_that_lacks_the_metric_in_a_history_is_not_chosen() -> None:
    """It would be judged by the histories that went well for it."""
    rows: dict[int, list[Row]] = {
        0: [{"steps": 5.0, "failures": 1.0} for _ in range(6)],
        1: [{"steps": 9.0 if n else None, "failures": 1.0} for n in range(6)],
    }
    race = Race(rows, dict.fromkeys(rows, Chance(1.0)), "steps", 6)
    race.run(lambda _numbers, _histories: None)
    assert (race.best, race.sure) == (0, 1.0)


def best_of(found: Plan) -> dict[str, list[Label]]:
    """The best setting, as what varies."""
    return {path: [value] for path, value in found.best.settings.items()}


def test_without_a_failure_nothing_tells_candidates_apart(tmp_path: Path) -> None:
    """Though their saves differ in every history: a failure would turn that round."""
    scenario = small(tmp_path).with_({"failures.chip_mtbi": "100 yr", "duration": "1 h"})
    saves = {"checkpoint.interval": "5 min", "checkpoint.save": "20 s"}
    rare = scenario.with_(saves | {"methods": {"data_parallel": {"checkpoint.policy": "fixed"}}})
    vary = {"checkpoint.interval": ["5 min", "10 min", "20 min", "40 min"]}
    found = plan(rare, vary, replications=6)
    assert found.best.behind == 0.0
    assert (found.sure, found.at_most, found.low) == (0.0, None, None)
    assert found.untold == found.finalists - 1 == 3
    said = plan_sentence(found)
    assert "Nothing told it apart from 3 of the 3 others: of 6 histories none met a failure" in said
    assert "0.00029 is expected in each" in said


def test_less_is_better_where_it_costs(tmp_path: Path) -> None:
    """The objective `cost` makes the money per token small."""
    scenario = small(tmp_path).with_({"prices.chip_hour": "2 USD"})
    vary = {"elastic.downscale": ["100 s", "1 s"]}
    found = plan(
        scenario, vary, methods=["elastic_data_parallel"], objective="cost", replications=4
    )
    assert found.best.settings["elastic.downscale"] == "1 s"
    assert found.candidates[1].behind > 0.0
    with pytest.raises(StudyError, match=r"prices\.chip_hour"):
        plan(small(tmp_path), vary, objective="cost", replications=1)
    with pytest.raises(StudyError, match='no objective "beauty"'):
        plan(small(tmp_path), vary, objective="beauty")


def test_what_a_method_does_not_read_makes_one_candidate(tmp_path: Path) -> None:
    """Of three stalls that the rigid job has no use for; what is read stays apart."""
    vary = {"elastic.downscale": ["1 s", "10 s"], "restart.spares": [0, 1]}
    found = plan(small(tmp_path), vary, replications=2)
    rigid, elastic = (
        [dict(item.settings) for item in found.candidates if item.method == name]
        for name in ("data_parallel", "elastic_data_parallel")
    )
    assert sorted(item["restart.spares"] for item in rigid) == [0, 1]
    assert all(item.keys() == {"restart.spares"} for item in rigid)
    assert len(elastic) == 4
    assert found.unread == (("elastic.downscale", ("data_parallel",)),)


@pytest.mark.parametrize(
    ("metric", "path"),
    [
        ("usd", "prices.chip_hour"),
        ("energy_kwh", "power.chip"),
        ("predicted_loss", "quality.law"),
        ("cost_to_target", "prices.chip_hour, quality.law and quality.target"),
        ("final_loss", "learning.problem"),
    ],
)
def test_what_a_metric_lacks_is_said_before_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metric: str, path: str
) -> None:
    """By a plan and by a sweep, with the paths that are missing; one that varies is not."""
    monkeypatch.setattr(sweeping.Gathering, "run", lambda *_: pytest.fail("it runs"))
    vary = {"elastic.downscale": ["100 s", "1 s"]}
    with pytest.raises(StudyError, match=path):
        plan(small(tmp_path), vary, objective=metric)
    with pytest.raises(StudyError, match=path):
        package.sweep(small(tmp_path), vary, metric=metric)
    assert not lacks("usd", small(tmp_path).with_({"prices.chip_hour": "2 USD"}))


@pytest.mark.parametrize("objective", ["usd_per_billion_merged_tokens", "mttr_s", "mtbi_s"])
def test_an_objective_is_made_large_or_small_as_its_direction_says(
    tmp_path: Path, objective: str
) -> None:
    """Money and repair times small, times between failures large: short stalls, by any of them."""
    often = {"prices.chip_hour": "2 USD", "failures.chip_mtbi": "5 day"}
    scenario = small(tmp_path).with_(often)
    vary = {"elastic.downscale": ["100 s", "1 s"]}
    methods = ["elastic_data_parallel"]
    found = plan(scenario, vary, methods=methods, objective=objective, replications=4)
    values = [item.value for item in found.candidates]
    assert found.best.value == (max if METRICS[objective].sign > 0 else min)(values)
    assert found.candidates[1].behind >= 0.0


LONG_STALLS = ("mtbi_s", "wan_mean_gbps", "wan_total_bytes", "events")
"""What a longer stall makes better: two failures within one interrupt once, less is sent."""
ALIKE = {"merged_share", "pending_share", "compute_utilization", "wall_clock_s"}
ALIKE |= {"failures", "wan_peak_gbps", "usd", "energy_kwh"}
ABSENT = {"merge_uptime", "participation", "final_loss"}
WORTH = """\
quality: {law: chinchilla_besiroglu, target: 3.5}
prices: {chip_hour: 2 USD}
power: {chip: 500 W}
"""


def test_every_metric_is_raced_to_its_better_end(tmp_path: Path) -> None:
    """Stalls of a second are better than those of half a minute, but for what they are not."""
    often = {"failures.chip_mtbi": "1 day", "duration": "15 min", "training.step_time": "0.1 s"}
    scenario = small(tmp_path, WORTH).with_(often).choose(["elastic_data_parallel"])
    study = package.sweep(scenario, {"elastic.downscale": ["30 s", "1 s"]}, replications=3)
    chances = dict.fromkeys((0, 1), Chance(1.0))
    seen = set()
    for metric in METRICS:
        race = Race(study.rows, chances, metric, 3)
        race.run(lambda _numbers, _histories: None)
        if race.value(0) != pytest.approx(race.value(1)):
            assert race.best == (0 if metric in LONG_STALLS else 1), metric
            seen.add(metric)
    assert seen | ALIKE | ABSENT | {"ratio"} == set(METRICS)


def test_what_is_no_number_never_ranks() -> None:
    """A loss that diverged is behind any that is one, whichever came first."""
    rows: dict[int, list[Row]] = {
        number: [{"final_loss": loss, "failures": 1.0} for _ in range(3)]
        for number, loss in enumerate((float("nan"), float("inf"), 2.0))
    }
    race = Race(rows, dict.fromkeys(rows, Chance(1.0)), "final_loss", 3)
    race.run(lambda _numbers, _histories: None)
    assert race.best == 2


def test_one_history_says_that_it_cannot_tell(tmp_path: Path) -> None:
    """However far apart its candidates are."""
    vary = {"elastic.downscale": ["1 s", "100 s"]}
    found = plan(small(tmp_path), vary, methods=["elastic_data_parallel"], replications=1)
    assert (found.sure, found.at_most) == (0.0, None)
    assert "One history cannot tell it apart" in plan_sentence(found)


@pytest.mark.parametrize(
    ("path", "own", "around"),
    [
        ("restart.spares", 6, [0, 3, 6, 12]),
        ("training.quorum", 3, [1, 2, 3, 4]),
        ("checkpoint.interval", "40 min", ["20 min", "40 min", "80 min"]),
        ("checkpoint.interval", "50 steps", ["25 steps", "50 steps", "100 steps"]),
    ],
)
def test_candidates_lie_around_the_scenarios_own_value(
    path: str, own: Label, around: list[Label], tmp_path: Path
) -> None:
    """Which is among them; an interval that no policy reads does not vary."""
    given = {"cluster.learners": 4, "checkpoint.policy": "fixed", path: own}
    given.setdefault("checkpoint.interval", "1 h")
    methods = ["data_parallel", "decoupled_diloco"]
    scenario = small(tmp_path).with_({"methods": methods} | given)
    axes = {axis.name: [level.label for level in axis.levels] for axis in likely_axes(scenario)}
    assert axes[path] == around
    computed = scenario.with_({"checkpoint.policy": "in_memory"})
    assert "checkpoint.interval" not in {axis.name for axis in likely_axes(computed)}


@pytest.mark.slow
def test_the_choice_does_not_depend_on_who_ran_it(tmp_path: Path) -> None:
    """One process, two, or a store that was left half done."""
    options = {"methods": ["elastic_data_parallel"], "replications": 6}
    alone = plan(small(tmp_path), VARY, **options)  # type: ignore[arg-type]
    out = tmp_path / "out"
    assert plan(small(tmp_path), VARY, jobs=2, out=out, **options) == alone  # type: ignore[arg-type]
    for path in sorted((out / "cells").glob("*.csv"))[::2]:
        path.unlink()
    assert plan(small(tmp_path), VARY, out=out, **options) == alone  # type: ignore[arg-type]
    assert (out / "plan.csv").is_file()


def test_without_vary_what_usually_matters_varies(tmp_path: Path) -> None:
    """Spares for data_parallel; and the command says its choice in a sentence."""
    ran = ddsim("plan", small_file(tmp_path), "--replications", 4, "--jobs", 1)
    assert ran.code == 0, ran.err
    assert "restart.spares" in ran.out
    assert "best: " in ran.out
    assert "runs, of" in ran.out


def test_the_command_prints_json(tmp_path: Path) -> None:
    """One document, candidates best first."""
    vary = ["--vary", "restart.spares=0,8", "--method", "data_parallel"]
    ran = ddsim("plan", small_file(tmp_path), *vary, "--replications", 3, "--jobs", 1, "--json")
    document = json.loads(ran.out)
    assert [row["rank"] for row in document["candidates"]] == [1, 2]
    assert document["candidates"][0]["restart.spares"] == 8


@pytest.mark.slow
def test_four_regions_as_an_exhaustive_search() -> None:
    """A grid of 12 points in K and tau, many of which are too near to the best to leave."""
    scenario = package.load(
        "four_regions_12b", {"duration": "10 min", "failures.chip_mtbi": "9 day"}
    )
    vary = {
        "training.quorum": [1, 2, 3, 4],
        "training.overlap_steps": [0, 2, 4],
    }
    chosen = plan(scenario, vary, methods=["decoupled_diloco"], replications=6)
    everything = package.sweep(scenario, vary, methods=["decoupled_diloco"], replications=6)
    best = everything.summary()["merged_goodput"].max()
    assert len(chosen.candidates) == 12
    assert chosen.best.value == best
    assert chosen.runs < chosen.exhaustive
    print(  # noqa: T201 (for `pytest -rP`)
        f"{chosen.best.value:.5f} of {best:.5f}, {chosen.runs} of {chosen.exhaustive} runs"
    )


@pytest.mark.slow
def test_a_tie_is_said(tmp_path: Path) -> None:
    """Settings that change nothing are not sold as better."""
    vary = ("--vary", "training.payload_bits=4,16", "--set", "network.bandwidth=unlimited")
    chosen = ("--method", "diloco", "--replications", 4, "--jobs", 1)
    ran = ddsim("plan", small_file(tmp_path), *vary, *chosen)
    assert ran.code == 0, ran.err
    assert "diloco with training.payload_bits=16 does as well" in ran.out
    assert "By the histories sure at" in ran.out


@pytest.mark.slow
def test_progress_has_the_end_of_the_whole_race(tmp_path: Path) -> None:
    """The same total from the first to the last, which is reached at the end and not before."""
    told: list[tuple[int, int]] = []
    found = plan(
        small(tmp_path),
        VARY,
        methods=["elastic_data_parallel"],
        replications=10,
        progress=lambda state: told.append((state.replications, state.expected)),
    )
    done = [replications for replications, _ in told]
    assert {total for _, total in told} == {found.runs}
    assert done == sorted(done)
    assert done.index(found.runs) == len(done) - 1


@pytest.mark.parametrize("law", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_loss_stands_beside_h(law: bool, tmp_path: Path) -> None:
    """Wherever H is chosen, by the scenario's law, with a word that no law knows what H costs."""
    often = ("--set", "duration=1 min", "--set", "training.step_time=0.1 s")
    vary = (*often, "--vary", "training.inner_steps=4,64", "--method", "diloco")
    file = small_file(tmp_path, WORTH if law else "")
    for command in ("plan", "sweep"):
        ran = ddsim(command, file, *vary, "--replications", 1, "--jobs", 1)
        assert ran.code == 0, ran.err
        assert ("predicted loss" in ran.out) is law
        said = " ".join(ran.out.split())
        assert "has no price for training.inner_steps (H, steps between synchronizations)" in said


def test_a_path_that_varies_counts_as_given(tmp_path: Path) -> None:
    """A policy that needs an interval has those that vary; one that does not vary is missed."""
    fixed = ("--set", "checkpoint.policy=fixed", "--replications", 1, "--jobs", 1)
    one = ("--set", "duration=10 min", "--method", "diloco", *fixed)
    file = small_file(tmp_path)
    ran = ddsim("plan", file, *one, "--vary", "checkpoint.interval=15 min,2 h")
    assert (ran.code, "2 candidates" in ran.out) == (0, True), ran.err
    ran = ddsim("plan", file, *one, "--vary", "restart.spares=0,1")
    assert (ran.code, "checkpoint.interval: not given" in ran.err) == (2, True)


@pytest.mark.parametrize(("command", "option"), [("plan", "--objective"), ("sweep", "--metric")])
def test_a_name_that_is_no_metric_is_refused_before_all_else(
    command: str, option: str, tmp_path: Path
) -> None:
    """Before the forecast, and before the scenario is read."""
    ran = ddsim(command, tmp_path / "none.yaml", option, "beauty")
    assert ran.code == 2
    assert ran.err.startswith("no ")
    assert "beauty" in ran.err


def test_a_best_at_the_end_of_what_was_tried_is_said() -> None:
    """But for an end beyond which there is nothing, and for what has no order."""
    tried: list[dict[str, Label]] = [
        {
            "training.inner_steps": steps,
            "restart.spares": spares,
            "checkpoint.interval": time,
            "x": name,
        }
        for steps, spares, time, name in (
            (8, 0, "15 min", "a"),
            (16, 1, "2 h", "b"),
            (32, 2, "90 min", "c"),
        )
    ]
    assert edge_sentence(tried[0] | {"checkpoint.interval": "2 h"}, tried) == (
        "the best is at the end of training.inner_steps (8) and checkpoint.interval (2 h): "
        "nothing beyond was tried"
    )
    assert edge_sentence({"training.inner_steps": 16}, tried) is None


@pytest.mark.slow
def test_a_choice_that_the_law_would_not_make_is_said(tmp_path: Path) -> None:
    """Which setting has the least predicted loss, if not the one that was chosen."""
    vary = {"training.inner_steps": [4, 64]}
    found = plan(small(tmp_path), vary, methods=["diloco"], replications=1)
    best, other = found.candidates
    worse = replace(found, candidates=(replace(best, loss=2.5), replace(other, loss=2.25)))
    said = f"by predicted_loss diloco with training.inner_steps={other.settings[INNER_STEPS]} "
    assert loss_sentence(worse) == f"{said}comes first: 2.25 against 2.5 nats"
    same = replace(found, candidates=(replace(best, loss=2.5), replace(other, loss=2.75)))
    assert loss_sentence(same) is None
