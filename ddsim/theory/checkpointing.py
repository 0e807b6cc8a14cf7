"""Checkpointing: how often to save, and what blocking saves and restarts cost.

Symbols: M mean time between failures of the job (`mtbf`), tau the work between two saves
(`interval`), delta the time of one save (`save`), R the time of one restart (`restart`), D a
downtime after each failure before the restart begins (`downtime`). All in seconds. Failures are
Poisson unless said otherwise.

Sources: J. W. Young, "A first order approximation to the optimum checkpoint interval", CACM 1974;
J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS
2006; A. Kokolis et al., "Revisiting reliability in large-scale machine learning research
clusters", arXiv 2410.21680 (ETTR); Google Cloud's ML goodput measurements (runtime goodput).
"""

import math

from ddsim.theory._checks import not_negative, positive


def young_interval(mtbf: float, save: float) -> float:
    """Young's interval sqrt(2 delta M): first order, for saves much shorter than the MTBF."""
    positive(mtbf=mtbf)
    not_negative(save=save)
    return math.sqrt(2.0 * save * mtbf)


def daly_interval(mtbf: float, save: float) -> float:
    """Daly's higher-order interval; the MTBF itself once a save takes 2 M or more.

    A perturbation series in sqrt(delta / 2M); restart and downtime do not enter.
    """
    positive(mtbf=mtbf)
    not_negative(save=save)
    if save >= 2.0 * mtbf:
        return mtbf
    ratio = save / (2.0 * mtbf)
    return math.sqrt(2.0 * save * mtbf) * (1.0 + math.sqrt(ratio) / 3.0 + ratio / 9.0) - save


def optimal_interval(mtbf: float, save: float) -> float:
    """The interval that maximises `checkpoint_goodput`: M (1 + W0(-exp(-delta/M - 1))).

    W0 is the principal branch of Lambert's function. Exact for exponential times between
    failures, whatever the restart and the downtime.
    """
    from scipy.special import lambertw  # scipy is heavy and only this function needs it

    positive(mtbf=mtbf)
    not_negative(save=save)
    if save < 1e-7 * mtbf:  # next to the branch point W0 loses the digits that the series keeps
        return daly_interval(mtbf, save)
    return mtbf * (1.0 + float(lambertw(-math.exp(-save / mtbf - 1.0)).real))


def expected_segment_time(
    mtbf: float, interval: float, save: float, restart: float, downtime: float = 0.0
) -> float:
    """Expected wall-clock from the start of one segment (work, then save) to its end.

    exp(R/M) (M + D) (exp((tau + delta)/M) - 1). Failures strike during work, saves and restarts,
    not during the downtime; after each the segment begins again from its start.
    """
    positive(mtbf=mtbf, interval=interval)
    not_negative(save=save, restart=restart, downtime=downtime)
    again = math.expm1((interval + save) / mtbf)
    return math.exp(restart / mtbf) * (mtbf + downtime) * again


def checkpoint_goodput(
    mtbf: float, interval: float, save: float, restart: float, downtime: float = 0.0
) -> float:
    """Long-run share of wall-clock that is work kept: interval / `expected_segment_time`."""
    return interval / expected_segment_time(mtbf, interval, save, restart, downtime)


def expected_lost_time(mtbf: float, segment: float) -> float:
    """Expected age of a segment at a failure, given that one fell into it.

    M - s / (exp(s/M) - 1); tends to s/2 for segments much shorter than the MTBF.
    """
    positive(mtbf=mtbf, segment=segment)
    if segment < 1e-5 * mtbf:  # the two terms cancel; the series is exact to 1e-17 there
        return segment / 2.0 - segment**2 / (12.0 * mtbf)
    return mtbf - segment / math.expm1(segment / mtbf)


def ettr_meta(
    nodes: float, node_failure_rate: float, restart: float, interval: float, save: float = 0.0
) -> float:
    """Effective training time ratio to first order in the failure rate, without queueing.

    (1 - N r (u0 + dt/2)) / (1 + w/dt), with r failures per node and second, u0 the restart, dt the
    checkpoint interval and w the save. Overstates the loss where failures are frequent, for a
    lost half interval is charged even to failures that hit a restart.
    """
    positive(nodes=nodes, interval=interval)
    not_negative(node_failure_rate=node_failure_rate, restart=restart, save=save)
    lost = nodes * node_failure_rate * (restart + interval / 2.0)
    return (1.0 - lost) / (1.0 + save / interval)


def google_runtime_goodput(
    interval: float, since_checkpoint: float, restart: float, remaining: float
) -> float:
    """Runtime goodput when exactly one failure falls into each interval of length I.

    (I - t_ch) / (I + t_re + t_rm): `since_checkpoint` t_ch is the work lost at the failure,
    `restart` t_re and `remaining` t_rm what the failure adds to the interval.
    """
    positive(interval=interval)
    not_negative(since_checkpoint=since_checkpoint, restart=restart, remaining=remaining)
    return (interval - since_checkpoint) / (interval + restart + remaining)
