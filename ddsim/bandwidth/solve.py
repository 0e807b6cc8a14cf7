"""Utilization of a method over bandwidth, and the bandwidth that a utilization needs."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ddsim.bandwidth.decoupled import DecoupledRun
from ddsim.bandwidth.long_run import long_run_cycle
from ddsim.bandwidth.model import LONG_RUN, Reading, StepModel, check_method
from ddsim.bandwidth.recurrence import LockStepRun
from ddsim.bandwidth.schedule import schedule

FloatArray = NDArray[np.float64]
Run = LockStepRun | DecoupledRun

# Bits per second in place of infinity, which differences of times cannot bear.
_UNLIMITED = 1e40


def utilization(
    method: str, model: StepModel, gbps: ArrayLike, reading: Reading = LONG_RUN
) -> FloatArray:
    """Compute utilization at each nominal bandwidth, in the shape of `gbps`.

    gbps: Gbit/s of each site in each direction, above 0; infinity is no limit.
    Raises ValueError for a method without a step model or a bandwidth that is not above 0.
    """
    check_method(method)
    nominal = np.asarray(gbps, dtype=np.float64)
    if not np.all(nominal > 0):
        raise ValueError("gbps has to be above 0 everywhere")
    rate = np.minimum(nominal.ravel() * 1e9 * model.efficiency, min(model.most, _UNLIMITED))
    if model.datacenters == 1:
        return np.ones(nominal.shape)
    plan = schedule(method, model, reading)
    run: Run
    if method == "decoupled_diloco":
        run = DecoupledRun(model, plan, rate)
    else:
        run = LockStepRun(model, plan, rate, reading.release)
    if reading.steps is None:
        wall = long_run_cycle(run, plan, rate, model.step_time) / plan.cycle
    else:
        for _ in range(reading.steps):
            run.advance()
        wall = run.settled() / reading.steps
    return np.minimum(model.step_time / wall, 1.0).reshape(nominal.shape)


def required(
    method: str,
    model: StepModel,
    targets: Iterable[float],
    reading: Reading = LONG_RUN,
) -> dict[float, float]:
    """Least nominal bandwidth, in Gbit/s, for each utilization; by root finding, to 1e-12.

    0 where nothing need be sent, infinity where latency keeps the target out of reach.
    """
    from scipy.optimize import elementwise

    wanted = [float(target) for target in targets]
    for target in wanted:
        if not 0.0 < target < 1.0:
            raise ValueError(f"a target utilization is {target!r}; it lies between 0 and 1")
    scale = model.wire_bits(method) / model.step_time / 1e9 / model.efficiency
    if model.datacenters == 1:
        return dict.fromkeys(wanted, 0.0)
    probes = scale * 2.0 ** np.arange(-30.0, 31.0)
    reached = utilization(method, model, probes, reading)
    found: dict[float, float] = {}
    open_targets = []
    for target in wanted:
        if reached[0] >= target:
            found[target] = 0.0
        elif reached[-1] < target:
            found[target] = math.inf
        else:
            open_targets.append(target)
    if open_targets:
        goals = np.array(open_targets)
        upper = np.argmax(reached[:, None] >= goals, axis=0)

        def excess(log_gbps: FloatArray, goal: FloatArray) -> FloatArray:
            return utilization(method, model, np.exp(log_gbps), reading) - goal

        bracket = (np.log(probes[upper - 1]), np.log(probes[upper]))
        root = elementwise.find_root(
            excess, bracket, args=(goals,), tolerances={"xatol": 1e-12, "xrtol": 1e-14}
        )
        found.update(zip(open_targets, np.exp(root.x).tolist(), strict=True))
    return {target: found[target] for target in wanted}
