"""Systems whose published values are predicted before they are known.

Each function gives what the engine makes of one system, from its setup alone; what is assumed
beside the setup stands with the numbers, in `blind_predictions.csv`.
"""

from math import ceil, log
from statistics import fmean

import ddsim
from ddsim.reference import numbers, rows
from ddsim.reproduce.blind import Engine, blind
from ddsim.reproduce.large_jobs import job
from ddsim.reproduce.wan_sync import between, fixed_cost
from ddsim.results import MethodResult

_MIB = 2.0**20

# All that is not said of a system takes no time.
_FREE: dict[str, object] = {
    "network.bandwidth": "unlimited",
    "network.efficiency": 1.0,
    "network.sync_cost": "0 s",
    "failures.detection": "0 s",
    "failures.repair": "0 s",
    "restart.moment_bits": 0,
}


def _run(method: str, step: float, steps: float, changes: dict[str, object]) -> MethodResult:
    """So many tokens of a small job with steps of so many seconds, a token each unless changed."""
    given = {"training.step_time": f"{step} s", "training.tokens": steps}
    scenario = ddsim.load("measured_grid", {**_FREE, **given, **changes})
    return ddsim.run(scenario, [method])[method]


@blind("blind-dlrover", "Blind: DLRover before and after automatic fault tolerance")
def dlrover() -> Engine:
    """A thousand GPUs for a year: what restarts, saves and repeated work leave of the time."""
    before = _dlrover("10 min", "130 min", restart="5 min", save="10 min", load="8 min")
    after = _dlrover("1 min", "7 min", restart="0 s", save="1 min", load="4 min")
    return {
        ("effective time", "a thousand GPUs, before"): 100 * before.ettr,
        ("effective time", "a thousand GPUs, after"): 100 * after.ettr,
        ("running time", "a thousand GPUs, before"): 100 * before.uptime,
    }


def _dlrover(soft: str, hard: str, *, restart: str, save: str, load: str) -> MethodResult:
    """With the time until what failed is known, and out, for a process and for a node."""
    gpus, days = 1024, 365.0
    a_day = 0.0027 * gpus
    causes = [
        {
            "name": name,
            "domain": "slice",
            "count": share * a_day,
            "per": "1 day",
            "detection": known,
        }
        for name, share, known in (("process", 0.75, soft), ("node", 0.25, hard))
    ]
    saves = {"policy": "fixed", "interval": "1.5 h", "save": save, "restore": load}
    changes: dict[str, object] = {
        "failures.causes": causes,
        "restart.time": restart,
        "checkpoint": saves,
    }
    return job(gpus, a_day, days, changes)


@blind("blind-allreduce", "Blind: all-reduces of NCCL over links shaped with netem")
def allreduce() -> Engine:
    """Times of an all-reduce, or of several one after the other, between nodes of a GPU each."""
    name = "time of a synchronization"
    return {
        (name, "8 nodes, 256 MiB, 2 Gbit/s, 5 ms"): 1e3 * _rings(8, 256, 1, 2.0, 5e-3),
        (name, "16 nodes, 1,024 MiB in 16, 5 Gbit/s, 1 ms"): _rings(16, 1024, 16, 5.0, 1e-3),
        (name, "4 nodes, 256 MiB in 4, 1 Gbit/s, 50 ms"): _rings(4, 256, 4, 1.0, 50e-3),
    }


def _rings(nodes: int, mib: int, tensors: int, gbps: float, delay: float) -> float:
    """Seconds of all of them, each cut into rings of what NCCL's buffers hold at once.

    A node sends two slices of 1 MiB on two channels at each hop, so that one slice is on its way
    while the other is sent: of the delay the hop takes only what that does not cover. A ring ends
    with the last slice's way, which nothing covers.
    """
    channels, chunk, efficiency = 2, 2 * _MIB, 1460 / 1500
    rings = tensors * ceil(mib * _MIB / tensors / (nodes * channels * chunk))
    hops = 2 * (nodes - 1)
    of_slice = channels * chunk / 2 * 8 / (gbps * 1e9 * efficiency)
    bare = max(0.0, delay - of_slice) + min(delay, of_slice) / hops
    changes: dict[str, object] = {
        "model.parameters": mib * _MIB / rings / 4,
        "training.inner_steps": 1,
        "training.tokens_per_step": 1,
        "cluster.chips": nodes,
        "cluster.learners": nodes,
        "network.bandwidth": f"{gbps} Gbit/s",
        "network.latency": f"{bare} s",
        "network.efficiency": efficiency,
    }
    step = 1e-3
    return _run("diloco", step, rings, changes).wall_clock_s - rings * step


_CRASHES = 3
_SLEEP = 30.0


@blind("blind-crashes", "Blind: three crashes on four GPUs, DDP and DiLoCo")
def crashes() -> Engine:
    """Time to a loss that a run without crashes reaches at known tokens, and what DDP repeats."""
    ddp, lost = _crashed_ddp()
    return {
        ("time to the target", "DDP"): ddp,
        ("tokens lost in a crash", "DDP"): lost * 65_536 / 1e6,
        ("time to the target", "DiLoCo, H = 100"): _crashed_diloco(),
    }


def _crashed_ddp() -> tuple[float, float]:
    """Seconds to the target, and steps lost in a crash; each strikes at a quarter of the steps.

    A run goes from a save to the next crash, for the clock of saves runs on while the job sleeps.
    """
    steps, every = 26_738_688 / 65_536, 60.0
    step = fmean((356.15, 355.92)) / steps
    saved = lost = 0.0
    for crash in range(1, _CRASHES + 1):
        done = steps * crash / (_CRASHES + 1)
        changes = {
            "cluster.learners": 1,
            "restart.time": f"{_SLEEP} s",
            "checkpoint": {"policy": "fixed", "interval": f"{every} s"},
            "chaos": [_kill((done - saved) * step + 0.01, "unit 0/chip 0", 1e-3)],
        }
        ran = _run("data_parallel", step, done - saved + 1, changes)
        again = round(ran.wall_clock_s * ran.accounts.get("wasted_progress", 0.0) / step)
        lost += again
        saved = done - again + max(1, ceil((every - again * step - _SLEEP) / step))
    return (steps + lost) * step + _CRASHES * _SLEEP, lost / _CRASHES


def _crashed_diloco() -> float:
    """Seconds to the first synchronization with the tokens of a run of seven rounds without."""
    learners, inner, rounds = 4, 100, 7
    length = fmean((570.20, 570.23)) / rounds
    missed = _CRASHES * inner
    needed = ceil((rounds * learners * inner + missed) / (learners * inner))
    kills: list[dict[str, object]] = []
    closes = 3 * length  # the round in which the first crash is seen
    for victim in range(_CRASHES):
        kills.append(_kill(closes - length + 0.01, f"unit {victim}", length))
        closes += 0.01 + _SLEEP + length
    changes: dict[str, object] = {
        "training.inner_steps": inner,
        "training.tokens_per_step": learners,
        "training.on_failure": "drop",
        "restart.time": f"{_SLEEP} s",
        "chaos": kills,
    }
    tokens = needed * learners * inner - missed
    return _run("diloco", length / inner, tokens, changes).wall_clock_s


def _kill(at: float, target: str, seconds: float) -> dict[str, object]:
    return {"at": f"{at} s", "fault": "kill", "target": target, "for": f"{seconds} s"}


@blind("blind-exits", "Blind: two exits of a small DDP job, with and without overlapped saves")
def exits() -> Engine:
    """Steps a second of 1,600 steps with two restarts, from runs without any."""
    resnet50 = (168.54, 171.49, 170.75), (23.69, 23.78, 24.63), (179.52, 182.66, 182.30)
    resnet18 = (116.41, 110.38, 108.47), (13.52, 11.71, 11.25), (129.27, 120.97, 118.67)
    return {
        ("goodput", "ResNet-50, blocking saves"): _exited(*resnet50, overlapped=False),
        ("goodput", "ResNet-18, overlapped saves"): _exited(*resnet18, overlapped=True),
    }


_Times = tuple[float, float, float]


def _exited(ran: _Times, saving: _Times, around: _Times, *, overlapped: bool) -> float:
    """From three runs without exits: first to last step, saves in it, and start to end."""
    steps, every = 1600, 50
    save = fmean(saving) / (steps / every)
    step = (fmean(ran) - fmean(saving)) / steps
    restart = fmean(around) - fmean(ran) + 1.0
    stall = save / 2 if overlapped else save
    saves: dict[str, object] = {
        "policy": "fixed",
        "interval": f"{every} steps",
        "save": f"{save} s",
    }
    if overlapped:
        saves |= {"asynchronous": True, "stall": f"{stall} s"}
    kills: list[dict[str, object]] = []
    for after in (400, 1200):
        # once the save is complete, before which the job does not exit; those steps are done again
        complete = after * step + after / every * stall + save - stall
        shifted = len(kills) * (restart + save - stall + 0.02)
        kills.append(_kill(complete + shifted + 0.01, "unit 0/chip 0", 1e-3))
    changes = {
        "cluster.learners": 1,
        "restart.time": f"{restart} s",
        "checkpoint": saves,
        "chaos": kills,
    }
    return steps / _run("data_parallel", step, steps, changes).wall_clock_s


@blind("blind-torchtitan", "Blind: checkpoint restarts of TorchTitan on 64 H200")
def torchtitan() -> Engine:
    """Minutes of 3,000 steps with a failure in 45 to 75 minutes, the mean of fifty such jobs."""
    jobs, steps, without = 50, 3000, 400.0
    failure = {
        "name": "injected",
        "domain": "job",
        "lifetime": {"gamma": {"mean": "1 h", "shape": 48}},  # spread as 45 to 75 min are
        "replace": False,
    }
    changes = {
        "cluster.chips": 64,
        "cluster.learners": 1,
        "failures.causes": [failure],
        "restart.time": "15 min",
        "checkpoint": {"policy": "fixed", "interval": "100 steps", "save": "0 s"},
    }
    ran = _run("data_parallel", 60 * without / steps, jobs * steps, changes)
    return {("time of 3,000 steps", "checkpoint restart"): ran.wall_clock_s / 60 / jobs}


@blind("blind-torchft", "Blind: torchft with a failure every 15 s")
def torchft() -> Engine:
    """Share of steps that no failure spoils, with steps so long that 82.3% are left at 60 s."""
    committed, apart = 0.823, 60.0
    step = -apart * log(committed)
    failure = {"name": "injected", "domain": "slice", "count": 1, "per": "15 s"}
    changes = {
        "cluster.chips": 300,
        "cluster.chips_per_slice": 10,
        "cluster.learners": 1,
        "failures.causes": [failure],
        "restart.time": "0 s",
        "checkpoint": {"policy": "in_memory"},
    }
    steps = 5000
    failures = _run("data_parallel", step, steps, changes).failures
    return {("steps committed", "a failure every 15 s"): 100 * steps / (steps + failures)}


@blind("blind-cells", "Blind: cells of measured grids that are not among the reference data")
def cells() -> Engine:
    """With the constants that the other cells of each grid give."""
    changes = {
        "training.inner_steps": 32,
        "training.tokens": 160,
        "network.bandwidth": "200 Mbit/s",
    }
    ran = ddsim.run(ddsim.load("measured_grid", changes), ["diloco"])["diloco"]
    like = next(
        line
        for line in rows("measured_wan_sync")
        if numbers(line, "inner_steps", "link_mbit_s") == (100, 100)
    )
    seconds = between({**like, "link_mbit_s": "50"}, fixed_cost())
    tokens = 2 * 100 * 32 * 512
    return {
        ("compute utilization", "H=32, 0.2 Gbit/s"): 100 * ran.compute_utilization,
        ("throughput", "ft-diloco, H=100, 50 Mbit/s"): tokens / seconds / 1e3,
    }
