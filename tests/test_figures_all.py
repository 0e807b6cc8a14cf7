"""What holds for every figure: its picture, its words, its colours."""

from __future__ import annotations

from pathlib import Path

import pytest
from figure_checks import (
    assert_legible_in_a_column,
    assert_no_panel_is_empty,
    assert_words_are_whole_and_apart,
    figure_of,
    legend_names,
)
from image_comparison import BASELINE, assert_looks_like
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from sample_figures import FIGURES
from sample_reproductions import made

from ddsim.figures import style

pytestmark = pytest.mark.slow  # all of them are drawn

REPRODUCED = (
    "bandwidth",
    "hours",
    "page",
    "goodput",
    "uptime",
    "mixed",
    "measured_grid",
    "causes",
    "large_jobs",
    "twenty_fold",
    "sites",
    "scavenging",
    "isolation",
    "quality",
    "trends",
    "losses",
    "wan_sync",
    "storm",
    "restarts",
)


@pytest.fixture(scope="module")
def every() -> dict[str, Axes]:
    """Every figure by the name of its baseline."""
    figures = {name: make() for name, make in FIGURES.items()}
    for item in made().values():
        figures |= {f"reproduced_{name}": ax for name, ax in item.figures.items()}
    return figures


NAMES = [*FIGURES, *(f"reproduced_{name}" for name in REPRODUCED)]


def test_none_is_left_out(every: dict[str, Axes]) -> None:
    """The names above are all there are, and each has a baseline; all of them are small."""
    assert set(every) == set(NAMES)
    kept = list(BASELINE.glob("*.png"))
    assert {path.stem for path in kept} == set(NAMES)
    assert sum(path.stat().st_size for path in kept) < 120_000


@pytest.mark.parametrize("name", NAMES)
def test_it_looks_as_it_did(name: str, every: dict[str, Axes], tmp_path: Path) -> None:
    """The figure matches its baseline."""
    assert_looks_like(every[name], f"{name}.png", tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_no_word_is_cut_off_or_hidden(name: str, every: dict[str, Axes]) -> None:
    """Words lie inside the figure and not on each other."""
    assert_words_are_whole_and_apart(every[name])


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_read_in_a_column(name: str, every: dict[str, Axes]) -> None:
    """The smallest words are of six points when the figure is 3.4 inches wide."""
    assert_legible_in_a_column(every[name])


@pytest.mark.parametrize("name", NAMES)
def test_panels_have_data_and_axes_have_words(name: str, every: dict[str, Axes]) -> None:
    """Nothing is empty; an axis with numbers says what it counts."""
    assert_no_panel_is_empty(every[name])
    ax = every[name]
    assert ax.get_title(loc="left")
    for axis in (ax.xaxis, ax.yaxis):
        ticks = [text.get_text() for text in axis.get_ticklabels()]
        named = [text for text in ticks if text]
        if named and all(text.replace("\N{MINUS SIGN}", "-")[-1:].isdigit() for text in named):
            below = figure_of(ax).axes[-1].xaxis if axis is ax.xaxis else axis
            assert axis.label.get_text() or below.label.get_text(), name


@pytest.mark.parametrize("name", NAMES)
def test_a_method_has_its_colour_everywhere(name: str, every: dict[str, Axes]) -> None:
    """A line that is named after a method is of the method's colour."""
    called = {style.words(method): colour for method, colour in style.METHOD_COLOURS.items()}
    ax = every[name]
    legend = ax.get_legend() or next(iter(figure_of(ax).legends), None)
    if legend is None:
        return
    for handle, text in zip(legend.legend_handles, legend_names(ax), strict=True):
        method = text.split(",")[0]
        if method in called and handle is not None:
            shown = getattr(handle, "get_color", None) or getattr(handle, "get_facecolor", None)
            if shown is None:  # an error bar
                shown = handle.get_children()[0].get_color  # type: ignore[attr-defined]
            assert to_hex(shown()) == called[method], text
