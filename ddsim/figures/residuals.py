"""What a calibration leaves over: steps and synchronizations beside what was fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.axes import Axes

from ddsim.figures import style
from ddsim.figures.gallery import write_figure

if TYPE_CHECKING:
    from ddsim.calibration import Calibration, Holdout, Prediction
    from ddsim.logs.run_log import RunLog

_PANEL = 2.1
_WIDEST = 100.0
"""Percent beyond which a residual is drawn at the edge."""
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")


def residuals(found: Calibration, held: Holdout | None = None) -> Axes:
    """Draw what is left over: of steps over time, of synchronizations over their size if that
    varies, and, where a part was held out, of what was predicted. Returns the first axes.
    """
    estimates = found.estimates
    panels = []
    if estimates.get("step") is not None:
        panels.append("steps")
    if estimates.get("sync_per_byte") is not None:
        panels.append("syncs")
    if held is not None and held.predictions:
        panels.append("held")
    figure = style.own_figure(0.4 + _PANEL * max(1, len(panels)))
    axes = figure.subplots(max(1, len(panels)), squeeze=False)[:, 0]
    for ax, panel in zip(axes, panels, strict=False):
        if panel == "steps":
            _steps(ax, found, held)
        elif panel == "syncs":
            _syncs(ax, found)
        elif held is not None:
            _held(ax, held.predictions)
    if not panels:
        style.dress(axes[0], "No steps in the logs")
    first: Axes = axes[0]
    return first


def save_residuals(found: Calibration, held: Holdout | None, path: Path) -> Path:
    """Write the figure whole to `path`."""
    return write_figure(residuals(found, held), path)


def _percent(value: float, fitted: float) -> float:
    return max(-_WIDEST, min(_WIDEST, 100.0 * (value / fitted - 1.0)))


def _steps(ax: Axes, found: Calibration, held: Holdout | None) -> None:
    log: RunLog = found.log
    usual = found.estimates["step"].value
    for place, unit in enumerate(log.units):
        rows = [event for event in log.of("step") if event.unit == unit and event.duration]
        ax.plot(
            [event.time - log.start for event in rows],
            [_percent(event.duration or 0.0, usual) for event in rows],
            linestyle="none",
            marker=".",
            markersize=3,
            color=_COLOURS[place % len(_COLOURS)],
            label=unit,
        )
    if held is not None:
        ax.axvline(held.held.start - log.start, color=style.INK, linewidth=0.8, linestyle="dashed")
    ax.set_xlabel("time (s)")
    ax.set_ylabel("step, over fitted (%)")
    style.dress(ax, f"Steps beside the fitted {usual:.4g} s")


def _syncs(ax: Axes, found: Calibration) -> None:
    fixed, slope = found.estimates["sync_fixed"].value, found.estimates["sync_per_byte"].value
    timed = [event for event in found.log.of("sync") if event.bytes and event.duration]
    left = [
        _percent(event.duration or 0.0, fixed + slope * (event.bytes or 0.0)) for event in timed
    ]
    megabytes = [(event.bytes or 0.0) / 1e6 for event in timed]
    ax.plot(megabytes, left, linestyle="none", marker=".", markersize=4, color=style.INK)
    ax.set_xlabel("size of a synchronization (MB)")
    ax.set_ylabel("time, over fitted (%)")
    style.dress(ax, "Synchronizations beside a fixed cost and one a byte")


def _held(ax: Axes, predictions: Sequence[Prediction]) -> None:
    shown = [item for item in predictions if item.middle > 0.0]
    for place, item in enumerate(shown):
        ends = [_percent(value, item.middle) for value in (item.low, item.high)]
        ax.plot(ends, [place, place], color=_COLOURS[0], linewidth=4, solid_capstyle="butt")
        ax.plot(
            _percent(item.measured, item.middle),
            place,
            marker="o",
            markersize=6,
            markerfacecolor="none",
            markeredgecolor=style.INK,
        )
    style.name_places(ax.yaxis, list(range(len(shown))), [item.name for item in shown])
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlabel("beside the prediction (%): intervals, and rings for what was measured")
    style.dress(ax, "The part that was held out")
