"""Runs that others measured: a grid on throttled links, INTELLECT-1, Covenant-72B, Llama 3."""

import ddsim
from ddsim.figures.beside import Curve, beside
from ddsim.figures.beside import Line as LineStyle
from ddsim.figures.style import METHOD_COLOURS
from ddsim.reference import Row as Line
from ddsim.reference import numbers, rows
from ddsim.reproduce.basis import Basis, calibrated, declined, identity
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import AT_LEAST, Row, Tolerance
from ddsim.theory import measured

_GRID, _LEAST = Tolerance(0.15, relative=True), AT_LEAST
_ARITHMETIC, _SIMULATED = Tolerance(0.1), Tolerance(0.3)
_FITTED = calibrated("the compute of a step, an efficiency and a fixed cost, fitted to all cells")
_SAID_TWICE = declined("it is the utilization of the same run, said in seconds")
_TIMES = identity("compute over compute and exchange, of published times")
_RING = calibrated("an efficiency such that a ring takes the published 469 s")
_UPLOAD = calibrated("the bits of the payload, chosen by the published 70 s")
_BOUND = declined("published as a bound, not as a number")
_COUNTS = calibrated("the published counts are the scenario's rates")
_LINES: dict[str, LineStyle] = {"8": "dashed", "128": "solid"}


@reproduction("measured-grid", "DiLoCo measured on four workers with throttled links")
def measured_grid(pace: Pace) -> Found:
    """Utilization of eight cells with one efficiency and one fixed cost for all of them."""
    table = rows("measured_diloco_grid")
    pairs = [_grid_rows(line) for line in table]
    found = [share for share, _ in pairs]
    curves = []
    for inner, line_style in _LINES.items():
        mine = [(line, row) for line, row in zip(table, found, strict=True) if line["H"] == inner]
        curves.append(
            Curve(
                f"simulated, H = {inner}",
                METHOD_COLOURS["diloco"],
                [float(line["link_bps"]) / 1e9 for line, _ in mine],
                [row.simulated for _, row in mine],
                [row.published or 0.0 for _, row in mine],
                line=line_style,
            )
        )
    ax = beside(
        curves,
        title="DiLoCo on four workers, measured and simulated",
        x="link (Gbit/s)",
        y="compute utilization (%)",
        log_x=True,
        ticks=[0.05, 0.2, 1.0, 5.0],
    )
    return Found(
        [*found, *(blocked for _, blocked in pairs)],
        {"measured_grid": ax},
        "The published values are measurements. The time blocked is what the utilization follows "
        "from, so that it is reported beside.",
    )


def _grid_rows(line: Line) -> tuple[Row, Row]:
    """Utilization, and the seconds blocked for the same seconds of compute."""
    inner, bandwidth, steps, share = numbers(
        line, "H", "link_bps", "budget_steps", "compute_utilization"
    )
    changes = {
        "training.inner_steps": int(inner),
        "network.bandwidth": f"{bandwidth} bit/s",
        "training.tokens": steps,
    }
    result = ddsim.run(ddsim.load("measured_grid", changes))["diloco"]
    cell = f"H={inner:.0f}, {bandwidth / 1e9:g} Gbit/s"
    simulated, source = result.compute_utilization, line["source"]
    compute, blocked = numbers(line, "compute_s", "sync_blocked_s")
    ours = compute * (1 / simulated - 1)
    return (
        Row(
            "compute utilization",
            cell,
            100 * simulated,
            "%",
            100 * share,
            _GRID,
            source,
            settled=True,
            basis=_FITTED,
        ),
        Row(
            "time blocked",
            cell,
            ours,
            "s",
            blocked,
            source=source,
            settled=True,
            basis=_SAID_TWICE,
        ),
    )


@reproduction("measured-runs", "INTELLECT-1, Covenant-72B and Llama 3: times, utilization")
def measured_runs(pace: Pace) -> Found:
    """Arithmetic on published times, named so, and the same runs simulated."""
    found = [*_intellect(), *_covenant(), *_llama(pace)]
    return Found(
        found,
        note="Rows called arithmetic follow from published times alone, without a simulation. The "
        "ring rate of `intellect1` and the link of `covenant72b` are those that the published "
        "times imply.",
    )


def _known(run: str) -> dict[tuple[str, str], Line]:
    return {
        (line["setting"], line["metric"].split(" (")[0]): line
        for line in rows("measured_runs")
        if line["run"] == run
    }


def _beside(
    line: Line, name: str, cell: str, simulated: float, held: Tolerance, basis: Basis
) -> Row:
    unit, value = line["unit"], float(line["value"].lstrip(">"))
    return Row(name, cell, simulated, unit, value, held, line["source"], settled=True, basis=basis)


def _intellect() -> list[Row]:
    known = _known("INTELLECT-1")
    compute = next(float(line["value"]) for (_, what), line in known.items() if "inner" in what)
    mfu = float(known["no communication", "MFU"]["value"])
    found = []
    for place in ("USA", "USA+Europe", "Global"):
        wait = float(known[place, "median all-reduce"]["value"])
        share = measured.blocking_utilization(compute, wait)
        cell = f"INTELLECT-1 {place}, arithmetic"
        line = known[place, "compute utilization"]
        found.append(_beside(line, "compute utilization", cell, 100 * share, _ARITHMETIC, _TIMES))
        found.append(_beside(known[place, "MFU"], "MFU", cell, mfu * share, _ARITHMETIC, _TIMES))
    result = ddsim.run(ddsim.load("intellect1"), ["diloco"])["diloco"]
    wait = max(merge.arrival - merge.start for merge in result.merges)
    cell = "INTELLECT-1 Global, simulated"
    share = 100 * result.compute_utilization
    line = known["Global", "compute utilization"]
    found.append(_beside(line, "compute utilization", cell, share, _SIMULATED, _RING))
    line = known["Global", "median all-reduce"]
    found.append(_beside(line, "all-reduce", cell, wait, Tolerance(1.0), _RING))
    return found


def _covenant() -> list[Row]:
    known = {what: line for (_, what), line in _known("Covenant-72B").items()}
    window = float(known["compute window"]["value"])
    talk = float(known["communication"]["value"])
    share = 100 * measured.blocking_utilization(window, talk)
    upload = measured.peer_exchange_readings(72.7e9, 146, 20, 110e6, 500e6)[0].seconds
    result = ddsim.run(ddsim.load("covenant72b"), ["diloco"])["diloco"]
    wait = max(merge.arrival - merge.start for merge in result.merges)
    by_time = Tolerance(0.05, relative=True)
    utilization = known["compute utilization"]
    simulated = 100 * result.compute_utilization
    talked, what = known["communication"], "compute utilization"
    ours, arithmetic = "Covenant, simulated", "Covenant, arithmetic"
    return [
        _beside(utilization, what, arithmetic, share, _ARITHMETIC, _TIMES),
        _beside(talked, "upload", arithmetic, upload, by_time, _UPLOAD),
        _beside(utilization, what, ours, simulated, _SIMULATED, _UPLOAD),
        _beside(talked, "exchange", ours, wait, by_time, _UPLOAD),
    ]


def _llama(pace: Pace) -> list[Row]:
    """Effective training time and interruptions; a coarse pass simulates 6 of the 54 days."""
    line = _known("Llama 3 405B")[
        "16384 H100, 54 days, 419 unexpected and 47 planned interruptions",
        "effective training time",
    ]
    days = 6 if pace.quick else 54
    world = ddsim.load("llama3_16k", {"duration": f"{days} day"})
    result = ddsim.run(world, ["data_parallel"])["data_parallel"]
    share, source = 100 * result.ettr, line["source"]
    expected = sum(float(row["count"]) for row in rows("llama3_interruptions"))
    return [
        Row(
            "effective training time",
            "Llama 3 405B",
            share,
            "%",
            90.0,
            _LEAST,
            source,
            basis=_BOUND,
        ),
        Row(
            "interruptions in 54 days",
            "Llama 3 405B",
            result.failures * 54 / days,
            "",
            expected,
            # the count is a Poisson number, of which one history gives one
            Tolerance(5 * expected**0.5),
            source,
            basis=_COUNTS,
        ),
    ]
