"""What a bandwidth calculation is about: the model, the method and how a run is read."""

import math
from dataclasses import dataclass
from typing import Literal

from ddsim.naming import suggestion
from ddsim.theory.stepping import ring_factor

Release = Literal["by_layer", "end_of_step"]
Collective = Literal["ring", "hierarchical", "parameter_server"]

METHODS = (
    "data_parallel",
    "elastic_data_parallel",
    "diloco",
    "streaming_diloco",
    "decoupled_diloco",
)
"""Methods that have a step model, in the order in which results stand."""


@dataclass(frozen=True, slots=True)
class StepModel:
    """One training step and what its method sends, on equal sites without failures.

    parameters: of the whole model. layers: equal ones, that share them.
    step_time: pure compute of one step, in seconds.
    inner_steps: steps of a round (H). fragments: P. overlap_steps: tau.
    gradient_bits: bits per parameter that data-parallel sends at every step.
    payload_bits: bits per parameter of the outer gradients.
    datacenters: sites M that exchange; with one nothing is sent.
    latency: seconds of one of the phases of a collective.
    efficiency: share of the nominal bandwidth that a stream really gets.
    streams: connections that a transfer is sent over, None where nothing is known of them.
    stream_rate: what one of them gets at most, in bit/s. first_window: bits that one sends in its
        first round trip, of twice the latency, over an idle connection.
    sync_cost: seconds that every synchronization takes besides its bits and its phases.
    collective: a ring (hierarchical is the same, every site being a region), or a parameter
        server at one of the sites, which M - 1 others send to and receive from.
    server_apart: whether the parameter server stands at a site of its own, which sets no limit.
    """

    parameters: float
    layers: int
    step_time: float
    inner_steps: int = 24
    fragments: int = 24
    overlap_steps: int = 2
    gradient_bits: float = 16.0
    payload_bits: float = 32.0
    datacenters: int = 2
    latency: float = 0.0
    efficiency: float = 1.0
    sync_cost: float = 0.0
    collective: Collective = "ring"
    server_apart: bool = False
    streams: int | None = None
    stream_rate: float = math.inf
    first_window: float = math.inf

    def __post_init__(self) -> None:
        for name in ("parameters", "step_time", "gradient_bits", "payload_bits", "efficiency"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} is {value!r}; it has to be finite and above 0")
        for name in ("layers", "inner_steps", "fragments", "datacenters"):
            value = getattr(self, name)
            if value < 1 or value != int(value):
                raise ValueError(f"{name} is {value!r}; it has to be a whole number of at least 1")
        if self.overlap_steps < 0 or self.overlap_steps != int(self.overlap_steps):
            raise ValueError(
                f"overlap_steps is {self.overlap_steps!r}; it has to be a whole number, 0 or more"
            )
        if self.fragments > self.layers:
            raise ValueError(
                f"fragments is {self.fragments}; at most one per layer, and layers is {self.layers}"
            )
        for name in ("latency", "sync_cost"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} is {value!r}; it has to be finite and at least 0")
        if self.efficiency > 1:
            raise ValueError(f"efficiency is {self.efficiency!r}; it is at most 1")

    @property
    def round_trip(self) -> float:
        """Seconds until an answer is there."""
        return 2.0 * self.latency

    @property
    def connections(self) -> int:
        """Connections that the busiest site has in each direction, each of so many streams."""
        served = self.collective == "parameter_server" and not self.server_apart
        return max(1, self.datacenters - 1) if served else 1

    @property
    def most(self) -> float:
        """What its streams let through at the busiest site, in bit/s, however wide its access."""
        together = math.inf if self.streams is None else self.streams * self.stream_rate
        return together * self.connections

    @property
    def first(self) -> float:
        """Bits that the busiest site sends in the first round trip of an exchange."""
        together = math.inf if self.streams is None else self.streams * self.first_window
        return together * self.connections

    @property
    def piece(self) -> float:
        """Seconds of one of the 3 L - 1 equal pieces of a step: forward, or half a backward."""
        return self.step_time / (3 * self.layers - 1)

    @property
    def collective_latency(self) -> float:
        """Seconds that the phases of one collective and its fixed cost add."""
        return self.phases * self.latency + self.sync_cost

    @property
    def phases(self) -> int:
        """Phases of one collective: 2 (M - 1) of a ring, up and down of a parameter server."""
        return 2 if self.collective == "parameter_server" else 2 * (self.datacenters - 1)

    @property
    def wire_factor(self) -> float:
        """Bits through the busiest site in each direction for each bit of payload."""
        if self.collective == "parameter_server":
            return 1.0 if self.server_apart else float(self.datacenters - 1)
        return ring_factor(self.datacenters)

    def wire_bits(self, method: str) -> float:
        """Bits of the whole model sent once by `method` at the busiest site, in one direction."""
        bits = self.gradient_bits if is_data_parallel(method) else self.payload_bits
        return bits * self.parameters * self.wire_factor


@dataclass(frozen=True, slots=True)
class Reading:
    """How a run is scheduled and how its utilization is read.

    period: steps between two fragments of streaming_diloco and decoupled_diloco. None staggers
        them evenly, fragment p = 0 .. P - 1 at steps s with s mod H = floor(p H / P), s from 1. A
        whole number sends fragments in turn every so many steps, from the first step on.
    steps: length of the run; what is due by its last step is waited for, later receptions are not.
        None reads the long run, when start and end no longer count.
    release: what the lock-step methods send leaves layer by layer in the backward pass, or when the
        step has ended. decoupled_diloco always sends at the end of a step.
    """

    period: int | None = None
    steps: int | None = None
    release: Release = "by_layer"

    def __post_init__(self) -> None:
        for name in ("period", "steps"):
            value = getattr(self, name)
            if value is not None and (value < 1 or value != int(value)):
                raise ValueError(f"{name} is {value!r}; it has to be a whole number of at least 1")
        if self.release not in ("by_layer", "end_of_step"):
            raise ValueError(f"release is {self.release!r}; it is by_layer or end_of_step")


LONG_RUN = Reading()
"""The reading that agrees with a long simulated run."""


def table_period(inner_steps: int, fragments: int) -> int:
    """Steps between two fragments behind the published tables: floor(H / (P + 1)) + 1."""
    return inner_steps // (fragments + 1) + 1


def table_reading(inner_steps: int, fragments: int, period: int | None = None) -> Reading:
    """The reading behind the published tables: a run of 2 H steps at the tables' period."""
    chosen = table_period(inner_steps, fragments) if period is None else period
    return Reading(period=chosen, steps=2 * inner_steps)


def pure_compute(printed_step_time: float, layers: int) -> float:
    """Pure compute of a step whose time is printed as 3 L pieces: T (1 - 1 / (3 L)).

    The published tables print T; only 3 L - 1 of its pieces are computed.
    """
    return printed_step_time * (1.0 - 1.0 / (3 * layers))


def check_method(method: str) -> None:
    """Raise ValueError unless `method` has a step model."""
    if method not in METHODS:
        near = suggestion(method, METHODS)
        there = ", ".join(METHODS)
        raise ValueError(f"{method!r} has no step model; {near}those that have one: {there}")


def is_data_parallel(method: str) -> bool:
    """Whether `method` sends gradients at every step."""
    return method in ("data_parallel", "elastic_data_parallel")
