"""The bandwidth study of a scenario."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol, cast

from numpy.typing import ArrayLike

from ddsim.bandwidth.model import (
    METHODS,
    Reading,
    Release,
    StepModel,
    check_method,
    is_data_parallel,
    table_reading,
)
from ddsim.bandwidth.study import BandwidthStudy, bandwidth_study
from ddsim.bandwidth.tables import TARGETS
from ddsim.scenario.hops import hop_latency, hop_streams, line_share
from ddsim.world.ring import in_order, ring_hops


class _Model(Protocol):
    @property
    def parameters(self) -> float: ...
    @property
    def layers(self) -> int: ...


class _Training(Protocol):
    @property
    def step_time(self) -> float | None: ...
    @property
    def inner_steps(self) -> int: ...
    @property
    def fragments(self) -> int: ...
    @property
    def overlap_steps(self) -> int: ...
    @property
    def gradient_bits(self) -> float: ...
    @property
    def payload_bits(self) -> float: ...


class _Cluster(Protocol):
    @property
    def learners(self) -> int | None: ...


class ScenarioLike(Protocol):
    """What a bandwidth study reads of a scenario.

    Besides these it takes note, where they exist, of `methods` and `for_method`, of the built
    `units()` and `regions()`, of `training.release`, and of the network's latency, efficiency,
    fixed cost and collective.
    """

    @property
    def model(self) -> _Model:
        """The model that is trained."""

    @property
    def training(self) -> _Training:
        """How it is trained, with one method's settings."""

    @property
    def cluster(self) -> _Cluster:
        """What it is trained on."""


def required_bandwidth(
    scenario: ScenarioLike,
    targets: Iterable[float] = TARGETS,
    datacenters: int | None = None,
    methods: Sequence[str] | None = None,
    *,
    gbps: ArrayLike | None = None,
    step_time: float | None = None,
    period: int | None = None,
    as_published: bool = False,
) -> BandwidthStudy:
    """The nominal bandwidth that each method needs for given utilizations, without failures.

    Every learner stands at a site of its own with the same WAN access, the bandwidth asked for;
    the scenario's own bandwidths do not enter. Latency and efficiency of its network do, and so do
    each method's own settings.

    targets: utilizations between 0 and 1.
    datacenters: sites in the ring; the scenario's learners when None.
    methods: names; when None those of the scenario that have a step model, or all that have one.
    gbps: bandwidths of the curves, Gbit/s; the published tables' grid when None.
    step_time: pure compute of a step in seconds; when None the slowest unit's, or
        `training.step_time` where the units are not built.
    period: steps between two fragments; when None they are staggered evenly over the round.
    as_published: the schedule, run length, grid and rounding of the published tables.
    Raises ValueError for unknown methods, targets out of range, and a step time given nowhere.
    """
    for method in methods or ():
        check_method(method)
    chosen = tuple(methods) if methods is not None else _scenario_methods(scenario)
    models, readings = {}, {}
    for method in METHODS:
        if method in chosen:
            seen = _settings(scenario, method)
            models[method] = step_model(seen, datacenters, step_time)
            readings[method] = reading_of(seen, method, period, as_published)
    study = bandwidth_study(
        models, targets, gbps=gbps, readings=readings, as_published=as_published
    )
    if getattr(scenario.cluster, "delay", None) is None:
        return study
    said = f"{study.convention}; waiting for data (cluster.delay) is left out"
    return replace(study, convention=said)


def step_model(
    scenario: ScenarioLike, datacenters: int | None = None, step_time: float | None = None
) -> StepModel:
    """The step model of a scenario with one method's settings in place."""
    training, network = scenario.training, getattr(scenario, "network", None)
    seconds = _slowest_step(scenario) if step_time is None else step_time
    if seconds is None:
        raise ValueError(
            "training.step_time is not given; a bandwidth study needs the pure compute of a step"
        )
    return StepModel(
        parameters=scenario.model.parameters,
        layers=scenario.model.layers,
        step_time=seconds,
        inner_steps=training.inner_steps,
        fragments=training.fragments,
        overlap_steps=training.overlap_steps,
        gradient_bits=training.gradient_bits,
        payload_bits=training.payload_bits,
        datacenters=_sites(scenario) if datacenters is None else datacenters,
        latency=_latency(scenario),
        efficiency=_efficiency(network),
        **_streams(scenario),
        sync_cost=getattr(network, "sync_cost", 0.0),
        collective=getattr(network, "collective", "ring"),
        server_apart=_server_apart(scenario),
    )


def reading_of(
    scenario: ScenarioLike, method: str, period: int | None = None, as_published: bool = False
) -> Reading:
    """The reading of a method with its settings in place; gradients always leave by layer."""
    training = scenario.training
    if as_published:
        return table_reading(training.inner_steps, training.fragments, period)
    own = None if is_data_parallel(method) else getattr(training, "release", None)
    release: Release = own or "by_layer"
    return Reading(period=period, release=release)


def _built_units(scenario: ScenarioLike) -> Sequence[Any]:
    """The units as the scenario builds them, where it can."""
    build = getattr(scenario, "units", None)
    return tuple(build()) if callable(build) else ()


def _slowest_step(scenario: ScenarioLike) -> float | None:
    """Step time of the slowest unit, who sets the pace in lock-step."""
    steps = [unit.step_time for unit in _built_units(scenario)]
    return max(steps, default=scenario.training.step_time)


def _sites(scenario: ScenarioLike) -> int:
    return len(_built_units(scenario)) or scenario.cluster.learners or 1


def _server_apart(scenario: ScenarioLike) -> bool:
    """Whether no unit stands where the parameter server does."""
    server = getattr(getattr(scenario, "network", None), "server", None)
    return server is not None and all(unit.region != server for unit in _built_units(scenario))


def _latency(scenario: ScenarioLike) -> float:
    """The longest latency of a region's access, or by place of a hop, else the network's."""
    regions = getattr(scenario, "regions", None)
    built = regions().values() if callable(regions) else ()
    nominal: float = getattr(getattr(scenario, "network", None), "latency", 0.0)
    if any(region.latency is None for region in built):
        network = cast(Any, scenario).network
        return max((hop_latency(network, *hop) for hop in _hops(scenario)), default=0.0)
    return max((region.latency for region in built), default=nominal)


def _hops(scenario: ScenarioLike) -> list[tuple[str, str]]:
    """The hops of an exchange among the regions of all units."""
    network = cast(Any, scenario).network
    regions = in_order(unit.region for unit in _built_units(scenario))
    if network.collective == "parameter_server":
        server = network.server or next(iter(network.regions))
        return [(region, server) for region in regions if region != server]
    return [hop for hop in ring_hops(regions) if hop[0] != hop[1]]


def _efficiency(network: Any) -> float:
    """What of a site's access a transfer may get: the least where streams lose some of it."""
    if not getattr(network, "has_streams", False):
        return float(getattr(network, "efficiency", 1.0))
    return min(line_share(network, region) for region in network.regions.values())


def _streams(scenario: ScenarioLike) -> dict[str, Any]:
    """The streams of the poorest hop, where anything is said of them."""
    network = cast(Any, getattr(scenario, "network", None))
    if not getattr(network, "has_streams", False):
        return {}
    found = [hop_streams(network, *hop) for hop in _hops(scenario)]
    known = [streams for streams in found if streams is not None]
    if not known:
        return {}
    poorest = min(known, key=lambda streams: (streams.rate, streams.first))
    return {
        "streams": poorest.count,
        "stream_rate": poorest.each,
        "first_window": poorest.first / poorest.count,
    }


def _scenario_methods(scenario: ScenarioLike) -> tuple[str, ...]:
    named = tuple(spec.name for spec in getattr(scenario, "methods", None) or ())
    return named or METHODS


def _settings(scenario: ScenarioLike, method: str) -> ScenarioLike:
    """The scenario as `method` sees it."""
    named = {spec.name for spec in getattr(scenario, "methods", None) or ()}
    if method not in named or not hasattr(scenario, "for_method"):
        return scenario
    return cast(ScenarioLike, cast(Any, scenario).for_method(method))
