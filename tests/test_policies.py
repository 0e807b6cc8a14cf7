"""Policies: what they see, what they set, and what that saves when a link is thin."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from command_line import ddsim as command
from hypothesis import HealthCheck, given, settings
from random_scenarios import scenarios
from test_random_scenarios import assert_laws

import ddsim
from ddsim.engine.policies import Policy, Settings, Sight, make, names, policy
from ddsim.methods.local import protocol as k
from ddsim.results import MethodResult
from ddsim.scenario import ScenarioError

DURATION, DROP, RISE = 1800.0, 600.0, 1200.0
SHORT = {
    "duration": "30 min",
    "network.schedule": [
        {"at": "10 min", "bandwidth": "0.5 Gbit/s"},
        {"at": "20 min", "bandwidth": "5 Gbit/s"},
    ],
}


@cache
def outcome(name: str, low: str = "0.5 Gbit/s") -> MethodResult:
    """Run the shipped scenario, shortened, its links at `low` for ten minutes."""
    world = ddsim.load("adaptive_link", SHORT | {"training.policy": name})
    changes = [{"at": "10 min", "bandwidth": low}, {"at": "20 min", "bandwidth": "5 Gbit/s"}]
    return ddsim.run(world.with_({"network.schedule": changes}))["decoupled_diloco"]


def lost(result: MethodResult) -> float:
    """Seconds of all chips that were not productive; nothing fails."""
    return (1.0 - result.accounts["productive"]) * DURATION


def test_following_bandwidth_loses_a_tenth_of_what_fixed_settings_lose() -> None:
    """When links drop from 5 to 0.5 Gbit/s; fixed settings wait five sixths of the time."""
    fixed, following = lost(outcome("fixed")), lost(outcome("bandwidth_following"))
    assert fixed > 0.7 * (RISE - DROP)
    assert following <= 0.15 * fixed
    # the way into it costs the same however long it lasts: some 14 steps of 5 s
    assert following < 75.0


def test_merges_and_ages_are_told_by_bandwidth() -> None:
    """More merges of younger fragments than with fixed settings while the links are thin."""
    fixed, following = outcome("fixed"), outcome("bandwidth_following")
    (_, one, _), (_, other, _) = fixed.extra["spells"], following.extra["spells"]
    assert (one["start_s"], one["end_s"]) == (other["start_s"], other["end_s"]) == (DROP, RISE)
    assert one["gbps"] == pytest.approx(0.4)
    assert other["merges"] > 2.5 * one["merges"]
    assert other["longest_fragment_age_s"] < one["longest_fragment_age_s"]


def test_the_command_line_prints_them() -> None:
    """A table of merges and ages below the accounts."""
    changes = json.dumps(SHORT["network.schedule"])
    ran = command(
        "run", "adaptive_link", "--set", "duration=30 min", "--set", f"network.schedule={changes}"
    )
    assert ran.code == 0, ran.err
    assert "longest fragment age" in ran.out
    assert "10 to 20 min" in ran.out


def test_what_it_did_is_told() -> None:
    """Bits go to 4, then H and tau up; after the drop all is as it was."""
    told = outcome("bandwidth_following").extra["policy"]
    low, last = told["log"][0], told["log"][-1]
    assert low["payload_bits"] == 4.0
    assert low["inner_steps"] > 24
    assert low["overlap_steps"] > 2
    assert low["at_s"] < DROP + 120.0
    assert (last["payload_bits"], last["inner_steps"], last["overlap_steps"]) == (16.0, 24, 2)
    assert last["at_s"] < RISE + 60.0


def test_bits_go_down_before_anything_else() -> None:
    """At 2 Gbit/s half the bits are enough: H stays, and nothing is lost once they are set."""
    result = outcome("bandwidth_following", "2 Gbit/s")
    log = result.extra["policy"]["log"]
    assert {entry["payload_bits"] for entry in log} == {8.0, 16.0}
    assert {entry["inner_steps"] for entry in log} == {24}
    assert lost(result) < 20.0


def test_its_bits_are_what_crosses() -> None:
    """The convention says that bits were a policy's, and fewer bytes crossed."""
    fixed, following = outcome("fixed", "2 Gbit/s"), outcome("bandwidth_following", "2 Gbit/s")
    assert "bits by policy bandwidth_following" in following.wan["convention"]
    assert "bits by policy" not in fixed.wan["convention"]
    assert following.wan["total_bytes"] < fixed.wan["total_bytes"]


def test_fixed_has_no_trace_of_a_policy() -> None:
    """It is what a scenario does that names none."""
    assert "policy" not in outcome("fixed").extra
    assert ddsim.load("four_regions_12b").training.policy == "fixed"


FOUR = """
duration: 20 min
methods: [decoupled_diloco]
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s, quorum: 4, policy: POLICY}
cluster: {chips: 16, chips_per_slice: 4, learners: 4}
failures: {detection: 10 s}
restart: {time: 60 s}
chaos: [{at: 10 min, fault: kill, target: unit 2, for: 5 min}]
"""


def of_text(text: str, folder: Path) -> MethodResult:
    """Run a scenario file with this text."""
    path = folder / "case.yaml"
    path.write_text(text, encoding="utf-8")
    return ddsim.run(ddsim.load(path))["decoupled_diloco"]


def test_a_quorum_that_follows_goes_on_without_the_lost(tmp_path: Path) -> None:
    """K = 4 of 4 stops for five minutes; K that follows does not, and is 4 again afterwards."""
    fixed = of_text(FOUR.replace("POLICY", "fixed"), tmp_path)
    following = of_text(FOUR.replace("POLICY", "quorum_following"), tmp_path)
    gone, back = 600.0, 600.0 + 300.0

    def between(result: MethodResult, start: float, end: float) -> list[tuple[str, ...]]:
        return [merge.learners for merge in result.merges if start < merge.start < end]

    assert not between(fixed, gone + 5.0, back)
    during = between(following, gone + 5.0, back)
    assert len(during) > 280
    assert {len(learners) for learners in during} == {3}
    assert {len(learners) for learners in between(following, back + 60.0, 1200.0)} == {4}
    assert following.merge_uptime == pytest.approx(1.0)
    assert fixed.merge_uptime == pytest.approx(1.0 - 360.0 / 1200.0)
    assert [entry["quorum"] for entry in following.extra["policy"]["log"]] == [3, 4]


OWN = '''\
"""A policy of a user's own."""

from ddsim.engine.policies import Policy, policy


@policy("half_way")
class HalfWay(Policy):
    """From slot `slot` on half the bits."""

    summary = "half the bits from some slot on"

    def __init__(self, slot=100):
        self.slot = slot

    def decide(self, sight):
        if sight.slot < self.slot:
            return sight.scenario
        return sight.scenario._replace(payload_bits=sight.scenario.payload_bits / 2)
'''


def test_a_users_policy_runs_from_its_own_file(tmp_path: Path) -> None:
    """Named in a scenario that lists the file, with an option of its own."""
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    text = FOUR.replace("POLICY", "half_way, policy_options: {slot: 50}") + "python: [own.py]\n"
    told = of_text(text, tmp_path).extra["policy"]
    assert [(entry["slot"], entry["payload_bits"]) for entry in told["log"]] == [(50, 16.0)]


@policy("as_it_is")
class AsItIs(Policy):
    """Sees everything and changes nothing."""

    summary = "nothing changes"

    def decide(self, sight: Sight) -> Settings:
        """Return what is in force."""
        assert 0 <= sight.live <= sight.learners
        assert len(sight.step_times) == sight.live
        return sight.current


def test_a_policy_that_changes_nothing_changes_nothing(tmp_path: Path) -> None:
    """Accounts and merges are those of fixed settings, whose rounds are passed over."""
    assert "as_it_is" in names()
    links = "network: {bandwidth: 4 Gbit/s, latency: 20 ms}\n"
    fixed = of_text(FOUR.replace("POLICY", "fixed") + links, tmp_path)
    other = of_text(FOUR.replace("POLICY", "as_it_is") + links, tmp_path)
    assert other.accounts == pytest.approx(fixed.accounts, abs=1e-9)
    assert [merge.slot for merge in other.merges] == [merge.slot for merge in fixed.merges]
    assert other.tokens_merged == pytest.approx(fixed.tokens_merged)


@policy("beyond_bounds")
class BeyondBounds(Policy):
    """Asks for more learners than there are."""

    summary = "too much"

    def decide(self, sight: Sight) -> Settings:
        """Return what cannot be."""
        return sight.current._replace(quorum=sight.learners + 1)


def test_settings_that_cannot_be_are_refused(tmp_path: Path) -> None:
    """With the policy's name and what is allowed."""
    with pytest.raises(ScenarioError, match=r"policy beyond_bounds, decide.* quorum=5; .*most 4"):
        of_text(FOUR.replace("POLICY", "beyond_bounds"), tmp_path)


@pytest.mark.parametrize(
    ("spelled", "message"),
    [
        ("bandwith_following", 'training.policy: unknown policy "bandwith_following"; did you'),
        (
            "bandwidth_following, policy_options: {lode: 0.5}",
            'training.policy_options.lode: unknown option "lode" of bandwidth_following; did you',
        ),
        ("fixed, policy_options: {load: 0.5}", 'unknown option "load" of fixed; none'),
    ],
)
def test_unknown_policies_and_options_are_said_where_they_stand(
    spelled: str, message: str, tmp_path: Path
) -> None:
    """With line, what was found and what there is."""
    with pytest.raises(ScenarioError) as caught:
        of_text(FOUR.replace("POLICY", spelled), tmp_path)
    assert message in str(caught.value)
    assert "case.yaml:5:" in str(caught.value)


def test_a_methods_own_policy_is_checked_too(tmp_path: Path) -> None:
    """Set for one method alone, at that position."""
    own = FOUR.replace(", policy: POLICY", "").replace(
        "[decoupled_diloco]", "[{decoupled_diloco: {training.policy: fixd}}]"
    )
    with pytest.raises(ScenarioError, match=r'case.yaml:3:.*unknown policy "fixd"'):
        of_text(own, tmp_path)


def turns_of(inner_steps: int, fragments: int) -> Any:
    """As much of the protocol's state as says which fragment is due when; no slot has closed."""
    number = np.zeros(k.NUMBERS, np.int64)
    number[[k.PERIOD, k.FRAGMENTS, k.TURNS, k.NEXT_SLOT]] = inner_steps, fragments, 1, 1
    turns = np.zeros((4, 3), np.int64)
    turns[0, k.INNER] = inner_steps
    return SimpleNamespace(number=number, turns=turns, slot=np.zeros((1, k.SLOT_COLUMNS), np.int64))


def due_at(state: Any, slot: int) -> list[int]:
    """The fragments due at a slot."""
    first, beyond = (due(state, slot) for due in (k.due_from, k.due_upto))
    return list(range(first, beyond))


@pytest.mark.parametrize("start", [30, 31, 47])
@pytest.mark.parametrize("inner_steps", [6, 24, 37, 100])
def test_fragments_keep_their_order_when_the_period_changes(start: int, inner_steps: int) -> None:
    """Each comes after the one before it, before, across and after the change."""
    state = turns_of(inner_steps=24, fragments=12)
    before = [due_at(state, slot) for slot in range(start)]
    k.begin_turn(state, start, inner_steps)
    assert [due_at(state, slot) for slot in range(start)] == before
    due = [p for slot in range(1, start + 300) for p in due_at(state, slot)]
    turns = [(later - earlier) % 12 for earlier, later in pairwise(due)]
    # of those due together from now on, one may have had its turn just before
    assert turns.count(1) >= len(turns) - 1


def test_slots_before_all_changes_that_are_kept_belong_to_the_oldest() -> None:
    """Four are kept, and learners that were away ask for slots of long ago."""
    state = turns_of(inner_steps=24, fragments=12)
    for change in range(1, 7):
        k.begin_turn(state, 100 * change, 24 + change)
    assert k.turn_of(state, 1) == 0


@pytest.mark.parametrize("start", [30, 31, 47])
@pytest.mark.parametrize("inner_steps", [24, 37, 100])
def test_the_next_in_turn_is_due_first_when_the_period_changes(
    start: int, inner_steps: int
) -> None:
    """Where no more than one is due at a slot."""
    state = turns_of(inner_steps=24, fragments=12)
    last = [p for slot in range(1, start) for p in due_at(state, slot)][-1]
    k.begin_turn(state, start, inner_steps)
    due = [p for slot in range(start, start + 100) for p in due_at(state, slot)]
    assert due[0] == (last + 1) % 12


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bandwidth_following", "quorum_following"])
def test_whatever_befalls_it_the_laws_hold(name: str) -> None:
    """Failures, links that vary, stalls: the books close and a rerun is the same."""

    @given(scenarios(deep=True))
    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    def hold(text: str) -> None:
        lines = [line for line in text.splitlines() if not line.startswith(("methods", "study"))]
        drawn = "\n".join([*lines, "methods: [decoupled_diloco]"]) + "\n"
        assert_laws(drawn.replace("training: {", f'training: {{"policy": "{name}", '))

    hold()


BY_SCENARIO = Settings(payload_bits=16.0, inner_steps=24, overlap_steps=2, quorum=4)


def sight(**seen: Any) -> Sight:
    """Four learners of a step a second, 12 fragments of which a bit a parameter takes 0.1 s."""
    known = {
        "slot": 1,
        "now": 100.0,
        "scenario": BY_SCENARIO,
        "current": BY_SCENARIO,
        "learners": 4,
        "live": 4,
        "failures": 0,
        "step_times": (1.0, 1.0, 1.0, 1.0),
        "bandwidth": 1e9,
        "transfer_time": None,
        "transfer_bits": 16.0,
        "mean_transfer_time": None,
        "hop_bits": 1e8,
        "latency": 0.0,
        "fragments": 12,
    }
    return Sight(**{**known, **seen})


def test_exchanges_are_to_keep_up_with_the_fastest_learner() -> None:
    """A slower one beside it changes nothing: 12 fragments of 16 bits are 19.2 s of 24."""
    follow = make("bandwidth_following", {"load": 1.0})
    alone, beside = (follow.decide(sight(step_times=times)) for times in ((1.0,), (1.0, 9.0)))
    assert alone == beside == BY_SCENARIO._replace(overlap_steps=3)
    assert follow.decide(sight(step_times=(0.5, 1.0))).payload_bits == 8.0


@pytest.mark.parametrize(("of_bits", "overlap"), [(16.0, 6), (8.0, 3)])
def test_a_measured_time_counts_for_its_own_bits(of_bits: float, overlap: int) -> None:
    """An exchange that took 4.5 s, where by what is on the link it takes 1.6 s."""
    follow = make("bandwidth_following", {"load": 1.0})
    found = follow.decide(sight(transfer_time=4.5, transfer_bits=of_bits))
    assert found == BY_SCENARIO._replace(overlap_steps=overlap)


@pytest.mark.parametrize(
    ("had", "has"), [(24, 40), (39, 40), (40, 40), (45, 45), (50, 50), (51, 40)]
)
def test_a_period_stands_while_it_is_enough_and_at_most_a_quarter_too_long(
    had: int, has: int
) -> None:
    """At 0.48 Gbit/s all fragments take 40 steps."""
    follow = make("bandwidth_following", {"load": 1.0, "least_bits": 16.0})
    current = BY_SCENARIO._replace(inner_steps=had)
    assert follow.decide(sight(bandwidth=4.8e8, current=current)).inner_steps == has


def test_bits_stand_while_the_scenarios_period_is_just_enough() -> None:
    """At 0.8 Gbit/s all fragments take the 24 steps that there are."""
    found = make("bandwidth_following", {"load": 1.0}).decide(sight(bandwidth=8e8))
    assert (found.payload_bits, found.inner_steps) == (16.0, 24)


@pytest.mark.parametrize(
    ("seen", "overlap"),
    [
        ({"latency": 0.5}, 4),
        ({"latency": 100.0}, 23),
        ({"step_times": (0.5,), "bandwidth": 2e9}, 3),
    ],
)
def test_an_overlap_is_the_steps_of_an_exchange_and_one(seen: dict[str, Any], overlap: int) -> None:
    """Of 1.6 s of bits and the way, or half of it where steps are; less than the period."""
    follow = make("bandwidth_following", {"load": 1.0})
    assert follow.decide(sight(**seen)).overlap_steps == overlap


@pytest.mark.parametrize(
    ("bandwidth", "had", "has"),
    [(4.8e8, 4, 5), (4.8e8, 5, 5), (4.8e8, 6, 6), (4.8e8, 7, 5), (1e9, 4, 3)],
)
def test_an_overlap_one_too_long_stands_while_the_period_is_longer(
    bandwidth: float, had: int, has: int
) -> None:
    """At the scenario's own period it goes back at once."""
    follow = make("bandwidth_following", {"load": 1.0, "least_bits": 16.0})
    current = BY_SCENARIO._replace(overlap_steps=had)
    assert follow.decide(sight(bandwidth=bandwidth, current=current)).overlap_steps == has


def test_the_scenarios_period_comes_back_at_once() -> None:
    """Where its own is enough again nothing longer stands, a little longer or not."""
    follow = make("bandwidth_following", {"load": 1.0})
    for steps in (25, 30, 60):
        current = BY_SCENARIO._replace(inner_steps=steps)
        assert follow.decide(sight(current=current)).inner_steps == 24


def test_what_is_not_known_yet_is_left_as_it_is() -> None:
    """Without a bandwidth, or anybody who steps."""
    follow = make("bandwidth_following", {})
    current = BY_SCENARIO._replace(payload_bits=8.0)
    for unknown in ({"bandwidth": None}, {"bandwidth": 0.0}, {"step_times": ()}):
        assert follow.decide(sight(current=current, **unknown)) == current


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("bandwidth_following", {"load": 0.0}),
        ("bandwidth_following", {"load": 1.1}),
        ("bandwidth_following", {"least_bits": 0.0}),
        ("quorum_following", {"share": 0.0}),
        ("quorum_following", {"share": 1.1}),
    ],
)
def test_options_of_policies_have_bounds(name: str, options: dict[str, float]) -> None:
    """Shares are above 0 and at most 1, which is one; bits are more than none."""
    make(name, dict.fromkeys(options, 1.0))
    with pytest.raises(ScenarioError, match="above 0"):
        make(name, options)


@pytest.mark.parametrize(
    ("share", "live", "quorum"), [(1.0, 4, 4), (1.0, 3, 3), (0.5, 4, 2), (0.5, 3, 2), (0.5, 0, 1)]
)
def test_a_quorum_that_follows_is_a_share_of_who_is_live(
    share: float, live: int, quorum: int
) -> None:
    """Rounded up, and never less than one; all else is as it was."""
    follow = make("quorum_following", {"share": share})
    current = BY_SCENARIO._replace(quorum=1)
    assert follow.decide(sight(current=current, live=live)) == current._replace(quorum=quorum)


def test_the_thinnest_link_is_followed_too() -> None:
    """At a bit a second bits are the least, and H what all fragments take."""
    found = make("bandwidth_following", {"load": 1.0}).decide(sight(bandwidth=1.0, hop_bits=1.0))
    assert (found.payload_bits, found.inner_steps) == (4.0, 48)
