"""Forms of the syncer: what crosses which link, and how long a merge takes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from random_scenarios import scenarios
from test_random_scenarios import assert_laws

import ddsim
from ddsim.results import MethodResult
from ddsim.scenario import ScenarioError, read_text, validate

BASE = """
duration: 500 s
methods: [decoupled_diloco]
model: {parameters: 2.4e9, layers: 24}
training:
  {step_time: 1 s, payload_bits: 4, broadcast_bits: 16, inner_steps: 24, grace: 0, quorum: 4}
cluster: {chips: 16, chips_per_slice: 4, learners: 4}
network: {bandwidth: 8 Gbit/s, latency: 10 ms, regions: [a, b, c, d]}
"""
MEMBERS = 4
UP, DOWN = 4 * 1e8, 16 * 1e8  # bits of a fragment


def outcome(form: str, text: str = BASE, **overrides: object) -> MethodResult:
    """Run a scenario with this syncer."""
    changed = {name.replace("__", "."): value for name, value in overrides.items()}
    document = read_text(text).with_overrides({"training.syncer": form, **changed})
    return ddsim.run(validate(document))["decoupled_diloco"]


def bits(result: MethodResult, link: str, direction: str) -> float:
    """Bits a merge on one direction of a region's access; merges under way at the end count."""
    (use,) = [x for x in result.extra["links"] if (x["link"], x["direction"]) == (link, direction)]
    return 8 * float(use["bytes"]) / len(result.merges)


def taken(result: MethodResult) -> float:
    """Seconds from closing to arrival."""
    return result.merges[10].arrival - result.merges[10].start


@pytest.mark.parametrize("direction", ["up", "down"])
def test_replicas_send_twice_all_but_their_part(direction: str) -> None:
    """2 (M-1)/M S through every site, each way, in 2 (M-1) phases."""
    result = outcome("replicas")
    each = 2 * (MEMBERS - 1) / MEMBERS * UP
    assert bits(result, "b", direction) == pytest.approx(each, rel=5e-3)
    assert taken(result) == pytest.approx(each / 8e9 + 2 * (MEMBERS - 1) * 0.01)


@pytest.mark.parametrize("direction", ["up", "down"])
def test_a_partitioned_syncer_sends_gradients_and_parameters(direction: str) -> None:
    """(M-1)/M (S_up + S_down) through every site, each way, in two phases."""
    result = outcome("partitioned")
    each = (MEMBERS - 1) / MEMBERS * (UP + DOWN)
    assert bits(result, "b", direction) == pytest.approx(each, rel=5e-3)
    assert taken(result) == pytest.approx(each / 8e9 + 2 * 0.01)


def test_a_central_syncers_site_carries_everyones() -> None:
    """(M-1) S_up in and (M-1) S_down out at one site, S_up out and S_down in at the others."""
    result = outcome("central")
    others = MEMBERS - 1
    assert bits(result, "a", "down") == pytest.approx(others * UP, rel=5e-3)
    assert bits(result, "a", "up") == pytest.approx(others * DOWN, rel=5e-3)
    assert bits(result, "c", "up") == pytest.approx(UP, rel=5e-3)
    assert bits(result, "c", "down") == pytest.approx(DOWN, rel=5e-3)
    assert taken(result) == pytest.approx(others * DOWN / 8e9 + 2 * 0.01)


def test_a_central_syncer_stands_at_the_server() -> None:
    """Where `network.server` says so, also beside a ring of the other methods."""
    result = outcome("central", network__server="d")
    assert bits(result, "d", "up") == pytest.approx((MEMBERS - 1) * DOWN, rel=5e-3)


@pytest.mark.parametrize("form", ["partitioned", "central"])
def test_who_is_absent_saves_what_it_would_hand_in(form: str) -> None:
    """With one learner lost throughout, its site only receives; parameters are as many."""
    lost = BASE.replace("quorum: 4", "quorum: 1") + (
        "chaos: [{at: 0 s, fault: kill, target: unit 2, for: never}]\n"
    )
    result = outcome(form, lost)
    own_part = (MEMBERS - 1) / MEMBERS * DOWN if form == "partitioned" else 0.0
    received = {
        "partitioned": (MEMBERS - 1) / MEMBERS * (UP + DOWN),
        "central": DOWN,
    }[form]
    assert sum(
        x["bytes"] for x in result.extra["links"] if (x["link"], x["direction"]) == ("c", "up")
    ) * 8 / len(result.merges) == pytest.approx(own_part, rel=5e-3)
    assert bits(result, "c", "down") == pytest.approx(received, rel=5e-3)


def test_units_of_one_region_use_no_link_between_them() -> None:
    """In two regions of two, half of what each sends stays at home."""
    two = BASE.replace("[a, b, c, d]", "[a, b]")
    result = outcome("partitioned", two)
    # two units send two others a quarter each
    assert bits(result, "a", "up") == pytest.approx(2 * 2 / 4 * (UP + DOWN), rel=5e-3)


@pytest.mark.parametrize("form", ["partitioned", "central"])
def test_a_form_names_its_convention(form: str) -> None:
    """Bits of both ways, and the form."""
    convention = outcome(form).wan["convention"]
    assert "outer gradients at 4 bits, parameters at 16 bits" in convention
    assert form in convention


def test_a_policy_needs_replicas() -> None:
    """What bits save is reckoned for an exchange among replicas."""
    with pytest.raises(ScenarioError, match="a syncer that is partitioned"):
        outcome("partitioned", training__policy="bandwidth_following")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["partitioned", "central"])
def test_whatever_befalls_it_the_laws_hold(form: str) -> None:
    """Failures, links that vary, stalls: the books close and a rerun is the same."""

    @given(scenarios(deep=True))
    @settings(
        max_examples=20,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    def hold(text: str) -> None:
        lines = [line for line in text.splitlines() if not line.startswith(("methods", "study"))]
        drawn = "\n".join([*lines, "methods: [decoupled_diloco]"]) + "\n"
        assert_laws(drawn.replace("training: {", f'training: {{"syncer": "{form}", '))

    hold()
