"""What streams make of a link: utilization against the round trip, and against loss."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, PercentFormatter

from ddsim.bandwidth.model import StepModel
from ddsim.bandwidth.streams import over_losses, over_round_trips
from ddsim.figures import style
from ddsim.theory.tcp import CONGESTIONS, Congestion

_POINTS = 17
_LINES = ("solid", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
_LEAST_SHADE = 0.35


def round_trips(
    model: StepModel,
    method: str = "decoupled_diloco",
    gbps: float = 5.0,
    streams: Sequence[int] = (1, 4, 16, 64),
    congestion: Congestion = "cubic",
    loss: float = 0.0,
    ax: Axes | None = None,
) -> Axes:
    """Draw a method's utilization over the round trip, one curve for each number of streams.

    `gbps` is the nominal bandwidth of a site; a stream has Linux's window.
    """
    ax = style.own_axes(3.4) if ax is None else ax
    times = np.geomspace(1e-3, 0.3, _POINTS)
    for turn, count in enumerate(streams):
        reached = over_round_trips(method, model, gbps, times.tolist(), count, congestion, loss)
        _curve(ax, times * 1e3, reached, method, turn, len(streams), _streams(count))
    ax.set_xlabel("round trip (ms)")
    lost = f", a loss of {loss:g}" if loss else ""
    _finish(ax, f"{style.words(method)} at {gbps:g} Gbit/s, {congestion}{lost}")
    return ax


def losses(
    model: StepModel,
    method: str = "decoupled_diloco",
    gbps: float = 5.0,
    streams: int = 8,
    congestions: Sequence[Congestion] = CONGESTIONS,
    ax: Axes | None = None,
) -> Axes:
    """Draw a method's utilization over the loss, one curve for each kind of congestion control.

    `gbps` is the nominal bandwidth of a site; a stream has Linux's window, and the model's latency
    makes the round trip.
    """
    ax = style.own_axes(3.4) if ax is None else ax
    shares = np.geomspace(1e-8, 0.3, _POINTS)
    for turn, congestion in enumerate(congestions):
        reached = over_losses(method, model, gbps, shares.tolist(), streams, congestion)
        _curve(ax, shares, reached, method, turn, len(congestions), congestion)
    ax.set_xlabel("share of packets that are lost")
    trip = f"{model.round_trip * 1e3:g} ms"
    _finish(ax, f"{style.words(method)} at {gbps:g} Gbit/s and {trip}, {_streams(streams)}")
    return ax


def _streams(count: int) -> str:
    return f"{count} stream{'s'[: count != 1]}"


def _curve(
    ax: Axes,
    across: np.ndarray[tuple[int], np.dtype[np.float64]],
    up: np.ndarray[tuple[int], np.dtype[np.float64]],
    method: str,
    turn: int,
    turns: int,
    label: str,
) -> None:
    """One of several curves of a method: told apart by lines, and by how strong its colour is."""
    ax.plot(
        across,
        up,
        color=style.method_colour(method),
        alpha=_LEAST_SHADE + (1.0 - _LEAST_SHADE) * (turn + 1) / turns,
        linestyle=_LINES[turn % len(_LINES)],
        linewidth=1.8,
        label=label,
    )


def _finish(ax: Axes, title: str) -> None:
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=""))
    ax.set_ylim(0, 1.02)
    ax.set_ylabel("compute utilization (%)")
    style.dress(ax)
    style.entitle(ax, title)
    ax.grid(axis="y", color=style.GRID, linewidth=0.8)
    handles, _ = ax.get_legend_handles_labels()
    style.legend_below(ax, handles, len(handles))
