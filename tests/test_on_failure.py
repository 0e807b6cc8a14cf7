"""What diloco and streaming_diloco do about a unit without hardware at the barrier."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest
from naive.case import Case, StrikeCase, UnitCase
from naive.model import simulate
from naive.random_cases import random_case
from naive_cases import EngineResult, run_engine

import ddsim
from ddsim.engine import tape
from ddsim.loading import load_text

METHODS = ("diloco", "streaming_diloco")
RULES = ("drop", "rollback")
CASES = [
    pytest.param(method, rule, seed, marks=[pytest.mark.slow] if seed >= 6 else [])
    for method in METHODS
    for rule in RULES
    for seed in range(60)
]
FOREVER = 1e6


def two_units(*strikes: StrikeCase, slow: float = 1.0, **fields: object) -> Case:
    """Two units of one chip with steps of 1 s (the first: `slow`), H = 4, nothing to send over."""
    units = tuple(
        UnitCase(f"unit {index}", "region", (1,), step) for index, step in enumerate((slow, 1.0))
    )
    case = Case("diloco", 20.0, units, strikes, {"region": 1.0}, inner_steps=4)
    return replace(replace(case, restart_time=1.0), **fields)  # type: ignore[arg-type]


def loss(at: float, repair: float, unit: int = 1) -> StrikeCase:
    """A unit loses all of its hardware."""
    return StrikeCase(at, unit, (0,), 0.0, repair)


def merges(result: EngineResult) -> list[tuple[int, float, tuple[int, ...]]]:
    """Round or step, arrival, and who took part."""
    return [(m.slot, m.arrival, m.participants) for m in result.run.recorder.merges]


def wasted(result: EngineResult) -> list[float]:
    """Chip-seconds of compute that came to nothing, by unit."""
    return [accounts["wasted_progress"] for accounts in result.accounts()]


@pytest.mark.parametrize(("method", "rule", "seed"), CASES)
def test_the_naive_model_agrees(method: str, rule: str, seed: int) -> None:
    """Accounts to 1e-9 of the capacity, tokens, steps, bytes, and every merge with its members."""
    case = replace(random_case(seed, method), on_failure=rule)
    naive, engine = simulate(case), run_engine(case)
    capacity = case.duration * case.chips
    for expected, found in zip(naive.accounts, engine.accounts(), strict=True):
        for account, chip_seconds in found.items():
            assert chip_seconds == pytest.approx(expected.get(account, 0.0), abs=1e-9 * capacity)
    assert engine.outcome.tokens == pytest.approx(naive.tokens, rel=1e-9)
    assert engine.outcome.steps == pytest.approx(sum(naive.steps) / len(naive.steps))
    assert engine.run.meter.bits / 8 == pytest.approx(naive.wan_bytes, rel=1e-9, abs=1e-6)
    last = {m.slot: (m.start, m.arrival, m.participants) for m in engine.run.recorder.merges}
    assert sorted(last) == sorted(number for number, *_ in naive.merges)
    for number, start, arrival, members in naive.merges:
        assert last[number][:2] == pytest.approx((start, arrival), abs=1e-9 * case.duration)
        assert last[number][2] == members


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rule", RULES)
def test_quiet_rounds_cost_an_event_each(method: str, rule: str) -> None:
    """A round of four steps, for the judgement on who is there; the steps cost none."""
    case = two_units(loss(9.5, 4.0), method=method, on_failure=rule, duration=400.0)
    few, many = (
        run_engine(replace(case, duration=length)).run.clock.events for length in (400.0, 1600.0)
    )
    assert many - few <= 1200 / 4


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(4))
def test_no_unit_lost_no_difference(method: str, rule: str, seed: int) -> None:
    """Strikes that leave a slice cost the same under every rule."""
    case = random_case(seed, method)
    units = tuple(replace(unit, slices=(*unit.slices, 100)) for unit in case.units)
    strikes = tuple(
        replace(strike, slices=strike.slices[:1], repair=0.01)
        for strike in case.strikes
        if len(case.units[strike.unit].slices) > 1
    )
    case = replace(case, units=units, strikes=strikes)
    waiting, other = run_engine(case), run_engine(replace(case, on_failure=rule))
    for one, two in zip(waiting.accounts(), other.accounts(), strict=True):
        assert one == pytest.approx(two, abs=1e-9 * case.duration * case.chips)
    assert merges(other) == merges(waiting)
    assert other.outcome.merged == waiting.outcome.merged


def test_drop_goes_on_without_the_unit() -> None:
    """The round is merged by the others when they are there."""
    result = run_engine(two_units(loss(2.5, FOREVER), on_failure="drop"))
    assert merges(result) == [(round_, 4.0 * round_, (0,)) for round_ in range(1, 5)]


def test_a_dropped_unit_joins_the_next_round() -> None:
    """Back in the middle of it, it takes all H steps and is waited for."""
    result = run_engine(two_units(loss(2.5, 3.0), on_failure="drop"))
    assert merges(result) == [
        (1, 4.0, (0,)),
        (2, 10.5, (0, 1)),
        (3, 14.5, (0, 1)),
        (4, 18.5, (0, 1)),
    ]


def test_steps_of_the_dropped_round_are_wasted() -> None:
    """Two whole steps and the half of one that was in progress; nothing of the others'."""
    result = run_engine(two_units(loss(2.5, 3.0), on_failure="drop"))
    assert wasted(result) == pytest.approx([0.0, 2.5])
    assert result.outcome.steps == pytest.approx((4 + 4 + 4 + 4 + 1 + 4 * 3 + 1) / 2)
    assert result.outcome.tokens == pytest.approx(result.outcome.steps)


def test_dropped_steps_are_not_merged() -> None:
    """Merged share, participation and merged tokens are of those who took part."""
    outcome = run_engine(two_units(loss(2.5, 3.0), on_failure="drop")).outcome
    assert (outcome.merged, outcome.overwritten) == (4 + 3 * 8, 0)
    assert outcome.participation == pytest.approx(7 / 8)
    assert outcome.tokens_merged == pytest.approx(28 / 2)


def test_a_unit_lost_after_its_steps_is_dropped_too() -> None:
    """Its outer gradient went with its hardware: all H steps are wasted."""
    result = run_engine(two_units(loss(5.0, FOREVER), slow=2.0, on_failure="drop"))
    assert merges(result) == [(1, 8.0, (0,)), (2, 16.0, (0,))]
    assert wasted(result) == pytest.approx([0.0, 4.0])


@pytest.mark.parametrize("rule", RULES)
def test_a_unit_in_restart_is_waited_for(rule: str) -> None:
    """It has hardware: it does the rest of its steps, and nothing else is wasted."""
    result = run_engine(two_units(loss(2.5, 1.0), on_failure=rule, restart_time=2.0))
    assert merges(result)[0] == (1, 7.5, (0, 1))
    assert wasted(result) == pytest.approx([0.0, 0.5])


@pytest.mark.parametrize("rule", RULES)
def test_a_unit_lost_again_in_restart_is_without_hardware(rule: str) -> None:
    """What holds the barrier is gone, and it is decided at that instant."""
    strikes = (loss(2.5, 1.0), loss(5.0, FOREVER))
    result = run_engine(two_units(*strikes, on_failure=rule, restart_time=2.0))
    assert wasted(result)[1] == pytest.approx(2.5)
    if rule == "drop":
        assert merges(result)[0] == (1, 5.0, (0,))
    else:
        assert wasted(result)[0] == pytest.approx(4 * 4.0)  # at 5, 9, 13 and 17 s


@pytest.mark.parametrize("rule", RULES)
def test_a_unit_lost_while_the_round_is_on_its_way_has_taken_part(rule: str) -> None:
    """The barrier has opened: its outer gradient has left."""
    units = tuple(replace(u, region=u.name) for u in two_units().units)
    case = two_units(loss(5.0, 1.5), on_failure=rule, parameters=1.0, payload_bits=2.0)
    case = replace(
        case, units=units, capacity={u.region: 1.0 for u in units}, release="end_of_step"
    )
    result = run_engine(case)
    assert merges(result)[0] == (1, 6.0, (0, 1))
    assert wasted(result) == pytest.approx([0.0, 0.0])


@pytest.mark.parametrize("rule", RULES)
def test_with_nobody_there_nothing_happens(rule: str) -> None:
    """All units lost: no merge and no waste but of steps in progress until one is back."""
    strikes = (loss(2.5, FOREVER, 0), loss(2.5, FOREVER, 1))
    result = run_engine(two_units(*strikes, on_failure=rule))
    assert merges(result) == []
    assert wasted(result) == pytest.approx([0.5, 0.5])


def test_a_unit_dropped_from_many_rounds_wastes_only_the_first() -> None:
    """It takes no steps of the others, and joins the round that is under way when it is back."""
    result = run_engine(two_units(loss(2.5, 10.0), on_failure="drop"))
    assert [members for _, _, members in merges(result)] == [(0,), (0,), (0,), (0, 1)]
    assert merges(result)[3][1] == pytest.approx(17.5)
    assert wasted(result) == pytest.approx([0.0, 2.5])


def test_a_round_of_fewer_sends_as_a_ring_of_fewer() -> None:
    """2 (M - 1)/M of the payload: from three units to two it is 3/4 of it."""
    units = tuple(UnitCase(f"unit {i}", f"region {i}", (1,), 1.0) for i in range(3))
    case = two_units(loss(2.5, FOREVER), on_failure="drop", parameters=8.0, duration=4.5)
    rates = {unit.region: FOREVER for unit in units}
    case = replace(case, units=units, capacity=rates, payload_bits=1.0)
    whole = run_engine(replace(case, strikes=()))
    fewer = run_engine(case)
    assert fewer.run.meter.bits / whole.run.meter.bits == pytest.approx(3 / 4)


def test_rollback_discards_the_round_of_all() -> None:
    """All begin it anew at once, and it is merged when all are there."""
    result = run_engine(two_units(loss(2.5, 3.0), on_failure="rollback"))
    assert merges(result)[0] == (1, 10.5, (0, 1))
    assert wasted(result) == pytest.approx([4.0, 2.5])
    assert result.outcome.participation == 1.0
    assert (result.outcome.merged, result.outcome.overwritten) == (24, 0)


def test_rollback_repeats_as_long_as_a_unit_is_away() -> None:
    """Every barrier without it discards a round; the last one is not over at the end."""
    result = run_engine(two_units(loss(2.5, FOREVER), on_failure="rollback"))
    assert merges(result) == []
    assert wasted(result)[0] == pytest.approx(16.0)
    assert result.outcome.tokens == pytest.approx(3 / 2)


def test_a_fragment_is_reduced_without_the_dropped_unit() -> None:
    """Fragments are due at steps 2, 4, ...: the steps since the one before are wasted."""
    case = two_units(loss(3.5, 1.0), method="streaming_diloco", on_failure="drop")
    result = run_engine(replace(case, layers=2, fragments=2, overlap_steps=1, duration=9.0))
    assert [(slot, who) for slot, _, who in merges(result)] == [(2, (0, 1)), (4, (0,)), (6, (0, 1))]
    assert wasted(result) == pytest.approx([0.0, 1.5])


def test_a_dropped_unit_goes_on_with_the_steps_of_the_others() -> None:
    """Left out of step 4 it takes step 5 next: 6 is complete two steps after its restart."""
    case = two_units(loss(3.5, 1.0), method="streaming_diloco", on_failure="drop")
    result = run_engine(replace(case, layers=2, fragments=2, overlap_steps=1, duration=9.0))
    assert merges(result)[2][1] == pytest.approx(3.5 + 1.0 + 1.0 + 2.0)


def test_streaming_goes_back_to_the_synchronization_before() -> None:
    """Steps 3 and 4 are wasted, and taken again; those up to 2 stand."""
    case = two_units(loss(3.5, 1.0), method="streaming_diloco", on_failure="rollback")
    result = run_engine(replace(case, layers=2, fragments=2, overlap_steps=1, duration=9.0))
    assert wasted(result) == pytest.approx([2.0, 1.5])
    assert merges(result)[1][1] == pytest.approx(3.5 + 1.0 + 1.0 + 2.0)


def test_a_dropped_learner_hands_nothing_in() -> None:
    """The tape has no answer of it, and lets it begin from what was merged without it."""
    events = run_engine(two_units(loss(2.5, 3.0), on_failure="drop"), taped=True).run.tape
    assert events is not None
    answers = [e.learner for e in events if isinstance(e, tape.Answer) and e.slot == 1]
    rejoins = [e for e in events if isinstance(e, tape.Rejoin)]
    assert answers == [0]
    assert [(e.time, e.learner, e.peer, e.arrived) for e in rejoins] == [(6.5, 1, 0, 1)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rule", RULES)
def test_the_tape_counts_the_steps_that_stand(method: str, rule: str) -> None:
    """Steps less wasted ones are the run's steps, and their strength its tokens."""
    for seed in range(6):
        result = run_engine(replace(random_case(seed, method), on_failure=rule), taped=True)
        events = result.run.tape
        assert events is not None
        steps = sum(e.steps for e in events if isinstance(e, tape.Steps))
        steps -= sum(e.steps for e in events if isinstance(e, tape.Waste))
        units = result.run.cluster.units
        assert steps == pytest.approx(result.outcome.steps * len(units))
        full = [0.0] * len(units)
        for event in events:
            if isinstance(event, tape.Steps):
                full[event.learner] += event.steps * event.share
            elif isinstance(event, tape.Waste):
                full[event.learner] -= event.full
        chips = sum(share * unit.chips for share, unit in zip(full, units, strict=True))
        assert chips * result.run.tokens_per_chip == pytest.approx(result.outcome.tokens)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rule", RULES)
def test_a_model_learns_along(method: str, rule: str) -> None:
    """Units killed in `convergence`: the curve ends at the run's tokens, with a finite loss."""
    changes = {
        "duration": "6 min",
        "training.on_failure": rule,
        "learning": {"problem": "noisy_quadratic"},
        "failures.chip_mtbi": "never",
    }
    plan = [{"at": "90 s", "fault": "kill", "target": "unit 1", "for": "1 min"}]
    scenario = ddsim.load("convergence", {**changes, "chaos": plan})
    (result,) = ddsim.run(scenario, [method]).results
    assert result.learning is not None
    _, tokens, loss = result.learning["curve"][-1]
    assert tokens == pytest.approx(result.tokens, rel=1e-9)
    assert 0.0 <= loss < result.learning["initial_loss"]


@pytest.mark.parametrize("method", METHODS)
def test_parameters_go_back_where_the_round_is_discarded(method: str) -> None:
    """Every learner that is there takes the last synchronization's, and keeps its own moments."""
    case = two_units(loss(6.5, 3.0), method=method, on_failure="rollback")
    events = run_engine(case, taped=True).run.tape
    assert events is not None
    back = [e for e in events if isinstance(e, tape.Rejoin) and e.time == 8.0]
    last = 1 if method == "diloco" else 4
    assert [(e.learner, e.peer, e.arrived) for e in back] == [(0, 0, last)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rule", ["wait", *RULES])
def test_a_unit_lost_in_the_save_after_its_last_step_has_taken_it(method: str, rule: str) -> None:
    """Saves of 2 s at every fourth step: a unit lost in the first one holds nobody for ever.

    The stalls before it let the save begin by rounding before the round's last step is noticed.
    """
    text = """
    duration: 100 s
    methods: [diloco, streaming_diloco]
    model: {parameters: 1, layers: 2}
    training: {step_time: 0.94 s, inner_steps: 4, fragments: 1, overlap_steps: 0}
    cluster: {chips: 4, chips_per_slice: 1, learners: 2}
    restart: {time: 1 s}
    elastic: {downscale: 0.3 s, upscale: 0.3 s}
    failures: {detection: 0 s}
    checkpoint: {policy: fixed, interval: 4 steps, save: 2 s}
    chaos:
      - {at: 1.68 s, fault: kill, target: unit 1/slice 0, for: 0.5 s}
      - {at: 5.36 s, fault: kill, target: unit 1, for: 3 s}
    """
    scenario = load_text(textwrap.dedent(text), {"training.on_failure": rule})
    (result,) = ddsim.run(scenario, [method]).results
    assert len(result.merges) > 10
    assert sum(result.accounts.values()) == pytest.approx(1.0, abs=1e-9)
