"""Failures of many aging parts against the renewal function and other known laws."""

import math

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from ddsim.theory.renewal import renewal_function
from ddsim.world.distributions import (
    Constant,
    Distribution,
    Exponential,
    Mixture,
    Weibull,
    from_spec,
)
from ddsim.world.renewal import AgingParts, FailureStream, Renews, superposed_failures

WEEK, YEAR = 7 * 86_400.0, 31_557_600.0
NODES = 4_096


def _assert_mean(values: ArrayLike, expected: float) -> None:
    sample = np.asarray(values, dtype=float)
    error = sample.std(ddof=1) / math.sqrt(len(sample))
    assert abs(sample.mean() - expected) <= 5.0 * error


def _counts(stream: FailureStream, n: int) -> NDArray[np.int64]:
    return np.bincount(stream.parts, minlength=n)


@pytest.mark.parametrize("horizon", [WEEK, YEAR], ids=["week", "year"])
@pytest.mark.parametrize("shape", [0.5, 0.7, 1.5])
def test_failures_of_fresh_nodes_follow_the_renewal_function(shape: float, horizon: float) -> None:
    """From a fresh start, the mean number of failures per node is the renewal function."""
    life = from_spec("weibull", {"shape": shape, "mean": 30 * 86_400.0})
    stream = superposed_failures(life, NODES, horizon, np.random.default_rng(7))
    _assert_mean(_counts(stream, NODES), renewal_function(life.cdf, horizon))


@pytest.mark.parametrize("shape", [0.5, pytest.param(1.5, marks=pytest.mark.slow)])
def test_failures_with_repair_follow_the_alternating_renewal_function(shape: float) -> None:
    """A part under repair does not age, so that a cycle is a life and a repair."""
    life, repair = Weibull(shape, 100.0), Exponential(40.0)
    x = np.linspace(0.0, 1_000.0, 10_001)  # nothing beyond the end comes in
    mass = np.diff(life.cdf(x))
    middle = 0.5 * (x[1:] + x[:-1])

    def cycle(times: NDArray[np.float64]) -> NDArray[np.float64]:
        # the sum of a life and a repair: its cdf by the life's mass on a fine grid
        return np.array([float(mass @ repair.cdf(t - middle)) for t in times])

    expected = renewal_function(life.cdf, 1_000.0, cycle=cycle, cells=1_000)
    stream = superposed_failures(life, 20_000, 1_000.0, np.random.default_rng(11), repair)
    _assert_mean(_counts(stream, 20_000), expected)


def test_rate_tends_to_that_of_the_steady_state() -> None:
    """Long after the fresh start the failures come at the rate n / (mean life + mean repair)."""
    life, repair = Weibull(0.7, 100.0), Constant(20.0)
    parts = AgingParts(life, 4_000, np.random.default_rng(3), repair)
    early = len(parts.advance(100.0))
    parts.advance(5_000.0)
    late = _counts(parts.advance(6_000.0), 4_000)
    _assert_mean(late, 1_000.0 / (life.mean() + 20.0))
    assert early > 1.2 * late.sum() / 10.0


def test_windows_do_not_renew_anything() -> None:
    """Cut into windows, the failures follow the same renewal function as in one piece."""
    life = Weibull(0.5, 50.0)
    parts = AgingParts(life, 20_000, np.random.default_rng(5))
    counts = np.zeros(20_000)
    for until in (1.0, 7.0, 20.0, 60.0, 100.0):
        counts += _counts(parts.advance(until), 20_000)
    _assert_mean(counts, renewal_function(life.cdf, 100.0))


def test_the_first_failure_of_n_is_the_least_of_n_lives() -> None:
    """Among n fresh Weibull parts the first failure is Weibull with scale s n^(-1/k)."""
    life = Weibull(0.7, 2_844.0)
    firsts = [
        superposed_failures(life, 1_000, 50.0, np.random.default_rng(seed)).times[0]
        for seed in range(2_000)
    ]
    _assert_mean(firsts, life.first_of(1_000).mean())


def test_a_failure_leaves_the_ages_of_the_other_parts() -> None:
    """Parts of one constant lifetime fail together again and again, in their own rhythm."""
    stream = superposed_failures(
        Constant(10.0), 2, 35.0, np.random.default_rng(0), ages=np.array([0.0, 4.0])
    )
    assert stream.times.tolist() == [6.0, 10.0, 16.0, 20.0, 26.0, 30.0]
    assert stream.parts.tolist() == [1, 0, 1, 0, 1, 0]


def test_initial_ages_shorten_or_lengthen_the_first_life() -> None:
    """The first failure of a part of age a follows the residual life at a."""
    life = Weibull(1.5, 100.0)
    ages = np.full(20_000, 80.0)
    stream = superposed_failures(life, 20_000, 30.0, np.random.default_rng(2), ages=ages)
    failed = _counts(stream, 20_000) > 0
    _assert_mean(failed, 1.0 - float(life.survival(110.0) / life.survival(80.0)))


def test_without_renewal_failures_follow_the_cumulative_hazard() -> None:
    """A part that comes back as old as it was fails as a Poisson process of its hazard."""
    life = Weibull(1.5, 50.0)
    stream = superposed_failures(life, 20_000, 120.0, np.random.default_rng(4), renews="nothing")
    counts = _counts(stream, 20_000)
    _assert_mean(counts, float(life.cumulative_hazard(120.0)))


def test_renewing_all_parts_is_another_process() -> None:
    """If each failure renewed every age, shape 0.7 would fail far more often than it does."""
    life = Weibull(0.7, YEAR)
    rng = np.random.default_rng(6)
    all_new = superposed_failures(life, 1_000, WEEK, rng, renews="all_parts")
    gap = life.first_of(1_000)
    gaps = np.diff(np.concatenate([[0.0], all_new.times]))
    _assert_mean(gaps, gap.mean())
    assert len(all_new) > 5 * len(superposed_failures(life, 1_000, WEEK, rng))


def test_constant_hazards_superpose_to_a_poisson_process() -> None:
    """n exponential parts fail n t / mean times in t, with a variance of the same size."""
    counts = [
        len(superposed_failures(Exponential(100.0), 50, 40.0, np.random.default_rng(seed)))
        for seed in range(4_000)
    ]
    _assert_mean(counts, 20.0)
    _assert_mean((np.array(counts) - 20.0) ** 2, 20.0)


def test_a_window_is_half_open() -> None:
    """A failure at exactly the end of a window belongs to the next one."""
    parts = AgingParts(Constant(10.0), 1, np.random.default_rng(0))
    assert parts.advance(10.0).times.tolist() == []
    assert parts.advance(20.0).times.tolist() == [10.0]
    assert parts.advance(20.5).times.tolist() == [20.0]


def test_a_repair_that_never_ends_takes_the_part_out() -> None:
    """A part under an endless repair fails no more."""
    stream = superposed_failures(
        Exponential(1.0), 100, 1_000.0, np.random.default_rng(0), Constant(math.inf)
    )
    assert sorted(stream.parts.tolist()) == list(range(100))


def test_a_share_that_never_fails_stays() -> None:
    """In a mixture with `never` the immortal share is left standing."""
    life = Mixture((0.25, 0.75), (Constant(5.0), Constant(math.inf)))
    stream = superposed_failures(life, 20_000, 6.0, np.random.default_rng(1))
    _assert_mean(_counts(stream, 20_000) > 0, 0.25)


@pytest.mark.parametrize("renews", ["failed_part", "nothing", "all_parts"])
def test_failures_come_in_the_order_of_time_and_before_the_end(renews: Renews) -> None:
    """Times are sorted, lie in [0, horizon), and each has its part and repair."""
    stream = superposed_failures(
        Weibull(0.6, 20.0), 30, 500.0, np.random.default_rng(8), Exponential(2.0), renews=renews
    )
    assert np.all(np.diff(stream.times) >= 0.0)
    assert stream.times[0] >= 0.0
    assert stream.times[-1] < 500.0
    assert len(stream) == len(stream.parts) == len(stream.repairs) > 100


def test_no_part_fails_during_its_repair() -> None:
    """Between a part's failures lies at least its repair."""
    stream = superposed_failures(
        Weibull(0.5, 20.0), 5, 5_000.0, np.random.default_rng(9), Exponential(30.0)
    )
    for part in range(5):
        mine = stream.parts == part
        gaps = np.diff(stream.times[mine])
        assert np.all(gaps >= stream.repairs[mine][:-1] - 1e-9)


def test_the_same_generator_gives_the_same_failures() -> None:
    """A stream is a function of its generator alone."""
    first, second = (
        superposed_failures(Weibull(0.7, 9.0), 40, 30.0, np.random.default_rng(12))
        for _ in range(2)
    )
    assert np.array_equal(first.times, second.times)
    assert np.array_equal(first.parts, second.parts)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Weibull(1.0, 1.0), -1), "number of parts"),
        ((Constant(0.0), 3), "without end"),
    ],
)
def test_what_has_no_answer_is_refused(arguments: tuple[Distribution, int], message: str) -> None:
    """A negative number of parts and lifetimes that are always 0 are errors."""
    with pytest.raises(ValueError, match=message):
        AgingParts(*arguments, np.random.default_rng(0))


def test_bounded_lives_need_renewal() -> None:
    """Without renewal a part at the end of a bounded life would fail at once, for ever."""
    with pytest.raises(ValueError, match="unrenewed"):
        AgingParts(Constant(5.0), 1, np.random.default_rng(0), renews="nothing")


def test_time_does_not_run_backwards() -> None:
    """A window may not end before it begins, nor be endless."""
    parts = AgingParts(Exponential(1.0), 1, np.random.default_rng(0))
    parts.advance(5.0)
    with pytest.raises(ValueError, match="until is 4 s"):
        parts.advance(4.0)
    with pytest.raises(ValueError, match="until is inf"):
        parts.advance(math.inf)


def test_windows_do_not_change_the_renewal_of_all_parts() -> None:
    """Cut into windows, the gaps between failures that renew all parts have the same law."""
    life = Weibull(0.5, 10.0)
    parts = AgingParts(life, 5, np.random.default_rng(13), renews="all_parts")
    times = np.concatenate([parts.advance(until).times for until in np.linspace(1.0, 4e3, 400)])
    _assert_mean(np.diff(times), life.first_of(5).mean())


def test_with_ages_given_the_first_to_fail_renews_all_parts() -> None:
    """Of aged parts the one with the least life left fails first, then all are fresh."""
    stream = superposed_failures(
        Constant(10.0), 3, 25.0, np.random.default_rng(0), renews="all_parts", ages=[1.0, 7.0, 2.0]
    )
    assert stream.times.tolist() == [3.0, 13.0, 23.0]
    assert stream.parts[0] == 1


def test_every_part_needs_its_age() -> None:
    """Ages of another number than the parts are an error."""
    with pytest.raises(ValueError, match=r"shape \(2,\); 3 of them"):
        AgingParts(Exponential(1.0), 3, np.random.default_rng(0), ages=[1.0, 2.0])


def test_no_parts_do_not_fail() -> None:
    """Without parts there are no failures."""
    assert len(superposed_failures(Weibull(0.5, 1.0), 0, 10.0, np.random.default_rng(0))) == 0


@pytest.mark.parametrize("windows", [(645.0, 655.0), (635.0, 645.0), (1_935.0, 2_005.0)])
def test_lives_of_one_length_end_at_its_multiples(windows: tuple[float, ...]) -> None:
    """Whoever fails renews all; each window has what falls into it, however many that are."""
    parts = AgingParts(Constant(10.0), 3, np.random.default_rng(0), renews="all_parts")
    begun = 0.0
    for until in windows:
        first, last = math.floor(begun / 10.0) + 1, math.floor(until / 10.0)
        expected = [10.0 * turn for turn in range(first, last + 1)]
        assert parts.advance(until).times.tolist() == expected
        begun = until


def test_parts_may_be_away_for_as_long_as_they_live() -> None:
    """They fail once in two lives, then."""
    life = Weibull(1.5, 100.0)
    stream = superposed_failures(
        life, 4, 2e5, np.random.default_rng(14), repair=Constant(life.mean())
    )
    assert len(stream) / 4 == pytest.approx(2e5 / (2.0 * life.mean()), rel=0.05)


def test_what_is_drawn_grows_with_the_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few parts that fail some ten times each take a few draws a failure."""
    drawn: list[int] = []
    sample = Weibull.sample

    def counted(life: Weibull, rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        drawn.append(n)
        return sample(life, rng, n)

    monkeypatch.setattr(Weibull, "sample", counted)
    stream = superposed_failures(Weibull(1.0, 100.0), 4, 1_000.0, np.random.default_rng(15))
    assert len(stream) <= sum(drawn) < 10 * len(stream)
