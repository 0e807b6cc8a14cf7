"""One learner fails, the others go on: the picture."""

import ddsim
from ddsim.figures.timeline import timeline
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import Row

_METHODS = ("data_parallel", "decoupled_diloco")


@reproduction("isolation", "A learner is lost and returns, the others go on")
def isolation(pace: Pace) -> Found:
    """Units are taken away and given back; nothing is published but the picture."""
    results = ddsim.run(ddsim.load("chaos_drill"), _METHODS)
    found = [
        Row(name, item.method, 100 * value, "%")
        for item in results.results
        for name, value in (("goodput", item.goodput), ("uptime", item.uptime))
    ]
    return Found(found, {"isolation": timeline(results, _METHODS)})
