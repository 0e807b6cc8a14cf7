"""From totals to units and regions: who stands where, with what, and how long a step takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ddsim.scenario.catalogue import CHIPS, MODELS
from ddsim.scenario.cluster import Cluster, Unit
from ddsim.scenario.contents import Contents
from ddsim.scenario.learning import Learning
from ddsim.scenario.network import Link, Network, Region, Tcp
from ddsim.scenario.places import place_latency
from ddsim.scenario.recovery import Checkpoint, Restart
from ddsim.scenario.section import Section
from ddsim.scenario.training import Model, Training
from ddsim.scenario.variation import Varying

BITS_SAVED = 8 * 14.0
"""Bits a parameter in a save: 16-bit weights, a 32-bit master copy and two 32-bit moments."""


@dataclass(frozen=True, slots=True)
class BuiltUnit:
    """A learner unit as built; ``step_time`` is the pure compute of one of its steps in s."""

    name: str
    region: str
    chip: str
    chips: int
    chips_per_slice: int
    step_time: float
    spares: int
    host: str = ""
    step_time_alone: float | None = None


def lay_out(scenario: Contents) -> Contents:
    """The scenario with model, fragments, units and regions filled in; it has passed its checks."""
    model = _model(scenario.model)
    cluster = _cluster(scenario.cluster, scenario.network)
    filled: Contents = scenario.replaced(
        model=model,
        training=_training(scenario.training, model),
        learning=_learning(scenario.learning, scenario.training),
        cluster=cluster,
        network=_network(scenario.network, cluster),
        checkpoint=_checkpoint(scenario.checkpoint, model),
        restart=_restart(scenario.restart, cluster),
    )
    return filled


def worked_out(scenario: Contents) -> dict[str, Section]:
    """The sections, by key, in which values that are not given follow from others."""
    model = _model(scenario.model)
    return {"model": model, "checkpoint": _checkpoint(scenario.checkpoint, model)}


def unit_count(cluster: Cluster) -> int:
    """Number of units."""
    return len(cluster.units) or cluster.learners


def even_parts(total: int, parts: int) -> list[int]:
    """``total`` in equal parts of which the last is smaller where they cannot be equal.

    Where that would leave nothing for the last ones (10 in 6), no two differ by more than 1.
    """
    part = -(-total // parts)
    last = total - part * (parts - 1)
    if last >= 1:
        return [part] * (parts - 1) + [last]
    part, larger = divmod(total, parts)
    return [part + 1] * larger + [part] * (parts - larger)


def unit_chips(cluster: Cluster) -> list[int]:
    """Chips of each unit: its own, or its part of what the others leave of `cluster.chips`."""
    if not cluster.units:
        return even_parts(cluster.chips, cluster.learners)
    own = [unit.chips for unit in cluster.units]
    without = own.count(0)
    shares = iter(even_parts(cluster.chips - sum(own), without) if without else ())
    return [chips or next(shares) for chips in own]


def _model(model: Model) -> Model:
    known = MODELS.get(model.name or "")
    parameters = model.parameters or (known.parameters if known else 0.0)
    layers = model.layers or (known.layers if known else 0)
    flops = model.flops_per_token or 6.0 * parameters
    filled: Model = model.replaced(parameters=parameters, layers=layers, flops_per_token=flops)
    return filled


def _checkpoint(checkpoint: Checkpoint, model: Model) -> Checkpoint:
    size = checkpoint.size or BITS_SAVED * model.parameters
    time = size / checkpoint.bandwidth if checkpoint.bandwidth else 0.0
    filled: Checkpoint = checkpoint.replaced(
        size=size,
        save=checkpoint.save if checkpoint.given("save") else time,
        restore=checkpoint.restore if checkpoint.given("restore") else time,
    )
    return filled


def _restart(restart: Restart, cluster: Cluster) -> Restart:
    beside = sum(unit.spares for unit in cluster.units)
    filled: Restart = restart.replaced(spares=beside or restart.spares)
    return filled


def _training(training: Training, model: Model) -> Training:
    fragments = min(training.inner_steps, model.layers)
    scales = training.scale_bits / training.payload_block if training.payload_block else 0.0
    filled: Training = training.replaced(
        fragments=training.fragments if training.given("fragments") else fragments,
        payload_bits=number_bits(training) + scales,
        compression=1.0,
        scale_bits=0.0 if training.payload_block else training.scale_bits,  # now in payload_bits
    )
    return filled


def number_bits(training: Training) -> float:
    """Bits in which one number of an outer gradient is sent, without scales."""
    return training.payload_bits / training.compression


def _learning(learning: Learning, training: Training) -> Learning:
    """Bits of numbers as they are before scales are counted in."""
    bits = number_bits(training)
    if learning.problem is None or learning.quantization.bits is not None or bits != int(bits):
        return learning
    quantization = learning.quantization.replaced(bits=int(bits))
    filled: Learning = learning.replaced(quantization=quantization)
    return filled


def _cluster(cluster: Cluster, network: Network) -> Cluster:
    built = _units(cluster, tuple(network.regions))
    total = sum(unit.chips for unit in built)
    filled: Cluster = cluster.replaced(units=built, learners=len(built), chips=total)
    return filled


def _units(cluster: Cluster, regions: tuple[str, ...]) -> tuple[Unit, ...]:
    if not cluster.units:
        return _equal(cluster.learners, cluster.chips, cluster.chips_per_slice, regions)
    return tuple(
        _unit(index, unit, chips, cluster.chips_per_slice, regions)
        for index, (unit, chips) in enumerate(zip(cluster.units, unit_chips(cluster), strict=True))
    )


@lru_cache(maxsize=4)  # a scenario is laid out for each of its methods, and may have many units
def _equal(learners: int, chips: int, size: int, regions: tuple[str, ...]) -> tuple[Unit, ...]:
    nameless = Unit()
    return tuple(
        _unit(index, nameless, part, size, regions)
        for index, part in enumerate(even_parts(chips, learners))
    )


def _unit(index: int, unit: Unit, chips: int, size: int, regions: tuple[str, ...]) -> Unit:
    filled: Unit = unit.replaced(
        name=unit.name or f"unit {index}",
        region=unit.region or (regions[index % len(regions)] if regions else f"region {index}"),
        chips=chips,
        chips_per_slice=min(unit.chips_per_slice or size, chips),  # one that is smaller is a slice
    )
    return filled


def _network(network: Network, cluster: Cluster) -> Network:
    alike = Region()
    regions = network.regions or {unit.region: alike for unit in cluster.units}
    if not network.given("latency") and any(region.place for region in regions.values()):
        network = network.replaced(latency=None)
    once = {id(region): region for region in regions.values()}
    resolved = {key: _region(region, network) for key, region in once.items()}
    filled: Network = network.replaced(
        regions={name: resolved[id(region)] for name, region in regions.items()},
        links=tuple(_link(link, network, regions) for link in network.links),
        # every region's access has its own now
        schedule=(),
        repeat=None,
        trace=None,
        random=None,
    )
    return filled


def _region(region: Region, network: Network) -> Region:
    bandwidth = region.bandwidth if region.given("bandwidth") else network.bandwidth
    filled: Region = region.replaced(
        bandwidth=bandwidth,
        upload=region.upload if region.given("upload") else bandwidth,
        download=region.download if region.given("download") else bandwidth,
        latency=region.latency if region.given("latency") else network.latency,
        price=region.price if region.given("price") else network.price,
        **_streams(region, network),
        **_variation(region, network),
    )
    return filled


def _streams(part: Region | Link, network: Network) -> dict[str, Tcp]:
    """The streams of a region, or of a link that has its own: what it says, else the network."""
    own = part.given("tcp")
    if not own and not (isinstance(part, Region) and network.given("tcp")):
        return {}
    known = network.tcp.model_dump(exclude_unset=True) if network.given("tcp") else {}
    if own:
        known |= part.tcp.model_dump(exclude_unset=True)
    return {"tcp": Tcp().replaced(**known)}


def _variation(region: Varying, network: Varying) -> dict[str, object]:
    """What varies of a region's access: its own, else the network's."""
    known = network if not (region.given("schedule") or region.given("trace")) else region
    return {
        "schedule": known.schedule,
        "repeat": known.repeat,
        "trace": known.trace,
        "random": region.random if region.given("random") else network.random,
    }


def _link(link: Link, network: Network, regions: Mapping[str, Region]) -> Link:
    latency = link.latency if link.given("latency") else network.latency
    if latency is None:
        here, there = (regions[name] for name in link.between)
        latency = max(here.latency or 0.0, there.latency or 0.0)
        if here.place and there.place:
            latency = place_latency(here.place, there.place, network.route_factor)
    filled: Link = link.replaced(
        bandwidth=link.bandwidth if link.given("bandwidth") else network.bandwidth,
        latency=latency,
        **_streams(link, network),
    )
    return filled


def peak(chip: str | None, speed: float | None) -> float | None:
    """Peak compute of a chip in FLOP/s: its given speed, else the catalogue's."""
    if speed is not None:
        return speed
    known = CHIPS.get(chip or "")
    return known.flops if known else None


def built_units(scenario: Contents) -> tuple[BuiltUnit, ...]:
    """The units of a scenario that is laid out."""
    return tuple(
        BuiltUnit(
            name=unit.name,
            region=unit.region,
            chip=unit.chip or scenario.cluster.chip or "chip",
            chips=unit.chips,
            chips_per_slice=unit.chips_per_slice,
            step_time=step_time(scenario, unit),
            spares=unit.spares,
            host=unit.host,
            step_time_alone=unit.step_time_alone,
        )
        for unit in scenario.cluster.units
    )


def step_time(scenario: Contents, unit: Unit) -> float:
    """Pure compute of a unit's step in s.

    Its own step time; else the nominal one over its speed, scaled to its chip where that differs
    from the cluster's; else tokens x FLOP per token over what the chips reach. A unit does its
    chips' share of a step's tokens, so that its size does not matter.
    """
    if unit.step_time is not None:
        return unit.step_time
    cluster, training = scenario.cluster, scenario.training
    nominal = peak(cluster.chip, cluster.chip_speed)
    own = peak(unit.chip, unit.chip_speed) or nominal
    if training.step_time is not None:
        scale = nominal / own if nominal and own else 1.0
        return training.step_time * scale / unit.speed
    if own is None:
        raise ValueError(f"nothing gives the step time of {unit.name}")
    flops = training.tokens_per_step / cluster.chips * scenario.model.flops_per_token
    return flops / (own * cluster.mfu * unit.speed)
