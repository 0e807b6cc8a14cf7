"""What operators say of their fleets: RSC's projections, and flash checkpoints."""

from ddsim.reference import Row as Line
from ddsim.reference import rows
from ddsim.reproduce.basis import calibrated, declined, identity, predicted
from ddsim.reproduce.large_jobs import job
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import AT_LEAST, REPORTED_BESIDE, Row, Tolerance
from ddsim.theory.checkpointing import checkpoint_goodput

_NODE = 8  # GPUs
_RSC1, _RSC2 = 6.5e-3, 2.34e-3  # failures of a node a day
_FIRST_ORDER = identity("the source's formula of first order, beside the exact process")
_BOUND = declined("published as a bound, not as a number")
_NOT_STATED = declined("the source does not state the restart; here it takes no time")
_HELD = Tolerance(0.05, relative=True)
_DAY = 86400.0
_RESTART_S = 12.5 * 60  # the middle of the 5 to 20 minutes of Meta's research clusters
_STEP_S = 1.5 * 3600 / 250
_SEEN = calibrated("failures as often as bring this goodput about, with a restart of 12.5 min")
_AS_BEFORE = "the goodput of before, with saves of 120 s"


@reproduction("fleets", "Fleets: arXiv 2410.21680, and flash checkpoints of GLM-65B")
def fleets(pace: Pace) -> Found:
    """Expected ETTR at the fleets' rates, and goodput before and after quick saves."""
    strikes = 100.0 if pace.quick else 2000.0
    table = rows("goodput_more")
    return Found(
        [*_projections(table, strikes), *_flash(table, strikes)],
        note="Not in the table, for want of a scenario: the rate of RSC's large jobs before and "
        "after its lemon nodes were taken out, for how much worse those were is not in the table; "
        "Gemini 2.5, which states neither rates of failure nor sizes; torchft's step "
        "efficiency, whose steps are not stated.",
    )


def _projections(table: tuple[Line, ...], strikes: float) -> list[Row]:
    settings = (  # GPUs, rate, minutes between saves, minutes of queue and restart
        (8_000, _RSC1, 30, 6, _FIRST_ORDER, _HELD),
        (100_000, _RSC2, 2, 2, _BOUND, AT_LEAST),
        (100_000, _RSC1, 7, 0, _NOT_STATED, REPORTED_BESIDE),
        (100_000, _RSC2, 21, 0, _NOT_STATED, REPORTED_BESIDE),
    )
    lines = [line for line in table if line["quantity"].startswith("expected ETTR")]
    found = []
    for line, (gpus, rate, saves, restart, basis, held) in zip(lines, settings, strict=True):
        a_day = gpus / _NODE * rate
        ran = job(gpus, a_day, strikes / a_day, _saving(60.0 * saves, 0.0, 60.0 * restart))
        found.append(
            Row(
                "expected ETTR",
                line["setting"],
                100 * ran.ettr,
                "%",
                100 * float(line["value"]),
                held,
                line["source"],
                basis=basis,
            )
        )
    return found


def _saving(interval: float, save: float, restart: float) -> dict[str, object]:
    saves = {"policy": "fixed", "interval": f"{interval} s", "save": f"{save} s"}
    return {"restart.time": f"{restart} s", "checkpoint": saves}


def _flash(table: tuple[Line, ...], strikes: float) -> list[Row]:
    before, after = (line for line in table if line["source"].startswith("DLRover"))
    published, later = float(before["value"]), float(after["value"])
    settings = (250 * _STEP_S, 120.0), (10 * _STEP_S, 0.2)
    a_day = _failures_a_day(published, *settings[0])
    bases = _SEEN, predicted(100 * published, _AS_BEFORE, system="GLM-65B")
    return [
        Row(
            "goodput",
            f"GLM-65B, a save of {save:g} s",
            100 * job(8192, a_day, strikes / a_day, _saving(interval, save, _RESTART_S)).ettr,
            "%",
            100 * value,
            _HELD,
            line["source"],
            basis=basis,
        )
        for line, value, (interval, save), basis in zip(
            (before, after), (published, later), settings, bases, strict=True
        )
    ]


def _failures_a_day(share: float, interval: float, save: float) -> float:
    """How many failures a day leave that share of the time, by bisection."""
    low, high = 1e-3, 1e3
    for _ in range(60):
        middle = (low * high) ** 0.5
        left = checkpoint_goodput(_DAY / middle, interval, save, _RESTART_S)
        low, high = (middle, high) if left > share else (low, middle)
    return low
