"""Goodput of data-parallel training and of the DiLoCo family under failures.

Failures are Poisson and cost a stall of fixed length; no work is lost. Unless said otherwise
nothing fails while it is stalled ("clock stops"). Rates are failures per second of one learner
unit, times seconds. Derived from first principles; the model of M learners is that behind the
goodput figures of Decoupled DiLoCo, arXiv 2604.21428.
"""

import math

from ddsim.theory._checks import not_negative, positive
from ddsim.theory.availability import at_least


def learners_goodput(learners: int, chips: float, chip_mtbi: float, downtime: float) -> float:
    """Goodput of M independent learners on N chips in all: 1 / (1 + N D / (M mtbi)).

    Each failure of a chip stalls its own learner for D; the quorum never blocks.
    """
    positive(learners=learners, chips=chips, chip_mtbi=chip_mtbi)
    not_negative(downtime=downtime)
    return 1.0 / (1.0 + chips * downtime / (learners * chip_mtbi))


def merge_uptime(
    learners: int, quorum: int, chips: float, chip_mtbi: float, downtime: float
) -> float:
    """Share of time in which at least K of M independent learners can step."""
    each = learners_goodput(learners, chips, chip_mtbi, downtime)
    return at_least(learners, quorum, each)


def decoupled_learner_goodput(rate: float, downtime: float) -> float:
    """Goodput of a learner that waits for nobody: 1 / (1 + lambda D)."""
    not_negative(rate=rate, downtime=downtime)
    return 1.0 / (1.0 + rate * downtime)


def sync_dp_goodput(learners: int, rate: float, downtime: float) -> float:
    """Goodput when every failure of any of M learners stalls all: 1 / (1 + M lambda D).

    The limit of `sync_every_step_goodput` for steps much shorter than the time between failures.
    """
    positive(learners=learners)
    return decoupled_learner_goodput(learners * rate, downtime)


def sync_diloco_round_goodput(learners: int, rate: float, work: float, downtime: float) -> float:
    """Goodput of a synchronous round: all M learners do `work` seconds, then meet.

    W / (W + D E[max of M Poisson(lambda W) counts]): each learner's failures within its own work
    cost it D each, and the unluckiest one sets the length of the round.
    """
    from scipy.special import pdtr, pdtrc

    positive(learners=learners, work=work)
    not_negative(rate=rate, downtime=downtime)
    mean = rate * work
    expected_most = 0.0
    count = 0
    while True:
        beyond = float(pdtrc(count, mean))
        if beyond < 0.5:  # 1 - F^M without cancellation
            term = -math.expm1(learners * math.log1p(-beyond))
        else:
            term = 1.0 - float(pdtr(count, mean)) ** learners
        expected_most += term
        if count > mean and term < 1e-15 * max(expected_most, 1e-300):
            break
        count += 1
    return work / (work + downtime * expected_most)


def sync_every_step_goodput(learners: int, rate: float, step: float, downtime: float) -> float:
    """Goodput with a barrier at every step of `step` seconds: a round of one step."""
    return sync_diloco_round_goodput(learners, rate, step, downtime)


def elastic_dp_goodput(
    slices: int, slice_rate: float, repair: float, downscale: float, upscale: float
) -> float:
    """Goodput of one elastic job: the fixed point of stalls and missing slices.

    f, the share of time in which the job moves, is 1 / (1 + S a l (Dd + Du)); a, the share of
    slices that is up, is 1 / (1 + l f R); goodput is a f. A mean-field approximation, good to
    about 1%: stalls follow one another, slices fail only while the job steps, repair takes R of
    wall-clock, throughput goes with the slices that are up.
    """
    positive(slices=slices)
    not_negative(slice_rate=slice_rate, repair=repair, downscale=downscale, upscale=upscale)
    moving = 1.0
    for _ in range(10_000):
        up = 1.0 / (1.0 + slice_rate * moving * repair)
        new = 1.0 / (1.0 + slices * up * slice_rate * (downscale + upscale))
        settled = abs(new - moving) <= 1e-15
        moving = (new + moving) / 2.0  # damped: the plain iteration can swing
        if settled:
            break
    return moving / (1.0 + slice_rate * moving * repair)


def slowest_of_exponential(parts: int, mean_excess: float) -> float:
    """Mean of the largest of n exponential delays: mean x (1 + 1/2 + ... + 1/n).

    What a step adds to its base when n parts each have an exponential tail.
    """
    positive(parts=parts)
    not_negative(mean_excess=mean_excess)
    return mean_excess * math.fsum(1.0 / i for i in range(1, parts + 1))
