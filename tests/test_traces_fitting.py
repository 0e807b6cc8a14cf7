"""Distributions fitted to lives: the truth is found again, and doubts are spoken."""

import io
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from rounded_lives import reports
from ruamel.yaml import YAML

from ddsim.logs import Spells, fit, fit_spells, ks_distance, read, scenario_snippet
from ddsim.world.distributions import Distribution, Exponential, Weibull, from_spec

Array = NDArray[np.float64]


def _ended(durations: Array) -> Spells:
    return Spells(durations, np.ones(len(durations), dtype=np.bool_))


def _parameters(distribution: Distribution) -> dict[str, float]:
    return dict(distribution.specification()[1])


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("exponential", {"mean": 1_000.0}),
        ("weibull", {"shape": 0.6, "scale": 1_000.0}),
        ("gamma", {"shape": 3.0, "scale": 50.0}),
        ("lognormal", {"median": 600.0, "sigma": 0.9}),
    ],
)
@pytest.mark.slow
def test_the_family_that_the_lives_come_from_is_found_again(
    kind: str, params: Mapping[str, float]
) -> None:
    """Parameters come out within 5 of their asymptotic errors, about 1 / sqrt(n) each."""
    truth = from_spec(kind, params)
    spells = _ended(truth.sample(np.random.default_rng(1), 4_000))
    report = fit_spells(spells)
    found = next(one for one in report.fits if one.kind == kind)
    for name, value in params.items():
        assert _parameters(found.distribution)[name] == pytest.approx(
            value, rel=5.0 * 2.0 / math.sqrt(4_000)
        )
    # families that contain the true one may win by chance, others must not
    assert found.aic - report.fits[0].aic < 10.0


def test_fits_are_maxima_of_the_likelihood() -> None:
    """scipy's own maximum-likelihood fits of the single families are not likelier."""
    from scipy import stats

    lives = Weibull(0.8, 300.0).sample(np.random.default_rng(2), 300)
    report = {one.kind: one for one in fit_spells(_ended(lives)).fits}
    for kind, family in (
        ("weibull", stats.weibull_min),
        ("gamma", stats.gamma),
        ("lognormal", stats.lognorm),
    ):
        theirs = float(family.logpdf(lives, *family.fit(lives, floc=0)).sum())
        assert report[kind].log_likelihood >= theirs - 1e-3
    mean = float(lives.mean())
    assert report["exponential"].log_likelihood == pytest.approx(-300 * (math.log(mean) + 1.0))
    assert report["exponentiated_weibull"].log_likelihood >= report["weibull"].log_likelihood - 1e-6


def test_unended_lives_lengthen_the_fit() -> None:
    """With lives cut off at a time, the fit still finds the truth; ignoring that would not."""
    truth = Weibull(1.5, 100.0)
    lives = truth.sample(np.random.default_rng(3), 4_000)
    cut = Spells(np.minimum(lives, 80.0), lives <= 80.0)
    (right,) = fit_spells(cut, kinds=["weibull"]).fits
    (wrong,) = fit_spells(_ended(cut.durations), kinds=["weibull"]).fits
    assert _parameters(right.distribution)["scale"] == pytest.approx(100.0, rel=0.1)
    assert _parameters(right.distribution)["shape"] == pytest.approx(1.5, rel=0.1)
    assert _parameters(wrong.distribution)["scale"] < 75.0
    assert right.ks < 0.05


def test_an_exponential_with_unended_lives_has_the_mean_time_per_end() -> None:
    """The closed form: all time lived over the number of ends."""
    spells = Spells(
        np.array([5.0, 7.0, 11.0, 13.0, 2.0, 40.0]),
        np.array([True, True, True, True, True, False]),
    )
    (found,) = fit_spells(spells, kinds=["exponential"]).fits
    assert found.distribution.mean() == pytest.approx(78.0 / 5.0, rel=1e-5)
    assert found.aic == pytest.approx(2.0 + 2.0 * 5.0 * (math.log(78.0 / 5.0) + 1.0), rel=1e-9)


@pytest.mark.slow
def test_early_deaths_are_found_as_a_mixture() -> None:
    """Two populations come out with their shares, and one Weibull is called bad."""
    rng = np.random.default_rng(4)
    lives = np.concatenate(
        [Weibull(0.8, 60.0).sample(rng, 600), Weibull(3.0, 9e3).sample(rng, 900)]
    )
    report = fit_spells(_ended(lives))
    assert report.best is not None
    assert report.best.kind == "mixture"
    spec = report.best.distribution.specification()[1]
    assert spec["weights"] == pytest.approx([0.4, 0.6], abs=0.07)
    early, late = (component["weibull"] for component in spec["components"])
    assert early["scale"] == pytest.approx(60.0, rel=0.3)
    assert late["scale"] == pytest.approx(9e3, rel=0.1)
    said = " ".join(report.remarks)
    assert "a single Weibull fits badly" in said
    assert "a mixture of two Weibulls fits better than one" in said


@pytest.mark.slow
def test_a_time_limit_shows_as_late_mass() -> None:
    """Many lives in a narrow band at the upper end are remarked upon."""
    rng = np.random.default_rng(5)
    lives = Weibull(0.6, 7_200.0).sample(rng, 800)
    capped = np.where(lives > 20_000.0, 20_000.0 + rng.uniform(0.0, 300.0, 800), lives)
    assert any("late mass" in remark for remark in fit_spells(_ended(capped)).remarks)
    assert not any("late mass" in remark for remark in fit_spells(_ended(lives)).remarks)


def test_one_true_weibull_is_not_called_bad() -> None:
    """Lives from a Weibull leave nothing to remark."""
    lives = Weibull(0.7, 500.0).sample(np.random.default_rng(6), 1_000)
    assert fit_spells(_ended(lives)).remarks == ()


def test_lives_at_one_instant_do_not_draw_a_component() -> None:
    """Ties in rounded times do not pull a component of the mixture into a spike."""
    lives = np.round(Exponential(3_600.0).sample(np.random.default_rng(7), 120) / 60.0 + 1.0) * 60.0
    (found,) = fit_spells(_ended(lives), kinds=["mixture"]).fits
    for component in found.distribution.specification()[1]["components"]:
        scale, shape = component["weibull"]["scale"], component["weibull"]["shape"]
        assert 1.28 * scale / shape >= 60.0 or shape <= 3.0


def test_the_distance_is_that_of_kolmogorov_and_smirnov() -> None:
    """Without unended lives it is scipy's statistic."""
    from scipy import stats

    law = Weibull(1.2, 10.0)
    lives = law.sample(np.random.default_rng(8), 57)
    theirs = stats.kstest(lives, stats.weibull_min(1.2, scale=10.0).cdf)
    assert ks_distance(law, _ended(lives)) == pytest.approx(theirs.statistic)


def test_fits_are_ranked_by_aic() -> None:
    """The best comes first; to_dict() keeps the order."""
    lives = Weibull(0.7, 500.0).sample(np.random.default_rng(9), 200)
    report = fit_spells(_ended(lives))
    scores = [one.aic for one in report.fits]
    assert scores == sorted(scores)
    assert len(scores) == 6
    document = report.to_dict()
    assert document["ended"] == 200
    assert isinstance(document["fits"], list)
    assert [one["aic"] for one in document["fits"]] == scores


def test_too_few_lives_are_not_fitted() -> None:
    """Below five ends nothing is claimed."""
    report = fit_spells(_ended(np.array([1.0, 2.0, 3.0, 4.0])))
    assert report.fits == ()
    assert report.best is None
    assert "too few to fit" in report.remarks[-1]


def test_a_family_that_cannot_be_fitted_is_left_out_with_a_remark() -> None:
    """The others stand: whole hours, 5 and 6, of which no mixture of two has a likelihood."""
    report = fit_spells(_ended(3_600.0 * np.array([5.0, 5, 5, 5, 6, 6, 6, 6])))
    assert [one.kind for one in report.fits if one.kind == "mixture"] == []
    assert len(report.fits) == 5
    assert any(remark.startswith("mixture is left out") for remark in report.remarks)


def test_rounded_lives_are_fitted_as_intervals() -> None:
    """Lives in whole hours give back what they were rounded from; as densities they do not."""
    lives = Weibull(4.0, 2.0).sample(np.random.default_rng(12), 4_000)
    report = fit_spells(_ended(3_600.0 * np.round(lives)), kinds=["weibull"])
    assert _parameters(report.fits[0].distribution)["shape"] == pytest.approx(4.0, rel=0.03)
    assert any("each is fitted as an interval" in remark for remark in report.remarks)


@pytest.mark.slow
def test_every_table_of_whole_hours_has_a_summary() -> None:
    """5 to 12 lives of 1 to 24 hours; `python tests/rounded_lives.py` tries thousands."""
    assert len(reports(cases=12, seed=1)) == 12


def test_a_hundred_thousand_lives_are_taken_in_groups() -> None:
    """And the truth is found as from each of them, within its own error."""
    lives = Weibull(0.7, 5e4).sample(np.random.default_rng(13), 100_000)
    report = fit_spells(_ended(lives), kinds=["weibull"])
    assert _parameters(report.fits[0].distribution)["shape"] == pytest.approx(0.7, rel=0.01)
    assert _parameters(report.fits[0].distribution)["scale"] == pytest.approx(5e4, rel=0.02)


def test_lives_that_begin_and_end_at_one_instant_are_left_out_aloud() -> None:
    """A length of 0 has no likelihood; how many were left out is said."""
    report = fit_spells(_ended(np.array([0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0])), kinds=["weibull"])
    assert report.ended == 5
    assert report.remarks[0].startswith("2 of length 0")


def test_a_kind_without_likelihood_is_refused() -> None:
    """Families that are not fitted are named as such."""
    with pytest.raises(ValueError, match="'empirical' is not fitted; there are exponential"):
        fit_spells(_ended(np.array([1.0, 2.0])), kinds=["empirical"])


def _events(path: Path, lives: Array) -> Path:
    rows = [(0, "add", n) for n in range(len(lives))]
    rows += sorted((round(1e3 * life), "remove", n) for n, life in enumerate(lives.tolist()))
    path.write_text("".join(f"{time},{what},n{n}\n" for time, what, n in rows))
    return path


def test_a_snippet_of_events_holds_the_best_fit_and_the_replay(tmp_path: Path) -> None:
    """The YAML parses, names the trace, and its distribution is the fitted one."""
    lives = Weibull(0.5, 7_200.0).sample(np.random.default_rng(10), 200) + 1e-3
    trace = read(_events(tmp_path / "my trace.csv", lives))
    report = fit(trace)
    snippet = scenario_snippet(trace, report)
    document = YAML(typ="safe").load(io.StringIO(snippet))
    assert '# trace:\n#   file: "my trace.csv"\n' in snippet
    (cause,) = document["failures"]["causes"]
    assert cause["domain"] == "slice"
    assert report.best is not None
    assert list(cause["lifetime"]) == [report.best.kind]


def test_a_snippet_writes_times_with_their_units(tmp_path: Path) -> None:
    """Times carry units, numbers none, mixtures their components."""
    path = tmp_path / "lives.csv"
    rng = np.random.default_rng(11)
    lives = np.concatenate(
        [Weibull(1.0, 60.0).sample(rng, 300), Weibull(9.0, 9e4).sample(rng, 300)]
    )
    path.write_text("lifetime_s\n" + "".join(f"{life}\n" for life in lives.tolist()))
    trace = read(path)
    document = YAML(typ="safe").load(io.StringIO(scenario_snippet(trace, fit(trace))))
    mixture = document["failures"]["causes"][0]["lifetime"]["mixture"]
    assert sum(mixture["weights"]) == pytest.approx(1.0, abs=1e-5)
    early, late = (component["weibull"] for component in mixture["components"])
    assert isinstance(early["shape"], float)
    assert late["scale"].endswith(" day")
    assert float(late["scale"].split()[0]) == pytest.approx(9e4 / 86_400.0, rel=0.05)
    assert "trace" not in document


def test_counts_tell_the_mean_time_between_failures_of_a_node(tmp_path: Path) -> None:
    """From counts comes an exponential life: node-seconds over losses."""
    path = tmp_path / "counts.csv"
    path.write_text("0,10\n3600000,9\n7200000,8\n10800000,8\n")
    trace = read(path)
    report = fit(trace)
    assert "do not say which node left" in report.remarks[0]
    snippet = scenario_snippet(trace, report)
    (cause,) = YAML(typ="safe").load(io.StringIO(snippet))["failures"]["causes"]
    assert cause["lifetime"] == {"exponential": {"mean": "13.5 h"}}
    assert "# trace:\n#   file: counts.csv\n" in snippet


def test_a_trace_without_losses_claims_nothing(tmp_path: Path) -> None:
    """Where no node was lost the snippet holds the replay alone."""
    path = tmp_path / "calm.csv"
    path.write_text("0,10\n3600000,12\n")
    trace = read(path)
    document = YAML(typ="safe").load(io.StringIO(scenario_snippet(trace, fit(trace))))
    assert document == {"trace": {"file": "calm.csv"}}
