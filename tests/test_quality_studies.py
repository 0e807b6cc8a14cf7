"""Studies of hours to a loss: who is first, and where nobody can say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

import ddsim
from ddsim import plot
from ddsim.report import study_report
from ddsim.results.telling import Told
from ddsim.study import plan
from ddsim.study.first import contests, interval_of
from ddsim.study.grid import CellName, build
from ddsim.study.results import Study
from ddsim.study.vary import axes_of
from ddsim.study.verdict import verdict
from ddsim.study.words import rivals_sentence

Ends = tuple[float | None, float | None, float | None]


def row(ends: Ends) -> dict[str, float | None]:
    """The numbers of one history whose hours are these: best, middle, worst."""
    names = ("hours_to_target_best", "hours_to_target", "hours_to_target_worst")
    return {"goodput": 0.9, **dict(zip(names, ends, strict=True))}


def study_of(found: Mapping[str, Sequence[Ends]], metric: str = "hours_to_target") -> Study:
    """A study of one setting: for each method the hours of its histories."""
    return Study(
        scenario="sample",
        seed=1,
        version="0.1.0",
        metric=metric,
        columns=("network.bandwidth",),
        cells=tuple(
            CellName(index, method, {"network.bandwidth": "5 Gbit/s"})
            for index, method in enumerate(found)
        ),
        rows={index: [row(ends) for ends in rows] for index, rows in enumerate(found.values())},
    )


def rivals(**found: Ends) -> tuple[str | None, list[str]]:
    """Who is first of these, and who cannot be told from it."""
    (one,) = contests(study_of({method: [ends] for method, ends in found.items()}))
    first = None if one.first is None else one.first.method
    return first, [cell.method for cell in one.rivals]


def test_the_least_middle_is_first_and_ends_that_disagree_cannot_be_told_apart() -> None:
    """What is open is the same for both: one behind at every end is so though intervals overlap."""
    found = rivals(data_parallel=(12, 12, 12), diloco=(12, 18, 30), decoupled_diloco=(8, 10, 13))
    assert found == ("decoupled_diloco", ["data_parallel"])


def test_a_verdict_says_of_two_what_their_paired_difference_says() -> None:
    """A common factor of the law that is wider than the gap makes no tie; a thousandth does."""
    ends = [(80.0 + n, 100.0 + n, 140.0 + n) for n in range(4)]
    worse = [
        (low * 1.5 + n / 9, mid * 1.5 + n / 7, high * 1.5)
        for n, (low, mid, high) in enumerate(ends)
    ]
    near = [
        (low + 0.01 + n / 900, mid + 0.01, high + 0.01) for n, (low, mid, high) in enumerate(ends)
    ]
    study = study_of({"decoupled_diloco": ends, "diloco": worse})
    assert contests(study)[0].rivals == ()
    assert "decoupled diloco is first" in verdict(study)
    tie = study_of({"decoupled_diloco": ends, "diloco": near})
    assert "differ by less than 0.1%, too little to matter" in verdict(tie)
    assert contests(tie)[0].why is Told.SMALL
    open_ended = study_of(
        {"decoupled_diloco": ends, "diloco": [(e[0], e[1] + 9, e[2]) for e in ends]}
    )
    assert "by the law, whose ends disagree" in verdict(open_ended)


def test_who_never_comes_there_is_not_first() -> None:
    """Nor is anybody, where nobody does."""
    assert rivals(diloco=(9, None, None), data_parallel=(40, 40, 40)) == (
        "data_parallel",
        ["diloco"],
    )
    assert rivals(diloco=(9, None, None)) == (None, [])


def test_what_histories_leave_open_moves_the_ends_out() -> None:
    """Two that differ by less than their histories do cannot be told apart."""
    spread = [(10.0, 10.0, 10.0), (14.0, 14.0, 14.0)]
    assert interval_of([row(ends) for ends in spread[:1]], "hours_to_target") == spread[0]
    low, mid, high = interval_of([row(ends) for ends in spread], "hours_to_target")
    assert mid == 12.0
    assert low is not None
    assert high is not None
    assert low < 0 < 14 < high


def test_other_metrics_have_no_first() -> None:
    """Goodput is no interval."""
    assert contests(study_of({"diloco": [(1, 2, 3)]}, "goodput")) == []
    with pytest.raises(ValueError, match="measure hours_to_target"):
        plot.first(study_of({"diloco": [(1, 2, 3)]}, "goodput"))


def test_the_figure_has_a_band_for_each_that_cannot_be_told_apart() -> None:
    """And the first's numbers in it."""
    study = study_of({"data_parallel": [(40, 40, 40)], "diloco": [(12, 18, None)]})
    ax = plot.first(study)
    assert len(ax.patches) == 2
    assert [text.get_text() for text in ax.texts] == ["18\n12 to never"]


SMALL = {
    "model.name": "llama3_8b",
    "duration": "20 min",
    "failures.chip_mtbi": "never",
    "cluster.jitter": 0,
}


@pytest.mark.slow
def test_the_shipped_question_has_ninety_cells() -> None:
    """Three sizes, three bandwidths, two levels of failure, five methods; none left out."""
    scenario = ddsim.load("which_method_first")
    grid = build(scenario, axes_of(scenario))
    assert (len(grid.cells), grid.left_out) == (90, ())


@pytest.mark.slow
def test_thin_links_leave_data_parallel_behind() -> None:
    """At 1 Gbit/s one of the family is first, and nobody but of the family beside it."""
    scenario = ddsim.load("which_method_first", SMALL)
    vary = {"network.bandwidth": ["1 Gbit/s"]}
    study = ddsim.sweep(scenario, vary, metric="hours_to_target", replications=1)
    (line,) = study.first().to_dict("records")
    family = {"diloco", "streaming_diloco", "decoupled_diloco"}
    assert {line["first"], *line["cannot_tell_apart_from"].split("; ")} <= family


def test_a_plan_names_whom_the_law_cannot_tell_from_the_best() -> None:
    """Two whose intervals overlap are apart where one is ahead at both ends of the law."""
    scenario = ddsim.load("which_method_first", SMALL)
    found = plan(
        scenario,
        {"training.inner_steps": [24, 48]},
        methods=["data_parallel", "diloco"],
        objective="hours_to_target",
        replications=1,
    )
    assert found.best.method == "diloco"
    values = [item.value for item in found.candidates]
    assert values == sorted(values)
    assert found.rivals == ()
    assert "both its ends, the same for all, leave it so" in str(rivals_sentence(found))
    best, *others = found.candidates
    doubted = replace(found, candidates=(best, *(replace(it, told=Told.LAW) for it in others)))
    assert "cannot tell the best apart from diloco with training.inner_steps=24" in str(
        rivals_sentence(doubted)
    )


@pytest.mark.slow
def test_the_report_of_a_study_shows_who_is_first() -> None:
    """As a map and as a table."""
    page = study_report(study_of({"data_parallel": [(40, 40, 40)], "diloco": [(12, 18, None)]}))
    assert "coloured by who is first" in page
    assert "cannot tell apart from" in page
