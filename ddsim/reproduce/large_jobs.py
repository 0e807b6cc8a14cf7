"""Large jobs that others project: how often they fail, and what is left of their time."""

import math

import ddsim
from ddsim.figures.beside import Curve, beside
from ddsim.figures.style import METHOD_COLOURS
from ddsim.reference import Row as Line
from ddsim.reference import rows
from ddsim.reproduce.basis import Basis, declined, identity, predicted
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import REPORTED_BESIDE, Row, Tolerance
from ddsim.results import MethodResult

_SCENARIO = "llama3_16k"
_NODE = 8  # GPUs
_RATE = 6.5e-3  # failures of a node a day on RSC-1, arXiv 2410.21680
_STRIKES = 2000.0  # that a simulated mean time between failures is made of
_NORMAL = 1.96  # standard errors to either end of a 95% interval
_LONGEST_DAYS = 50_000  # a run's clock counts 146 years
_ETTR = Tolerance(4.0)
_YEAR_H = 8766.0
_APART = 18.0  # minutes between the failures of FT-HSDP
_RATES = {  # kind of a published time -> what stands behind it; the rest is predicted
    "projected": identity("the reciprocal of GPUs and of the rate that the source gives"),
    "quoted": declined("does not go with the 0.23 h for 131,072 GPUs beside it"),
}
_FIRST_ORDER = identity("the source's formula of first order, beside the exact process")
_SMALL_JOBS = (
    "The source's small jobs fail about four times as often as the rate of the whole fleet makes "
    "them, which a constant rate a node cannot bring about."
)
_LARGE_JOBS = (
    "The source gives about 10 h for 4,096 GPUs and 7.9 h for 1,024, which no one rate a node does."
)
_OVERLAPPING = (
    "The published 44% is what is left if each failure costs its whole stall; here one that "
    "strikes within a stall begins it again, and costs what had passed of it."
)


@reproduction("large-jobs", "Jobs of 8 to 131,072 GPUs: arXiv 2410.21680, 2602.00277")
def large_jobs(pace: Pace) -> Found:
    """Mean time to failure at a constant rate per node, and effective training time."""
    strikes = _STRIKES / 20 if pace.quick else _STRIKES
    table = rows("mttf_by_gpus")
    times = [_between(line, strikes) for line in table]
    shares = [_share(line, strikes) for line in rows("large_jobs")]
    ax = beside(
        [
            Curve(
                "data parallel, 6.5 failures in 1,000 node-days",
                METHOD_COLOURS["data_parallel"],
                [float(line["gpus"]) for line in table],
                [row.simulated for row in times],
                [row.published or math.nan for row in times],
                [row.half_width or 0.0 for row in times],
            )
        ],
        title="Time to the failure of a job",
        x="GPUs",
        y="mean time to failure (h)",
        log_x=True,
        log_y=True,
        ticks=[8, 128, 1024, 16384, 131072],
    )
    return Found(
        [*times, *shares],
        {"large_jobs": ax},
        "Simulated: 6.5 failures in 1,000 node-days, the rate of RSC-1, from which the paper "
        "projects. What it measured on smaller jobs does not follow one rate and is reported "
        "beside, as is its 0.25 h for 100,000, which does not go with 0.23 h for 131,072; so is "
        "FT-HSDP, of which the rate alone is known, a failure every 18 minutes, and "
        "the stall of each: what else its steps lose is not. The published ETTR is a formula of "
        "first order; the simulated one is the exact process.",
    )


def _between(line: Line, strikes: float) -> Row:
    chips, published = int(line["gpus"]), float(line["mttf_h"])
    a_day = chips / _NODE * _RATE
    strikes = min(strikes, _LONGEST_DAYS * a_day)
    ran = job(chips, a_day, strikes / a_day)
    held = Tolerance(
        round(0.02 + 5 / math.sqrt(strikes), 3), relative=True
    )  # printed with two digits
    simulated = 24 * strikes / a_day / ran.failures
    return Row(
        "time to failure",
        f"{chips:,} GPUs, {line['kind']}",
        simulated,
        "h",
        published,
        held if line["kind"] == "projected" else REPORTED_BESIDE,
        line["source"],
        _NORMAL * simulated / math.sqrt(ran.failures),  # of so many exponential times
        basis=_RATES.get(line["kind"]) or _one_rate(line["kind"], chips),
    )


def _one_rate(kind: str, chips: int) -> Basis:
    """A time that was seen, beside that of a job each of whose chips fails once a year."""
    return predicted(
        _YEAR_H / chips,
        "one failure a year and GPU",
        system="FT-HSDP" if kind == "another cluster" else "RSC-1",
        beyond=_LARGE_JOBS if chips >= 4096 else _SMALL_JOBS,
    )


def _share(line: Line, strikes: float) -> Row:
    minutes = line["setting"].split()[-2]
    basis = _FIRST_ORDER
    if line["system"] == "RSC-1":
        a_day = 16384 / _NODE * _RATE
        changes: dict[str, object] = {"restart.time": "5 min"}
        changes["checkpoint"] = {"policy": "fixed", "interval": f"{minutes} min", "save": "0 s"}
        ran = job(16384, a_day, strikes / a_day, changes)
    else:
        a_day = 24 * 60 / _APART
        changes = {"restart.time": f"{minutes} min", "checkpoint": {"policy": "in_memory"}}
        ran = job(100_000, a_day, strikes / a_day, changes)
        basis = predicted(
            100 * (1 - float(minutes) / _APART),
            "each failure, 18 minutes after the one before, costs its whole stall",
            system="FT-HSDP",
            beyond=_OVERLAPPING,
        )
    return Row(
        line["quantity"],
        f"{line['system']}, {line['setting']}",
        100 * ran.ettr,
        line["unit"],
        float(line["value"]),
        _ETTR if line["system"] == "RSC-1" else REPORTED_BESIDE,
        line["source"],
        basis=basis,
    )


def job(
    chips: int,
    a_day: float,
    days: float,
    changes: dict[str, object] | None = None,
    histories: int = 1,
) -> MethodResult:
    """A job whose nodes fail `a_day` times a day together, and are replaced at once.

    A mean over `histories` of so many `days`.
    """
    scenario = ddsim.load(
        _SCENARIO,
        {
            "duration": f"{days} day",
            "cluster.chips": chips,
            "cluster.learners": 1,
            "failures.causes": [
                {"name": "node", "domain": "slice", "count": a_day, "per": "1 day"}
            ],
            "failures.detection": "0 s",
            "failures.repair": "0 s",
            "restart.time": "0 s",
            "restart.spares": 0,
            "checkpoint": {"policy": "in_memory"},
            **(changes or {}),
        },
    )
    return ddsim.run(scenario, ["data_parallel"], replications=histories)["data_parallel"]
