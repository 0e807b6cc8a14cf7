"""How many steps and merges a method comes to."""

from __future__ import annotations

from collections import Counter
from math import expm1, floor, inf, isfinite
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from ddsim import quality
from ddsim.engine.goal import goal_of, last_of, outlook_of
from ddsim.engine.saves import saves_on
from ddsim.forecast.standing import JOBS, LOCKSTEP, Pace, meet
from ddsim.forecast.strikes import finite, rate_of, strikes
from ddsim.users import blamed
from ddsim.world import cluster as clusters
from ddsim.world.distributions import from_spec
from ddsim.world.instants import NEVER, SECOND, seconds, ticks
from ddsim.world.network import Network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ddsim.forecast.standing import Met
    from ddsim.scenario import Scenario
    from ddsim.world.cluster import Cluster
    from ddsim.world.histories import Histories
    from ddsim.world.ring import Ring
    from ddsim.world.timeline import Timeline

LOCAL = (*LOCKSTEP, "decoupled_diloco")
BESIDES = 64.0
"""Bits a parameter that a unit copies besides the moments where nobody beside it holds them."""
LOOKED_AT = 86400.0
"""Seconds of the links' course that are looked at."""
LEAST_MOVING = 1e-3
"""Share of its time in which what has a goal is expected to move at least."""
MOST_LOST = 100.0
"""Failures in an interval between saves that are told apart from more."""
FORWARD = 1 / 3
"""Share of a step after which the first of a job's layers leave."""


class Amount(NamedTuple):
    """What a method comes to in `span` seconds of a run.

    `steps` are those of one of the `units`, `nominal` those that all would take if nothing held
    them up, `slots` the times at which one of them merges, `saves` its saves that hold it up;
    `merges` are those of all. `step` is how long (s) one of its steps takes, `exchange` how long
    what is merged at once is on its way, `sent` what of that its links are busy; `copying` is the
    share of the time in which copies are beside it. `struck` and `drawn` are strikes on what is up,
    and all, `stops` those of the first that do not come while a job stands for others; `apart` says
    whether units take steps of their own, `crosses` whether what they exchange goes over links, of
    which `parts` do not always carry the same. The run ends at `goal` tokens, at the latest after
    `last` seconds; `returns` are how often a learner comes back that has to be given its state.
    """

    units: int
    span: float
    steps: float
    nominal: float
    slots: float
    saves: float
    merges: float
    step: float
    exchange: float
    sent: float
    copying: float
    struck: float
    drawn: float
    stops: float
    apart: bool
    crosses: bool
    parts: float
    goal: float
    last: float
    returns: float

    @property
    def all_steps(self) -> float:
        """Steps of all units where they step apart, else those of the job."""
        return self.steps * self.units if self.apart else self.steps

    def lasting(self, span: float) -> Amount:
        """The same of a run that lasts so long."""
        more = span / self.span
        counts = (
            "steps",
            "nominal",
            "slots",
            "saves",
            "merges",
            "struck",
            "drawn",
            "stops",
            "returns",
        )
        return self._replace(span=span, **{name: more * getattr(self, name) for name in counts})


def amount_of(
    scenario: Scenario, name: str, units: int | None, histories: Sequence[Histories]
) -> Amount:
    """What a method comes to in a run, with `units` as if there were so many equal ones.

    `histories` are those of the first replications, of which some of the beginning is met.
    """
    cluster = clusters.build(scenario)
    count = units or len(cluster.units)
    training = scenario.training
    pace = _pace(scenario, name, cluster)
    last, steps = _until(scenario, name, cluster)
    goal = steps * training.tokens_per_step
    span = min(last, steps * pace.round)
    copy = _copy(scenario, cluster, name)
    met = meet(scenario, name, cluster, pace, copy, span, histories)
    again = _again(scenario, name, cluster, met, steps * pace.round)
    span = min(last, span * again / max(met.moving, LEAST_MOVING))
    steps = span * met.moving / pace.round
    struck, drawn = strikes(scenario, span)
    if scenario.failures.age_while_down == "stops" or scenario.scavenging:  # much is not struck
        struck = drawn * met.hits
    merges = slots = steps * pace.slots
    if name == "streaming_diloco":  # fragments due at one step are merged one by one
        merges = steps * training.fragments / training.inner_steps
    if name in LOCKSTEP and isfinite(merges):  # what has begun by the end is not merged
        merges = float(floor(merges))
    if name == "async_local_sgd":  # a learner's last steps are not handed in
        merges = slots = count * floor(steps / training.inner_steps)
    regions = len({unit.region for unit in cluster.units})
    whole = [cause for cause in scenario.failures.causes if cause.domain in ("unit", "job")]
    crashes = sum(rate_of(cause, cluster, scenario, span) for cause in whole)
    return Amount(
        units=count,
        span=span,
        steps=steps,
        nominal=span * fmean(1.0 / unit.step_time for unit in cluster.units) * count,
        slots=slots,
        saves=steps * _saved(scenario, cluster, pace.step),
        merges=merges,
        step=pace.step,
        exchange=pace.exchange,
        sent=pace.sent,
        copying=min(1.0, met.losses * copy),
        struck=struck,
        drawn=drawn,
        stops=struck * met.apart if name in JOBS else struck,
        apart=name in LOCAL,
        crosses=regions > 1,
        parts=min(2.0 * regions, 1.0 + 2.0 * met.losses * span) if copy else 1.0,
        goal=goal,
        last=last,
        returns=(met.losses + crashes) * span,
    )


def _until(scenario: Scenario, name: str, cluster: Cluster) -> tuple[float, float]:
    """Seconds after which a run ends at the latest, and steps after which it has what it is for."""
    law = scenario.quality.law
    outlook = None
    if law in quality.names():  # a law of the user's own may not have been read yet
        with blamed(quality.get(law), f"law {law}"):
            outlook = outlook_of(scenario, name not in JOBS)
    goal = goal_of(scenario, outlook)
    last = last_of(scenario, goal, min(unit.step_time for unit in cluster.units))
    return min(last, seconds(NEVER - 1)), goal.all_merged / scenario.training.tokens_per_step


def _again(scenario: Scenario, name: str, cluster: Cluster, met: Met, goal: float) -> float:
    """How often all is computed, of `goal` seconds, where a failure takes back what is not saved.

    Failures are taken to come at any time alike: an interval is tried until none does.
    """
    saves = saves_on(scenario, cluster)
    if name not in JOBS or not met.undone or goal == inf:
        return 1.0
    if saves.none:
        apart = goal
    elif saves.steps is not None:
        apart = saves.steps * max(unit.step_time for unit in cluster.units)
    else:
        apart = seconds(saves.interval)
    lost = min(met.undone * min(apart, goal), MOST_LOST)
    return expm1(lost) / lost if lost else 1.0


def _pace(scenario: Scenario, name: str, cluster: Cluster) -> Pace:
    step = _step(scenario, name, cluster)
    slots = _slots(scenario, name)
    if name == "async_local_sgd":
        cycle, exchange = _cycle(scenario, cluster, step)
        inner = scenario.training.inner_steps
        return Pace(step, cycle / inner, exchange, exchange, 1.0 / inner)
    return Pace(step, *_rounds(scenario, name, cluster, step, slots), slots)


def _step(scenario: Scenario, name: str, cluster: Cluster) -> float:
    """Seconds from the beginning of a step to the next one's, data and saves included, of the unit
    that sets the pace: the slowest where all meet, the last of a quorum, the fastest of those that
    take as many steps as they can.
    """
    times = sorted(unit.step_time for unit in cluster.units)
    step = times[-1]
    if name == "decoupled_diloco":
        step = times[min(scenario.training.quorum, len(times)) - 1]
    elif name == "async_local_sgd":
        step = times[0]
    wait = scenario.cluster.delay
    if wait is not None:
        step += finite(from_spec(wait.kind, wait.params).mean())
    return step + _saved(scenario, cluster, step) * seconds(saves_on(scenario, cluster).length)


def _saved(scenario: Scenario, cluster: Cluster, step: float) -> float:
    """Saves that hold a unit up, for each of its steps of so many seconds."""
    saves = saves_on(scenario, cluster)
    if saves.none or not saves.length:
        return 0.0
    return 1.0 / saves.steps if saves.steps else step / max(step, seconds(saves.interval))


def _slots(scenario: Scenario, name: str) -> float:
    """Steps at which something is merged, of each step of a unit."""
    inner = scenario.training.inner_steps
    if name == "diloco":
        return 1.0 / inner
    return min(scenario.training.fragments, inner) / inner if name in LOCAL else 0.0


def _rounds(
    scenario: Scenario, name: str, cluster: Cluster, step: float, slots: float
) -> tuple[float, float, float]:
    """Seconds from step to step with what exchanges hold up, of one exchange, and on its links."""
    training = scenario.training
    ring = _ring(scenario, name, cluster)
    rate, latency = _rate(ring.rate), seconds(ring.latency)
    bits = training.payload_bits if name in LOCAL else training.gradient_bits
    sent = ring.bits(scenario.model.parameters * bits) / rate if ring.crosses else 0.0
    if name not in LOCAL:
        layers = scenario.model.layers
        leaving = step * (FORWARD + (1.0 - FORWARD) / layers)
        return max(step + sent / layers, leaving + sent) + latency, sent + latency, sent
    if name == "decoupled_diloco" and training.policy != "fixed":  # it sends what the links carry
        return step, min(step, sent) + latency, min(step, sent)
    apart = 1.0 / slots  # steps from one slot to the next
    sent *= apart / training.inner_steps
    exchange = sent + latency
    tau = 0 if name == "diloco" else training.overlap_steps
    if tau <= apart:
        gap = apart * step + max(0.0, exchange - tau * step)
    else:  # several are under way
        gap = max(apart * step, exchange * apart / tau)
    return max(gap, sent) / apart, exchange, sent


def _ring(scenario: Scenario, name: str, cluster: Cluster) -> Ring:
    """The exchange among all units, over links as they are planned to be."""
    network, training = _network(scenario), scenario.training
    regions = [unit.region for unit in cluster.units]
    if name == "decoupled_diloco" and training.syncer != "replicas":
        down = training.broadcast_bits / training.payload_bits
        return network.merge(training.syncer, regions, [True] * len(regions), down)
    return network.ring(regions)


def _cycle(scenario: Scenario, cluster: Cluster, step: float) -> tuple[float, float]:
    """Seconds from one update of a learner to the next, and at most those of them on the links.

    Learners come to send at one time, and to receive at another: each way takes what the busiest of
    its links needs for all of them. Those that stand with the server go on meanwhile: the mean is
    of rates.
    """
    network, training = _network(scenario), scenario.training
    server = scenario.network.server or next(iter(scenario.regions()))
    waits = [scenario.network.sync_cost for _ in cluster.units]
    for out, bits in ((True, training.payload_bits), (False, training.broadcast_bits)):
        ends = [(unit.region, server) if out else (server, unit.region) for unit in cluster.units]
        ways = [network.way(*each) for each in ends]
        sent = scenario.model.parameters * bits
        users = Counter(link for way in ways if way.crosses for link in way.links)
        for index, way in enumerate(ways):
            if way.crosses:
                busy = max(users[link] * sent / _rate(network.lines[link]) for link in way.links)
                waits[index] += max(busy, sent / _rate(way.rate)) + seconds(way.latency)
    compute = training.inner_steps * step
    return fmean(1.0 / (compute + wait) for wait in waits) ** -1, max(waits)


def _copy(scenario: Scenario, cluster: Cluster, name: str) -> float:
    """Seconds in which a unit that was lost gets its state from another, at most."""
    bits = scenario.restart.moment_bits
    here, *others = dict.fromkeys(unit.region for unit in cluster.units)
    if name not in LOCAL or not bits or not others:
        return 0.0
    network = _network(scenario)
    slowest = min(_rate(network.transfer(here, there).rate) for there in others)
    besides = 0.0 if name == "decoupled_diloco" else BESIDES
    whole = scenario.model.parameters * (bits + besides)
    return whole / (slowest * scenario.network.recovery_share)


def _network(scenario: Scenario) -> Network:
    """The links without what is drawn and without faults."""
    calm = {name: region.replaced(random=None) for name, region in scenario.regions().items()}
    links = tuple(link.replaced(random=None) for link in scenario.network.links)
    network = scenario.network.replaced(random=None, regions=calm, links=links)
    span = min(scenario.duration, LOOKED_AT)
    return Network(scenario.replaced(network=network, duration=span, chaos=()))


def _rate(line: Timeline) -> float:
    """What a link carries on average, in bit/s; the least that counts is a bit a second."""
    if all(rate == inf for rate in line.values):
        return inf
    return max(line.passed(0, ticks(LOOKED_AT)) * SECOND / ticks(LOOKED_AT), 1.0)
