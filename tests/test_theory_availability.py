"""Availability theory: identities and limits."""

import math

import pytest

from ddsim.theory import availability as av


def test_one_crew_per_part_makes_parts_independent() -> None:
    """The machine repairman with as many crews as parts is the binomial."""
    repairman = av.MachineRepairman(16, 16, 100.0, 5.0)
    assert repairman.all_up() == pytest.approx(av.all_up_independent(16, 100.0, 5.0), rel=1e-12)
    assert repairman.mean_up_fraction() == pytest.approx(100 / 105, rel=1e-12)


def test_repairman_distribution_adds_up_for_thousands_of_parts() -> None:
    """Probabilities sum to 1 and stay finite where the weights themselves would overflow."""
    chances = av.MachineRepairman(5000, 2, 1e3, 1e3).down_distribution()
    assert math.fsum(chances) == pytest.approx(1.0, rel=1e-12)


def test_more_crews_never_hurt() -> None:
    """Mean availability rises with the number of crews."""
    ups = [av.MachineRepairman(32, c, 100.0, 10.0).mean_up_fraction() for c in (1, 2, 4, 8)]
    assert ups == sorted(ups)
    assert ups[0] < ups[-1]


def test_needing_all_of_n_is_all_up() -> None:
    """k = n is the product of the parts' availabilities."""
    assert av.k_of_n_availability(8, 8, 100.0, 10.0) == pytest.approx(
        av.all_up_independent(8, 100.0, 10.0), rel=1e-12
    )


def test_needing_none_is_always_met() -> None:
    """k = 0 is certain."""
    assert av.k_of_n_availability(8, 0, 100.0, 10.0) == 1.0


def test_paralyzable_is_worse_than_nonparalyzable() -> None:
    """Outages that are extended cost more; for rare failures both cost the same."""
    assert av.paralyzable_availability(10.0, 5.0) < av.nonparalyzable_availability(10.0, 5.0)
    assert av.paralyzable_availability(1e6, 1.0) == pytest.approx(
        av.nonparalyzable_availability(1e6, 1.0), abs=1e-11
    )


def test_availability_outside_its_range_is_refused() -> None:
    """A share above 1 is an error that says so."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        av.at_least(4, 2, 1.5)
