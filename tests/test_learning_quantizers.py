"""Quantizers: what outer gradients are sent as, in how many bits, and what is kept back."""

from pathlib import Path

import numpy as np
import pytest
from scenario_text import scenario

import ddsim
from ddsim.learning.config import OuterConfig
from ddsim.learning.errors import LearningError
from ddsim.learning.gaussian import gaussian_levels
from ddsim.learning.keeper import Keeper
from ddsim.learning.layout import Layout
from ddsim.learning.quantization import Coding, Float, Quantizer, get, quantizer, widths
from ddsim.learning.setup import config_of
from ddsim.scenario import ScenarioError
from ddsim.scenario.known import Known

CODINGS = [
    *(("uniform", bits) for bits in (1, 2, 4, 8)),
    *(("float", bits) for bits in (2, 4)),
    *(("gaussian", bits) for bits in (1, 2, 4)),
    ("sign", 1),
]
each = pytest.mark.parametrize(("name", "bits"), CODINGS)


def tensor(size: int = 4000, seed: int = 0) -> np.ndarray:
    """Gaussian numbers, one in ten of them 0."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(size) < 0.1, 0.0, rng.standard_normal(size)).astype(np.float32)


LLOYD_MAX = {
    2: [0.797884560802865356],
    4: [0.452780034636492009, 1.5104176084990954],
    8: [0.245094178944221668, 0.756005281205877275, 1.34390927850499988, 2.15194570453698729],
    16: [
        0.12839502985114701,
        0.388048299490290197,
        0.656759118532463381,
        0.942340456486961371,
        1.25623119734717715,
        1.61804638602188263,
        2.06901722653138658,
        2.73258957099516307,
    ],
}
"""Upper halves, to 18 digits; the first four are those of Max (1960), table I."""


@pytest.mark.parametrize("count", LLOYD_MAX)
def test_gaussian_levels_are_those_tabulated(count: int) -> None:
    """To 1e-12, and symmetric."""
    levels = gaussian_levels(count)
    np.testing.assert_allclose(levels[count // 2 :], LLOYD_MAX[count], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(levels, -levels[::-1])


def test_e3m0_has_zero_and_seven_powers_of_two() -> None:
    """Three bits of exponent, of which one code is 0."""
    assert get("float")(4).levels().tolist()[7:] == [0.0, *(2.0**-k for k in range(6, -1, -1))]


@pytest.mark.parametrize("bits", [2, 4, 8, 16])
def test_uniform_values_are_within_half_a_level(bits: int) -> None:
    """Levels are evenly spaced over the tensor's range, 0 among them."""
    values = tensor().astype(float)
    spacing = np.abs(values).max() / (2 ** (bits - 1) - 1)
    sent = Coding(bits=bits).sent(values)
    assert np.abs(sent - values).max() <= 0.5001 * spacing
    assert len(np.unique(sent)) <= 2**bits - 1
    assert Coding(bits=bits).sent(tensor()).dtype == np.float32


@each
def test_what_is_sent_is_the_nearest_level(name: str, bits: int) -> None:
    """None of the levels, times the scale, is nearer to a number that is not 0."""
    values = tensor()
    values = values[values != 0.0].astype(float)
    rule = get(name)(bits)
    levels = float(rule.scale(values[None])[0]) * rule.levels()
    nearest = np.abs(values[:, None] - levels).min(axis=1)
    sent = Coding(name, bits).sent(values)
    np.testing.assert_allclose(np.abs(values - sent), nearest, atol=1e-12)


@each
def test_stochastic_rounding_is_right_in_the_mean(name: str, bits: int) -> None:
    """Within 5 standard errors, for each number of a block that is sent many times."""
    block, repeats = np.linspace(-0.9, 1.0, 20), 20_000
    coding = Coding(name, bits, "stochastic", block.size)
    sent = coding.sent(np.tile(block, repeats), np.random.default_rng(1)).reshape(repeats, -1)
    error = sent.std(axis=0) / np.sqrt(repeats)
    assert (np.abs(sent.mean(axis=0) - block) <= 5 * error + 1e-12).all()


@each
@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
def test_zeros_stay_zeros(name: str, bits: int, rounding: str) -> None:
    """Whether or not 0 is a level; and of nothing, nothing is sent."""
    values = tensor()
    coding = Coding(name, bits, rounding)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    assert (coding.sent(values, rng)[values == 0.0] == 0.0).all()
    np.testing.assert_array_equal(coding.sent(np.zeros(5, np.float32), rng), np.zeros(5))


def test_one_uniform_bit_is_the_sign_times_the_mean_magnitude() -> None:
    """Zeros apart."""
    values = tensor()
    sent = Coding(bits=1).sent(values)
    np.testing.assert_allclose(sent, np.sign(values) * np.abs(values).mean(), rtol=1e-6)


def test_sign_keeps_the_norm() -> None:
    """One magnitude, and the length of what was to be sent."""
    values = tensor()
    sent = Coding("sign", 1).sent(values)
    assert len(np.unique(np.abs(sent[values != 0.0]))) == 1
    assert np.linalg.norm(sent) == pytest.approx(float(np.linalg.norm(values)), rel=1e-5)


@each
def test_every_block_has_a_scale_of_its_own(name: str, bits: int) -> None:
    """What a block is sent as does not depend on the others, and the last may be shorter."""
    values = tensor(100)
    blocks = np.split(values, [32, 64, 96])
    alone = [Coding(name, bits).sent(block) for block in blocks]
    coding = Coding(name, bits, block=32)
    np.testing.assert_array_equal(coding.sent(values), np.concatenate(alone))
    assert coding.scales(values.size) == len(blocks)


def test_thirty_two_bits_change_nothing() -> None:
    """The tensor itself comes back."""
    values = tensor()
    np.testing.assert_array_equal(Coding("sign", 32).sent(values), values)


@pytest.mark.parametrize("name", ["uniform", "float", "gaussian"])
def test_bytes_on_the_wire_are_those_of_numbers_and_scales(name: str) -> None:
    """What the links of a run carry is what the quantizer makes of its model."""
    bits, block, parameters, learners = 4, 64, 6400, 4
    world = scenario(
        overrides={
            "model.parameters": parameters,
            "training": {
                "step_time": "1 s",
                "payload_bits": bits,
                "payload_block": block,
                "scale_bits": 16,
                "inner_steps": 4,
            },
            "learning": {
                "problem": "noisy_quadratic",
                "batch_size": 1,
                "evaluations": 1,
                "quantization": {"quantizer": name},
            },
            "duration": "41 s",
        }
    )
    outer = config_of(world, "diloco").outer
    assert (outer.bits, outer.block) == (bits, block)
    sent = (bits * parameters + 16 * outer.coding.scales(parameters)) / 8
    (result,) = ddsim.run(world, methods=["diloco"]).results
    ring = 2 * (learners - 1) / learners
    assert result.wan["total_bytes"] == pytest.approx(10 * ring * sent, rel=1e-12)


def test_scales_are_counted_once() -> None:
    """A scenario that is laid out again has the same bits."""
    text = {"training.payload_bits": 4, "training.payload_block": 32}
    once = scenario(overrides=text)
    assert once.training.payload_bits == 5.0
    assert once.with_({"duration": "1 h"}).training.payload_bits == 5.0


def test_bits_that_a_quantizer_does_not_have_are_refused() -> None:
    """Before anything runs, where they stand."""
    with pytest.raises(ScenarioError, match=r"8 bits.*1 to 1 for sign"):
        scenario(
            "learning: {problem: mlp, quantization: {quantizer: sign, bits: 8}}",
            known=Known(quantizers=widths),
        )


OWN = """\
from ddsim.learning import Quantizer, quantizer


@quantizer("ternary")
class Ternary(Quantizer):
    summary = "three levels"
    fewest = most = 2

    def levels(self):
        return [-1.0, 0.0, 1.0]
"""
NAMED = """\
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s}
cluster: {chips: 64, chips_per_slice: 8, learners: 4}
python: [own.py]
learning: {problem: mlp, quantization: {quantizer: QUANTIZER, bits: BITS}}
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A scenario beside a file with a quantizer of one's own."""
    (tmp_path / "own.py").write_text(OWN)
    file = tmp_path / "own.yaml"
    file.write_text(NAMED.replace("QUANTIZER", "ternary").replace("BITS", "2"))
    return file


def test_a_quantizer_of_one_s_own_can_be_named(own: Path) -> None:
    """It is made for the scenario's bits."""
    coding = config_of(ddsim.load(own), "diloco").outer.coding
    sent = coding.sent(np.array([0.9, -0.2, 0.4, -1.0]))
    np.testing.assert_array_equal(sent, [1.0, 0.0, 0.0, -1.0])


@pytest.mark.parametrize(
    ("quantizer", "bits", "said"),
    [("ternery", 2, 'did you mean "ternary"'), ("ternary", 3, "2 to 2 for ternary")],
)
def test_a_wrong_name_or_width_is_said(own: Path, quantizer: str, bits: int, said: str) -> None:
    """With what there is."""
    changes = {"learning.quantization": {"quantizer": quantizer, "bits": bits}}
    with pytest.raises(ScenarioError, match=said):
        ddsim.load(own, changes)


@pytest.mark.parametrize("levels", [[1.0, -1.0], [0.0], [-1.0, float("nan")], [[1.0], [2.0]]])
def test_levels_that_cannot_be_are_refused(levels: list[float]) -> None:
    """Not in order, one alone, no numbers."""

    class Wrong(Quantizer):
        name = "wrong"

        def levels(self) -> np.ndarray:
            return np.array(levels)

    with pytest.raises(LearningError, match="quantizer wrong: its levels at 2 bits"):
        _ = Wrong(2).sorted_levels


def test_what_a_quantizer_raises_is_said_with_its_name() -> None:
    """As of problems, with what it was."""

    @quantizer("raising")
    class Raising(Float):
        def scale(self, blocks: np.ndarray) -> np.ndarray:
            raise KeyError("nothing there")

    with pytest.raises(LearningError, match=r"quantizer raising: KeyError.*nothing there"):
        Coding("raising", 4).sent(tensor())


# Error feedback.


def keeper(*, learners: int = 1, feedback: bool = True, bits: int = 2) -> Keeper:
    """One that holds a hundred zeros and steps by what is merged."""
    layout = Layout.of({"x": np.zeros(100)}, 1)
    config = OuterConfig(1.0, 0.0, bits=bits, error_feedback=feedback)
    return Keeper(config, layout, [], np.zeros(100, "f4"), learners)


UPDATE = np.linspace(0.01, 1.0, 100).astype(np.float32)


def test_error_feedback_sends_in_the_end_what_rounding_left_out() -> None:
    """What was sent of a small constant update adds up to the update, but for the last rest."""
    found = {}
    for feedback in (False, True):
        one = keeper(feedback=feedback)
        for slot in range(1, 41):
            one.merge(slot, (0,), {0: {0: one.parameters - UPDATE}}, [1.0])
        found[feedback] = -one.parameters / 40
    assert np.abs(found[True] - UPDATE).max() < 0.03
    assert np.abs(found[False] - UPDATE).max() > 0.3


def test_feedback_keeps_what_no_merge_took() -> None:
    """An answer that was dropped goes with the learner's next, on top of it."""
    one = keeper(learners=2, bits=32)
    assert one.feedback is not None
    one.merge(1, (0,), {0: {0: -UPDATE}}, [1.0])
    one.feedback.dropped(1, 1, {0: -2 * UPDATE})
    one.merge(2, (0,), {1: {0: one.parameters}}, [1.0])
    np.testing.assert_allclose(one.parameters, -3 * UPDATE, rtol=1e-6)
    assert not one.feedback.left.any()


def test_feedback_is_lost_with_the_hardware() -> None:
    """Also that of answers which were given before and are merged after."""
    one = keeper(learners=2)
    assert one.feedback is not None
    one.merge(1, (0,), {0: {0: -UPDATE}, 1: {0: -UPDATE}}, [1.0, 1.0])
    assert one.feedback.left.all(axis=1).tolist() == [False, False]
    assert one.feedback.left.any(axis=1).tolist() == [True, True]
    one.feedback.lost(1, [(2, 0), (2, 1)])
    one.merge(2, (0,), {1: {0: one.parameters - UPDATE}}, [1.0])
    assert one.feedback.left.any(axis=1).tolist() == [True, False]
