"""What stopped a job of 16,384 GPUs, by cause."""

import math
from collections import defaultdict
from statistics import fmean

import ddsim
from ddsim.figures.dots import dots
from ddsim.figures.style import METHOD_COLOURS
from ddsim.reference import rows
from ddsim.reproduce.basis import calibrated
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import Row, Tolerance
from ddsim.results.interval import half_width

_DAYS = 54.0
_HOURS = 24.0 * _DAYS
_STEPS = 5.0  # standard errors within which a mean of Poisson numbers is held
_COUNTS = calibrated("the published counts are the scenario's rates")
_CALLED = {  # published component -> the scenario's cause, where they are not spelt alike
    "network switch/cable": "network switch or cable",
    "gpu thermal interface + sensor": "gpu thermal interface and sensor",
}


@reproduction("causes", "Interruptions of Llama 3 405B by cause: arXiv 2407.21783 Table 5")
def causes(pace: Pace) -> Found:
    """Counts over 54 days and the mean time between them, means over histories."""
    histories = 1 if pace.quick else 10
    scenario = ddsim.load("llama3_16k")
    counts: dict[str, list[float]] = defaultdict(lambda: [0.0] * histories)
    for seed in range(1, histories + 1):
        ran = ddsim.run(scenario, ["data_parallel"], seed=seed)["data_parallel"]
        for name, of in ran.extra["blast_radius"]["by_cause"].items():
            counts[name.casefold()][seed - 1] += of["failures"]
    table = rows("llama3_interruptions")
    found = []
    for line in table:
        name = line["component"].casefold()
        expected = float(line["count"])
        mine = counts[_CALLED.get(name, name)]
        found.append(
            Row(
                "interruptions in 54 days",
                line["component"],
                fmean(mine),
                "",
                expected,
                Tolerance(round(_STEPS * math.sqrt(expected / histories), 2)),
                line["source"],
                half_width(mine),
                basis=_COUNTS,
            )
        )
    expected = math.fsum(row.published or 0.0 for row in found)
    mtbi = _HOURS * histories / math.fsum(map(math.fsum, counts.values()))
    published = _HOURS / expected
    ax = dots(
        [row.cell for row in found],
        [row.simulated for row in found],
        [row.published or 0.0 for row in found],
        half_width=[row.half_width or 0.0 for row in found],
        title="Llama 3 405B: interruptions by cause",
        x="interruptions in 54 days",
        colour=METHOD_COLOURS["data_parallel"],
        log=True,
    )
    found.append(
        Row(
            "time between interruptions",
            "16,384 GPUs",
            mtbi,
            "h",
            round(published, 2),
            Tolerance(round(_STEPS / math.sqrt(expected * histories), 3), relative=True),
            table[0]["source"],
            basis=_COUNTS,
        )
    )
    return Found(
        found,
        {"causes": ax},
        "The scenario's rates are the published counts: what is checked is that each cause strikes "
        f"as often as it is said to, in the mean over histories, and that none hides "
        f"another. Held to {_STEPS:g} standard errors of such a mean.",
    )
