"""Values in sentences."""

from __future__ import annotations

import pytest

from ddsim.results.saying import in_words, with_ends


@pytest.mark.parametrize(
    ("metric", "value", "said"),
    [
        ("cost_to_target", 312_133.8, "312,100 US$"),
        ("cost_to_target", 1.0738e6, "1,074,000 US$"),
        ("merged_goodput", 0.97801, "97.80%"),
        ("hours_to_target", 38.104, "38.1 h"),
        ("merged_tokens_per_hour", 3.2012e10, "32.01 billion 1/h"),
        ("steps", 9999.7, "10,000"),
    ],
)
def test_a_value_is_said_in_four_digits_with_its_unit(metric: str, value: float, said: str) -> None:
    """Never with an exponent."""
    assert in_words(metric, value) == said


def test_the_unit_is_said_once() -> None:
    """The ends are in the same."""
    assert with_ends("usd", 300.0, (290.0, 310.0)) == "300 US$ (290 to 310 at 95%)"
