"""Policies: what of a method's settings follows what it measures while it runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import signature
from math import ceil
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeVar

from ddsim.naming import shown
from ddsim.registry import Registry
from ddsim.scenario.errors import Problem, ScenarioError
from ddsim.scenario.fields import count
from ddsim.scenario.paths import Slot
from ddsim.scenario.training import Training
from ddsim.users import blame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ddsim.scenario.fields import Kind


class Settings(NamedTuple):
    """What a policy may set: bits a parameter, inner steps H, overlap tau in steps, quorum K."""

    payload_bits: float
    inner_steps: int
    overlap_steps: int
    quorum: int


def allowed(learners: int) -> dict[str, Kind]:
    """Return what each setting may be among so many learners, as a scenario's own may."""
    fields = ("payload_bits", "inner_steps", "overlap_steps")
    kinds = {name: Slot(f"training.{name}", Training, name).kind for name in fields}
    return {name: kind for name, kind in kinds.items() if kind} | {"quorum": count(1, learners)}


class Sight(NamedTuple):
    """What a policy sees, at a slot's closing, at an update's arrival, where a unit comes or goes.

    `slot` is the last that has closed, `now` in seconds. `scenario` are the scenario's settings,
    `current` those in force. `live` of `learners` are live, `failures` is how often one has been
    lost or has restarted so far. `step_times` are the mean seconds of compute of the live
    learners' steps. `bandwidth` is what the exchanges got from their slowest hop when one last
    ended, in bit/s, None before; `transfer_time` the seconds from closing to arrival that this one
    took, at `transfer_bits` bits a parameter, and `mean_transfer_time` the moving mean of those.
    `hop_bits` are what one bit a parameter of a fragment puts on every hop, `latency` is what an
    exchange takes besides its bits, in seconds, `fragments` how many there are.
    """

    slot: int
    now: float
    scenario: Settings
    current: Settings
    learners: int
    live: int
    failures: int
    step_times: tuple[float, ...]
    bandwidth: float | None
    transfer_time: float | None
    transfer_bits: float
    mean_transfer_time: float | None
    hop_bits: float
    latency: float
    fragments: int


class Policy(ABC):
    """Settings as a function of what is seen.

    Its options are the parameters of its `__init__`, each with a default. It is made for one run
    and may remember what it has seen.
    """

    name: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def decide(self, sight: Sight) -> Settings:
        """Return the settings from now on.

        Bits hold for the exchanges that begin from now on, K for the slots that have not closed,
        tau for what learners do next, H from the first slot that nobody has reached.
        """


P = TypeVar("P", bound=type[Policy])
POLICIES: Registry[type[Policy]] = Registry("policy", attribute="name")

names = POLICIES.names
"""Names of all policies."""

get = POLICIES.get
"""Return the policy of that name; UnknownNameError where there is none."""


def policy(name: str) -> Callable[[P], P]:
    """Register a class as the policy of that name; ValueError if another has it."""
    return POLICIES.register(name)


def options_of(name: str) -> tuple[str, ...]:
    """Names of a policy's options; UnknownNameError where there is no such policy."""
    return tuple(signature(get(name)).parameters)


def make(name: str, options: Mapping[str, object]) -> Policy:
    """Return a policy of that name.

    Raises UnknownNameError, ValueError for an unknown option, ScenarioError for one that the policy
    refuses.
    """
    known = options_of(name)
    for option in options:
        if option not in known:
            raise ValueError(f"policy {name} takes {', '.join(known) or 'no option'}, not {option}")
    try:
        return get(name)(**options)
    except BaseException as error:
        said = blame(error, get(name), f"policy {name}")
        if said is not None:
            raise said from error
        if not isinstance(error, TypeError | ValueError):
            raise
        given = ", ".join(f"{option}: {shown(value)}" for option, value in options.items())
        where = ("training.policy_options", None, None, f"policy {name}")
        raise ScenarioError([Problem(*where, given, str(error))]) from error


@policy("fixed")
class Fixed(Policy):
    """What the scenario says, always."""

    summary = "the scenario's settings throughout"

    def decide(self, sight: Sight) -> Settings:
        """Return the scenario's settings."""
        return sight.scenario


@policy("bandwidth_following")
class BandwidthFollowing(Policy):
    """Keeps what is exchanged within what the links carry while the learners step.

    All fragments together may take the share `load` of the time of H steps. Where they would
    take more, they get fewer bits, halved down to `least_bits`; where that is not enough, H grows
    to what is, so that each is exchanged less often; and tau grows to the steps that an exchange
    takes, by what is on the link and by the last one's measured time. It goes back as it came.
    """

    summary = "fewer bits, then more inner steps and overlap, as measured bandwidth falls"

    def __init__(self, load: float = 0.9, least_bits: float = 4.0) -> None:
        if not 0.0 < load <= 1.0 or least_bits <= 0.0:
            raise ValueError("load is a share above 0, least_bits a number above 0")
        self.load = load
        self.least_bits = least_bits

    def decide(self, sight: Sight) -> Settings:
        """Return settings with which the links carry what is exchanged."""
        scenario, current = sight.scenario, sight.current
        step = min(sight.step_times, default=0.0)
        rate = sight.bandwidth
        if rate is None or rate <= 0.0 or step <= 0.0:
            return current
        bits = scenario.payload_bits
        busy = sight.fragments * sight.hop_bits / rate / (self.load * step)
        while bits * busy > scenario.inner_steps and bits / 2 >= self.least_bits:
            bits /= 2
        needed = max(scenario.inner_steps, ceil(bits * busy))
        # A link that varies a little must not change the schedule all the time.
        kept = needed <= current.inner_steps <= 1.25 * needed
        steps = current.inner_steps if kept and needed > scenario.inner_steps else needed
        taken = bits * sight.hop_bits / rate + sight.latency
        if sight.transfer_time is not None and sight.transfer_bits == bits:
            taken = max(taken, sight.transfer_time)
        # An answer leaves within a step's time of the others', so that one more is needed.
        most = max(scenario.overlap_steps, steps - 1)
        overlap = min(most, max(scenario.overlap_steps, ceil(taken / step) + 1))
        if steps > scenario.inner_steps and overlap == current.overlap_steps - 1:
            overlap = current.overlap_steps
        return Settings(bits, steps, overlap, current.quorum)


@policy("quorum_following")
class QuorumFollowing(Policy):
    """Asks for the share `share` of the learners that are live, at most the scenario's K."""

    summary = "a quorum that falls with the learners that are live, and rises again"

    def __init__(self, share: float = 1.0) -> None:
        if not 0.0 < share <= 1.0:
            raise ValueError("share is a share above 0")
        self.share = share

    def decide(self, sight: Sight) -> Settings:
        """Return the settings in force with a quorum that those that are live can reach."""
        quorum = max(1, min(sight.scenario.quorum, ceil(self.share * sight.live - 1e-9)))
        return sight.current._replace(quorum=quorum)
