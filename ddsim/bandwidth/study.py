"""Required bandwidths and utilization curves of several methods side by side."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ddsim.bandwidth.flight import Flight, flights
from ddsim.bandwidth.model import (
    METHODS,
    Reading,
    StepModel,
    check_method,
    is_data_parallel,
    table_reading,
)
from ddsim.bandwidth.solve import required, utilization
from ddsim.bandwidth.tables import TARGETS, published_grid, required_on_grid

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MethodBandwidth:
    """One method's part of a study.

    required_gbps: per target utilization; infinity where latency keeps it out of reach.
    gbps, utilization: the curve.
    flights: per target, what its bandwidth has in flight and how many streams that takes; empty
        without latency.
    """

    method: str
    model: StepModel
    required_gbps: Mapping[float, float]
    gbps: FloatArray
    utilization: FloatArray
    flights: Mapping[float, Flight | None] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain data; a target out of reach is None."""
        return {
            "method": self.method,
            "required_gbps": {
                f"{target:g}": value if math.isfinite(value) else None
                for target, value in self.required_gbps.items()
            },
            "curve": [list(point) for point in zip(*self._curve(), strict=True)],
            "streams": {
                f"{target:g}": flight.to_dict() if flight else None
                for target, flight in self.flights.items()
            },
        }

    def _curve(self) -> tuple[list[float], list[float]]:
        return self.gbps.tolist(), self.utilization.tolist()


@dataclass(frozen=True, slots=True)
class BandwidthStudy:
    """What each method needs.

    convention: what the bits per second are counted of.
    exact: whether the required bandwidths are roots, and not read off a grid.
    """

    convention: str
    results: tuple[MethodBandwidth, ...]
    exact: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The document that `ddsim bandwidth --json` prints."""
        return {
            "convention": self.convention,
            "results": [result.to_dict() for result in self.results],
        }

    def to_frame(self) -> "pd.DataFrame":
        """Required bandwidths: one row per method and target, in Gbit/s."""
        import pandas as pd

        rows = [
            (result.method, target, value)
            for result in self.results
            for target, value in result.required_gbps.items()
        ]
        return pd.DataFrame(rows, columns=["method", "target", "required_gbps"])

    def curve_frame(self) -> "pd.DataFrame":
        """Curves: one row per method and bandwidth, in Gbit/s."""
        import pandas as pd

        parts = [
            pd.DataFrame(
                {"method": result.method, "gbps": result.gbps, "utilization": result.utilization}
            )
            for result in self.results
        ]
        return pd.concat(parts, ignore_index=True)


def bandwidth_study(
    models: Mapping[str, StepModel],
    targets: Iterable[float] = TARGETS,
    *,
    gbps: ArrayLike | None = None,
    readings: Mapping[str, Reading] | None = None,
    as_published: bool = False,
) -> BandwidthStudy:
    """Study several methods, each with its own step model.

    models: by method; they may differ in what they send. `every_method` makes them alike.
    targets: utilizations between 0 and 1.
    gbps: bandwidths of the curve; by default the published tables' grid, 0.1 to 1000 Gbit/s.
    readings: by method, how its run is scheduled; the long run where none is given.
    as_published: the schedule, run length, grid and rounding of the published tables in place of
        exact roots; `readings` may still replace schedule and run length.
    Raises ValueError for a method without a step model and for targets or bandwidths out of range.
    """
    wanted = tuple(float(target) for target in targets)
    points = published_grid() if gbps is None else np.atleast_1d(np.asarray(gbps, np.float64))
    results = []
    for method, model in models.items():
        check_method(method)
        read = (readings or {}).get(method) or _default_reading(model, as_published)
        if as_published:
            cells = required_on_grid(method, model, wanted, read)
            needed = {target: float(cell) for target, cell in cells.items()}
        else:
            needed = required(method, model, wanted, read)
        reached = utilization(method, model, points, read)
        flown = {} if as_published else flights(method, model, needed, read)
        results.append(MethodBandwidth(method, model, needed, points, reached, flown))
    return BandwidthStudy(convention(models, as_published), tuple(results), not as_published)


def _default_reading(model: StepModel, as_published: bool) -> Reading:
    return table_reading(model.inner_steps, model.fragments) if as_published else Reading()


def every_method(model: StepModel, methods: Sequence[str] = METHODS) -> dict[str, StepModel]:
    """The same step model for each of the methods."""
    return dict.fromkeys(methods, model)


def convention(models: Mapping[str, StepModel], as_published: bool = False) -> str:
    """What the bandwidths count: bits per parameter, the ring's factor, per site and direction."""
    bits = ", ".join(
        f"{method} {model.gradient_bits:g} (gradients)"
        if is_data_parallel(method)
        else f"{method} {model.payload_bits:g} (outer gradients)"
        for method, model in models.items()
    )
    links = "; ".join(dict.fromkeys(_links(model) for model in models.values()))
    read = (
        "read off the published tables' grid: last point below the target, their run and rounding"
        if as_published
        else "exact roots of the utilization in the long run without failures"
    )
    return (
        "nominal Gbit/s of a site's WAN access, per site and direction, full duplex; "
        f"{links}; bits per parameter: {bits}; {read}"
    )


def _links(model: StepModel) -> str:
    sites = model.datacenters
    served = model.collective == "parameter_server"
    if served and model.server_apart:
        who = f"parameter server apart from {sites} sites: each sends and receives the payload"
    elif served:
        who = (
            f"parameter server at one of {sites} sites: it sends and receives "
            f"M-1 = {sites - 1} times the payload"
        )
    else:
        who = (
            f"ring all-reduce of {sites} sites: each sends and receives "
            f"2(M-1)/M = {model.wire_factor:.4g} times the payload"
        )
    parts = [who]
    if model.streams is not None:
        parts.append(_streams(model))
    if model.efficiency != 1.0:
        lost = f"{1.0 - model.efficiency:g} of it lost and sent again"
        parts.append(f"efficiency {model.efficiency:g}" if model.streams is None else lost)
    if model.latency:
        words = "2" if served else f"2(M-1) = {model.phases}"
        parts.append(f"latency {model.latency:g} s in each of {words} phases")
    if model.sync_cost:
        parts.append(f"{model.sync_cost:g} s of fixed cost a synchronization")
    return ", ".join(parts)


def _streams(model: StepModel) -> str:
    """How a transfer is sent: over how many streams, which get what."""
    streams = f"{model.streams} stream{'s'[: model.streams != 1]} a connection"
    if math.isfinite(model.stream_rate):
        streams += f" of at most {model.stream_rate / 1e9:.4g} Gbit/s"
    return f"{streams}, with slow start" if model.round_trip else streams
