"""How long restarts last: by phases, by chips, drawn anew; and spares that are kept warm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ddsim import methods
from ddsim.engine.losses import Blame
from ddsim.engine.run import Run
from ddsim.remarks import remarks
from ddsim.results import MethodResult
from ddsim.scenario import Scenario, ScenarioError, read_text, validate
from ddsim.simulation import simulate
from ddsim.world.histories import Histories
from ddsim.world.instants import ticks
from ddsim.world.stalls import JOB, detection_time, restarts
from ddsim.world.strike import Strike

TABLE = {"by_chips": {32: "80 s", 1024: "300 s"}}
DRAWN = {"drawn": {"lognormal": {"median": "1 min", "sigma": 0.5}}}
TEXT = """\
duration: 2 h
methods: [data_parallel, elastic_data_parallel, decoupled_diloco]
model: {parameters: 1e9, layers: 24}
training: {step_time: 4 s, inner_steps: 12, fragments: 12, quorum: 1}
cluster:
  chips_per_slice: 4
  units:
    - {name: a, chips: 8, region: here}
    - {name: b, chips: 24, region: here}
network: {regions: {here: }}
failures: {detection: 10 s, repair: 1 h}
checkpoint: {policy: in_memory}
"""


def world(*chaos: dict[str, Any], **settings: object) -> Scenario:
    """The scenario with these faults and settings, whose keys have __ for dots."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    return validate(read_text(TEXT, "stalls.yaml").with_overrides({"chaos": list(chaos), **named}))


def refused(**settings: object) -> str:
    """What is wrong with the settings."""
    with pytest.raises(ScenarioError) as caught:
        world(**settings)
    return str(caught.value)


def kill(target: str, at: str = "600.5 s", length: str = "30 min") -> dict[str, Any]:
    """A fault that kills a target, which is away for a while."""
    return {"at": at, "fault": "kill", "target": target, "for": length}


def spent(result: MethodResult, account: str) -> float:
    """Seconds of the whole cluster in an account."""
    return result.accounts[account] * 7200.0


def length(scenario: Scenario, chips: int = 32) -> float:
    """Seconds of the first restart."""
    return restarts(scenario, chips, JOB, 0)() / ticks(1.0)


def test_a_table_is_linear_in_the_logarithm_of_chips() -> None:
    """And held outside: 181 chips are half the way from 32 to 1,024."""
    scenario = world(restart__time=TABLE)
    assert length(scenario, 32) == pytest.approx(80)
    assert length(scenario, 1024) == pytest.approx(300)
    assert length(scenario, 256) == pytest.approx(80 + 220 * 3 / 5)
    assert length(scenario, 8) == pytest.approx(80)
    assert length(scenario, 8192) == pytest.approx(300)


def test_phases_are_summed() -> None:
    """Each a time, a table or drawn."""
    phases = {"cleanup": "31 s", "reschedule": "90 s", "loading": TABLE}
    assert length(world(restart__time={"phases": phases})) == pytest.approx(31 + 90 + 80)


def test_what_is_drawn_is_drawn_at_every_restart() -> None:
    """Each is another, the same for all methods, and apart from others' by unit and replication."""
    scenario = world(restart__time={"phases": {"load": "1 min", "start": DRAWN}})
    again, other = (restarts(scenario, 32, JOB, of) for of in (0, 1))
    first = restarts(scenario, 32, JOB, 0)
    drawn = [first() for _ in range(400)]
    assert len(set(drawn)) == 400
    assert drawn == [again() for _ in range(400)]
    assert drawn[0] != other()
    assert sorted(drawn)[200] / ticks(1.0) == pytest.approx(120, rel=0.07)


@pytest.mark.parametrize(
    ("method", "target", "seconds"),
    [("data_parallel", "a", 80.0), ("decoupled_diloco", "b", 24 / 32 * (80 + 220 * 0.2))],
)
def test_a_restart_lasts_as_long_as_the_table_says(
    method: str, target: str, seconds: float
) -> None:
    """Of the whole job's chips in data-parallel, of its own unit's for a learner."""
    table = {"by_chips": {12: "80 s", 384: "300 s"}} if target == "b" else TABLE
    result = simulate(world(kill(target), restart__time=table), method)
    assert spent(result, "restart") == pytest.approx(seconds, abs=3.0)


def test_detection_may_be_phases_and_a_table() -> None:
    """By the chips of the job."""
    scenario = world(failures__detection={"phases": {"timeout": "5 s", "diagnosis": TABLE}})
    assert detection_time(scenario) == pytest.approx(85)
    world_of_phases = world(kill("a"), failures__detection={"phases": {"a": "5 s", "b": "6 s"}})
    assert spent(simulate(world_of_phases, "data_parallel"), "detection") == pytest.approx(
        24 / 32 * 11
    )


def test_a_table_that_does_not_reach_is_said() -> None:
    """For the job, and for units that restart by themselves."""
    said = remarks(world(restart__time={"by_chips": {16: "80 s", 24: "90 s"}}))
    assert any("restart.time: 32 chips are outside" in line for line in said)
    assert any("restart.time: 8 chips are outside" in line for line in said)
    assert remarks(world(restart__time={"by_chips": {8: "80 s", 32: "90 s"}})) == []


@pytest.mark.parametrize(
    ("time", "path", "words"),
    [
        ({"by_chips": {0: "1 s"}}, "restart.time.by_chips.0", "a number of chips, at least 1"),
        ({"by_chips": {8: 3}}, "restart.time.by_chips.8", "a time"),
        ({"phases": {"a": {"drawn": {"x": 1}}}}, "restart.time.phases.a.drawn.x", "lognormal"),
        (
            {"phases": {"a": {"low": "1 s", "high": "5 s"}}},
            "restart.time.phases.a",
            "a phase takes no range",
        ),
        ({"phasess": {"a": "1 s"}}, "restart.time", '"phases"'),
    ],
)
def test_what_is_no_stall_is_refused(time: object, path: str, words: str) -> None:
    """With its place and what is allowed."""
    said = refused(restart__time=time)
    assert f"{path}: " in said
    assert words in said


@pytest.mark.parametrize(
    ("standbys", "apart", "waited"),
    [
        (0, 1000, 120 + 120),
        (1, 1000, 20 + 20),
        (1, 100, 20 + 120),
        (1, 130, 20 + 20),  # the other was warmed from when the first left, not from when it came
        (2, 100, 20 + 20),
    ],
)
def test_standbys_go_in_first(standbys: int, apart: int, waited: int) -> None:
    """And the spare that is left is warmed in 2 minutes, in time for the second failure or not."""
    kills = kill("a/slice 0"), kill("b/slice 0", at=f"{600.5 + apart} s")
    result = simulate(
        world(
            *kills,
            restart__spares=2,
            restart__standbys=standbys,
            restart__spare_start="2 min",
            restart__standby_start="20 s",
            restart__time="0 s",
        ),
        "data_parallel",
    )
    assert spent(result, "stranded") * (32 + 8) / (32 - 4) == pytest.approx(waited)


def test_standbys_are_some_of_the_spares() -> None:
    """More than there are, or slower than cold ones, is refused."""
    assert "restart.standbys: 3; at most the spares, of which there are 2" in refused(
        restart__spares=2, restart__standbys=3
    )
    assert "no longer than restart.spare_start" in refused(
        restart__spares=2, restart__standbys=1, restart__standby_start="1 min"
    )


def test_a_standby_saves_gpu_hours_at_every_failure() -> None:
    """32,008 GPUs, one failure in 54 minutes: 4.5 minutes of downtime, or 20 s."""
    lost = {}
    for standbys in (0, 1):
        scenario = world(
            *(kill("a/slice 0", at=f"{54 * n} min", length="40 min") for n in (1, 2)),
            cluster__units=[{"name": "a", "chips": 32008, "chips_per_slice": 8, "region": "here"}],
            failures__detection="0 s",
            restart__time="0 s",
            restart__spares=2,
            restart__standbys=standbys,
            restart__spare_start="4.5 min",
            restart__standby_start="20 s",
        )
        result = simulate(scenario, "data_parallel")
        lost[standbys] = result.accounts["stranded"] * 2 * (32008 + 16) / 2
    assert lost[0] == pytest.approx(2400.6, rel=2e-3)
    assert lost[0] - lost[1] == pytest.approx(2222.8, rel=2e-3)


def test_no_more_spares_are_warm_than_there_are_standbys() -> None:
    """One of the two that are left has been warmed, so that of two failures at once one waits."""
    kills = [kill("a/slice 0"), *(kill(f"b/slice {n}", at="1600.5 s") for n in (0, 1))]
    result = simulate(
        world(
            *kills,
            restart__spares=3,
            restart__standbys=1,
            restart__spare_start="2 min",
            restart__standby_start="20 s",
            restart__time="0 s",
        ),
        "elastic_data_parallel",
    )
    down = 4 * (3 * 10 + 20 + 20 + 120)
    assert spent(result, "failed_hardware") * (32 + 12) == pytest.approx(down)


def test_what_a_restart_absorbs_is_to_blame_for_its_hardware_alone() -> None:
    """The stall is the first strike's, and the second's its 4 chips for 10 s and for 70 s."""
    losses = losses_of(
        world(restart__time="100 s", restart__stall_rule="absorb"),
        Strike(ticks(600), 0, (0,), ticks(10), ticks(60), "first"),
        Strike(ticks(650), 1, (0,), ticks(10), ticks(70), "second"),
    )
    assert losses["second", "slice"] == pytest.approx(4 * 80)
    assert losses["first", "slice"] > 28 * 100


@pytest.mark.parametrize("rule", ["absorb", "extend"])
def test_corruption_that_is_found_in_a_stall_is_to_blame_for_what_it_takes_back(rule: str) -> None:
    """The first costs the half hour since the save at 1 h, and the second the hour before that; a
    stall of 110 s is the first's where the second is folded in, else the second's from 5450 s on.
    """
    losses = losses_of(
        world(
            restart__time="100 s",
            restart__stall_rule=rule,
            checkpoint__policy="fixed",
            checkpoint__interval="1 h",
            failures__causes=[{"name": "second", "domain": "job", "mtbi": "1 yr", "latent": "1 h"}],
        ),
        Strike(ticks(5400), 0, (), ticks(10), 0, "first", "job"),
        Strike(ticks(5450), 0, (), ticks(10), 0, "second", "job", since=ticks(100)),
    )
    stall = {"absorb": (110, 0), "extend": (50, 110)}[rule]
    assert losses["first", "job"] == pytest.approx(32 * (1800 + stall[0]))
    assert losses["second", "job"] == pytest.approx(32 * (3600 + stall[1]))


def losses_of(scenario: Scenario, *strikes: Strike) -> Mapping[Blame, float]:
    """Chip-seconds of a rigid job by what these strikes are to blame for."""
    cluster, _ = Histories(0).of(scenario)
    made = Run(scenario, cluster, strikes, 0)
    job = methods.get("data_parallel")(made)
    job.start()
    made.clock.run(made.horizon)
    job.close(made.horizon)
    return made.ledger.losses.chip_seconds
