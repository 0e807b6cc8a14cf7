"""How long restarts take as jobs grow, and what is left of a large job's time."""

from collections.abc import Sequence

import ddsim
from ddsim.figures.beside import Curve, Line, beside
from ddsim.figures.style import METHOD_COLOURS
from ddsim.reference import Row as Published
from ddsim.reference import rows
from ddsim.reproduce.basis import calibrated, identity, predicted
from ddsim.reproduce.large_jobs import job
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import REPORTED_BESIDE, Row, Tolerance
from ddsim.results import MethodResult
from ddsim.scenario.stalls import Stall

_ENDS = (32, 1024)  # GPUs of the testbed's rows that go into a table
_LINEAR = "linear in GPUs between the same two rows"
_IN_TABLE = calibrated("the row is one of the two ends of the table")
_SUM = identity("the sum of its phases")
_DOWNTIME = identity("GPUs times downtime")
_BEYOND_TABLE = (
    "The table ends at 1,024 GPUs and is held there; the job's own stack also reschedules, for "
    "1.5 minutes."
)
_BIG, _MTTF_MIN, _DOWN_MIN, _STANDBY_S = 32_008, 54.0, 4.5, 20.0
_GPUS = (32, 128, 512, 2048, 8192, 32768)
_A_DAY = 6.5e-3 / 8  # failures of a GPU, of 6.5 in 1,000 node-days
_HISTORIES = 10
_HELD = Tolerance(0.15, relative=True)


@reproduction("restarts", "Restarts that grow with the job: arXiv 2412.12636")
def restarts(pace: Pace) -> Found:
    """Downtimes between the ends of a table, a standby's gain, and goodput against GPUs."""
    found = [row for stack in _stacks().values() for row in _downtimes(stack)]
    found += [*_large_job(), *_standby()]
    growing = _goodputs(_table(_stacks()["Megatron-LM restart"]), pace)
    constant = _goodputs("80 s", pace)
    found += [
        Row("goodput", f"{gpus:,} GPUs, {what}", 100 * of.goodput, "%", half_width=_half(of))
        for what, each in (("a table by chips", growing), ("80 s throughout", constant))
        for gpus, of in zip(_GPUS, each, strict=True)
    ]
    gpus = [float(count) for count in _GPUS]
    ax = beside(
        [
            _curve("a restart by the table", growing, "solid"),
            _curve("a constant restart", constant, "dashed"),
        ],
        title="Data-parallel with restarts that grow with the job",
        x="GPUs",
        y="goodput (%)",
        log_x=True,
        ticks=gpus,
    )
    return Found(
        found,
        {"restarts": ax},
        "Each stack's table has the testbed's rows at 32 and 1,024 GPUs; between them it is linear "
        "in the logarithm of GPUs, and beyond them its nearest row holds. Of 2,401 GPU-hours that "
        "a failure costs, those are saved that a standby's 20 s do not cost; the source prints the "
        "whole. Goodput: 6.5 failures in 1,000 node-days, state kept in memory at every step; "
        f"means of {_HISTORIES} histories with 95% intervals.",
    )


def _half(result: MethodResult) -> float | None:
    ends = result.goodput_ci95
    return None if ends is None else 100 * (ends[1] - ends[0]) / 2


def _curve(name: str, each: Sequence[MethodResult], line: Line) -> Curve:
    return Curve(
        name,
        METHOD_COLOURS["data_parallel"],
        [float(count) for count in _GPUS],
        [100 * of.goodput for of in each],
        half_width=[_half(of) or 0.0 for of in each],
        line=line,
    )


def _stacks() -> dict[str, dict[int, Published]]:
    """The testbed's downtimes: stack -> GPUs -> row."""
    found: dict[str, dict[int, Published]] = {}
    for line in rows("restart_by_size"):
        if line["setting"].startswith("testbed"):
            gpus = int(line["setting"].split()[1])
            found.setdefault(line["quantity"], {})[gpus] = line
    return found


def _table(stack: dict[int, Published]) -> dict[str, object]:
    return {"by_chips": {gpus: f"{stack[gpus]['value']} s" for gpus in _ENDS}}


def _length(table: dict[str, object], gpus: int) -> float:
    """Seconds of a restart of so many GPUs, as a scenario with the table has them."""
    time = ddsim.load("llama3_16k", {"restart.time": table}).restart.time
    assert isinstance(time, Stall)
    return round(time.seconds(gpus), 6)


def _linear(stack: dict[int, Published], gpus: int) -> float:
    low, high = (float(stack[end]["value"]) for end in _ENDS)
    return low + (high - low) * (gpus - _ENDS[0]) / (_ENDS[1] - _ENDS[0])


def _downtimes(stack: dict[int, Published]) -> list[Row]:
    table = _table(stack)
    return [
        Row(
            "downtime",
            f"{gpus:,} GPUs, {line['quantity']}",
            _length(table, gpus),
            "s",
            float(line["value"]),
            _HELD,
            line["source"],
            settled=True,
            basis=_IN_TABLE
            if gpus in _ENDS
            else predicted(_linear(stack, gpus), _LINEAR, system=line["quantity"].split()[0]),
        )
        for gpus, line in stack.items()
    ]


def _large_job() -> list[Row]:
    """The phases of a job of 8,192 GPUs, summed; and what the testbed's table makes of it."""
    lines = [line for line in rows("restart_by_size") if "8,192-GPU" in line["setting"]]
    *phases, total = lines
    named = {line["quantity"]: f"{line['value']} min" for line in phases}
    summed = round(_length({"phases": named}, 8192) / 60, 6)
    megatron = _stacks()["Megatron-LM restart"]
    held = _length(_table(megatron), 8192) / 60
    source, theirs = total["source"], float(total["value"])
    guess = predicted(
        _linear(megatron, 8192) / 60, _LINEAR, system="8,192 GPUs in use", beyond=_BEYOND_TABLE
    )
    cell, exact = "8,192 GPUs", Tolerance(0.01)
    return [
        Row("downtime", f"{cell}, phases", summed, "min", theirs, exact, source, None, True, _SUM),
        Row(
            "downtime",
            f"{cell}, the testbed's table",
            held,
            "min",
            theirs,
            REPORTED_BESIDE,
            source,
            settled=True,
            basis=guess,
        ),
    ]


def _standby() -> list[Row]:
    """GPU-hours of a failure's downtime, and the share of time that failures take."""
    (line,) = [line for line in rows("restart_by_size") if line["unit"] == "GPU-h"]
    cold, warm = (_lost(standbys) for standbys in (0, 1))
    cell = f"{_BIG:,} GPUs"
    whole, saved = cold * _BIG / 60, (cold - warm) * _BIG / 60
    published, source = float(line["value"]), line["source"]
    held = Tolerance(0.01, relative=True)
    name = "GPU-hours of a downtime"
    return [
        Row(name, cell, whole, "GPU-h", published, held, source, None, True, _DOWNTIME),
        Row("GPU-hours saved by a standby", cell, saved, "GPU-h"),
        Row("time lost", f"{cell}, cold", 100 * cold / (cold + _MTTF_MIN), "%"),
        Row("time lost", f"{cell}, a standby", 100 * warm / (warm + _MTTF_MIN), "%"),
    ]


def _lost(standbys: int) -> float:
    """Minutes that a failure stops the job with so many warm standbys, by a run of one."""
    unit = {"name": "all", "region": "datacentre", "chips": _BIG, "chips_per_slice": 8}
    scenario = ddsim.load(
        "llama3_16k",
        {
            "duration": "1 h",
            "cluster": {"units": [unit], "chip": "H100", "mfu": 0.41},
            "failures": {"detection": "0 s"},
            "chaos": [{"at": "10 min", "fault": "kill", "target": "all/slice 0", "for": "40 min"}],
            "checkpoint": {"policy": "in_memory"},
            "restart": {
                "time": "0 s",
                "spares": 1,
                "standbys": standbys,
                "spare_start": f"{_DOWN_MIN} min",
                "standby_start": f"{_STANDBY_S} s",
            },
        },
    )
    return 60 * (1 - ddsim.run(scenario, ["data_parallel"])["data_parallel"].uptime)


def _goodputs(restart: object, pace: Pace) -> list[MethodResult]:
    """Data-parallel against GPUs, in histories of a hundred failures, and ten in a coarse pass."""
    strikes = 10.0 if pace.quick else 100.0
    changes: dict[str, object] = {"restart.time": restart}
    return [
        job(gpus, gpus * _A_DAY, strikes / (gpus * _A_DAY), changes, _HISTORIES) for gpus in _GPUS
    ]
