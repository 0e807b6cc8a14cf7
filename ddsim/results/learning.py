"""What a method's training says: curves of the loss, over seeds and over replications."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan
from statistics import fmean
from typing import TYPE_CHECKING

from ddsim.results.interval import student_interval
from ddsim.results.record import Learning

if TYPE_CHECKING:
    from ddsim.learning import Curve


def learned(curves: Sequence[Curve]) -> Learning:
    """Return the mean of trainings on one schedule, one for each seed.

    Where some diverged, the curve is the mean of the others, and the final loss, nan, has none.
    """
    whole = [curve for curve in curves if curve.diverged is None] or list(curves[:1])
    points = whole[0].points
    losses = [
        fmean(column)
        for column in zip(*([point.loss for point in curve.points] for curve in whole), strict=True)
    ]
    finals = [curve.final_loss for curve in curves]
    found: Learning = {
        "final_loss": fmean(finals) if all(map(isfinite, finals)) else nan,
        "initial_loss": fmean(curve.initial_loss for curve in curves),
        "curve": [
            [point.time, point.tokens, loss] for point, loss in zip(points, losses, strict=True)
        ],
        "steps": [point.steps for point in points],
        "tokens_merged": [point.merged for point in points],
        "final_losses": finals,
        "final_loss_ci95": _interval(finals),
        "diverged": [f"seed {curve.seed}: {curve.diverged}" for curve in curves if curve.diverged],
        "rates": whole[0].rates,
    }
    if whole[0].floor is not None:
        found["floor"] = whole[0].floor
    return found


def mean_learning(parts: Sequence[Learning | None]) -> Learning | None:
    """Return the mean over replications, point by point; None where nothing was trained.

    Curves of different lengths have no mean: the first one stands.
    """
    present = [part for part in parts if part is not None]
    if not present:
        return None
    alike = len({len(part["curve"]) for part in present}) == 1
    same = present if alike else present[:1]
    curves = [part["curve"] for part in same]
    mean: Learning = {
        "final_loss": fmean(part["final_loss"] for part in present),
        "initial_loss": fmean(part["initial_loss"] for part in present),
        "curve": [
            [fmean(column) for column in zip(*points, strict=True)]
            for points in zip(*curves, strict=True)
        ],
    }
    if "rates" in present[0]:
        mean["rates"] = present[0]["rates"]
    if "floor" in present[0]:
        mean["floor"] = present[0]["floor"]
    if all("final_losses" in part for part in present):
        finals = [loss for part in present for loss in part["final_losses"]]
        mean["steps"] = _mean_columns([part["steps"] for part in same])
        mean["tokens_merged"] = _mean_columns([part["tokens_merged"] for part in same])
        mean["final_losses"] = finals
        mean["final_loss_ci95"] = _interval(finals)
        mean["diverged"] = [line for part in present for line in part["diverged"]]
    return mean


def _mean_columns(columns: Sequence[Sequence[float]]) -> list[float]:
    return [fmean(values) for values in zip(*columns, strict=True)]


def _interval(values: Sequence[float]) -> list[float] | None:
    interval = student_interval(values) if all(map(isfinite, values)) else None
    return None if interval is None else list(interval)
