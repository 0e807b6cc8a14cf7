"""What docs/learning makes of its trainings: means, paired ratios, and time to equal loss."""

import sys
from importlib import import_module
from math import isnan, log
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "docs" / "learning"))
summaries = import_module("summaries")
HEADER = ("setting", "minutes", "method", "seed", "loss")


def rows(speed: float, noise: float = 0.0) -> list[tuple[object, ...]]:
    """Losses that fall as 1 / sqrt(time), Decoupled's with that many times the speed."""
    found: list[tuple[object, ...]] = []
    for seed in range(5):
        shift = 1 + noise * (seed - 2)
        for minutes in (20.0, 40.0, 80.0):
            found.append(("a", minutes, "elastic_data_parallel", seed, shift * minutes**-0.5))
        for minutes in (15.0, 20.0, 40.0, 60.0, 80.0, 100.0):
            loss = (speed * minutes) ** -0.5
            found.append(("a", minutes, "decoupled_diloco", seed, loss))
    return found


@pytest.mark.parametrize("speed", [0.8, 1.25, 1.5])
def test_the_time_to_equal_loss_is_the_inverse_of_the_speed(speed: float) -> None:
    """At every budget, with an interval of no width where seeds do not differ."""
    _, *lines = summaries.equal_loss(HEADER, rows(speed))
    assert [line[1] for line in lines] == [20.0, 40.0, 80.0]
    for *_, ratio, low, high in lines:
        assert ratio == pytest.approx(1 / speed, rel=1e-3)
        assert low == pytest.approx(ratio) == high


def test_the_interval_of_the_time_holds_what_seeds_differ_by() -> None:
    """A loss 1% off is 2% of the time, at this slope."""
    _, line, *_ = summaries.equal_loss(HEADER, rows(1.25, noise=0.01))
    *_, ratio, low, high = line
    assert ratio == pytest.approx(0.8, rel=1e-3)
    assert low < ratio < high
    spread = 2 * 0.01 * (10 / 4 / 5) ** 0.5  # of the mean of five
    assert log(high / ratio) == pytest.approx(2.776 * spread, rel=0.05)


def test_what_the_time_consists_of_multiplies_to_it() -> None:
    """Half again the tokens, four fifths of them merged, and what is left over."""
    table = []
    for row in rows(1.25):
        ours = row[2] == "decoupled_diloco"
        tokens = float(str(row[1])) * (1.5 if ours else 1.0)
        table.append((*row, tokens, tokens * (0.8 if ours else 1.0)))
    _, *lines = summaries.explained((*HEADER, "tokens", "merged"), table)
    for _, _, ratio, tokens, merged, rest in lines:
        assert (tokens, merged) == pytest.approx((1 / 1.5, 1 / 0.8))
        assert tokens * merged * rest == pytest.approx(ratio)


def test_a_loss_that_is_not_reached_has_no_time() -> None:
    """Not even in 1.4 times the longest run."""
    _, *lines = summaries.equal_loss(HEADER, rows(0.5))
    assert isnan(lines[-1][3])


def test_means_are_over_seeds_and_ratios_paired() -> None:
    """2% over at every seed has an interval of no width."""
    table = [("base", seed, 1.0 + seed) for seed in range(3)]
    table += [("other", seed, 1.02 * (1.0 + seed)) for seed in range(3)]
    header, *lines = summaries.means(
        ("name", "seed", "loss"), table, lambda key, _: key == ("base",)
    )
    assert header == ("name", "seeds", "loss", "+-", "over %", "+-")
    assert lines[0][:3] == ("base", 3, 2.0)
    assert lines[0][3] == pytest.approx(1.0 / 3**0.5)
    assert lines[1][4:] == pytest.approx((2.0, 0.0), abs=1e-9)
