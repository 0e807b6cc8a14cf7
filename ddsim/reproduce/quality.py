"""Whether the model learns as well: losses of a small language model on the schedules."""

from dataclasses import replace

import ddsim
from ddsim.figures.learning import learning
from ddsim.reference import rows
from ddsim.reproduce.basis import declined, identity
from ddsim.reproduce.registry import Found, Pace, reproduction
from ddsim.reproduce.rows import Row

_ITSELF = identity("relative to itself")
_OTHER_MEASURE = declined("a text score beside the loss of a small character model")
_RUNS = {  # published setting -> method, changes
    "data_parallel without failures": ("data_parallel", {"failures.chip_mtbi": "never"}),
    "elastic_data_parallel at 1.2M chips": ("elastic_data_parallel", {}),
    "decoupled_diloco M=8 at 1.2M chips": ("decoupled_diloco", {}),
}


@reproduction("quality", "Learning on a failing cluster: arXiv 2604.21428")
def quality(pace: Pace) -> Found:
    """Final losses beside published text scores, both relative to no failures."""
    published = {
        line["setting"]: line
        for line in rows("decoupled_diloco_reported")
        if line["topic"] == "quality"
    }
    ran, found = [], []
    score = loss = 0.0
    for setting, (method, changes) in _RUNS.items():
        length = {"duration": "4 min" if pace.quick else "2 h"}
        results = ddsim.run(ddsim.load("convergence", {**length, **changes}), [method])
        item = results.results[0]
        assert item.learning is not None
        ran.append(item)
        line = published[setting]
        score, loss = score or float(line["value"]), loss or item.learning["final_loss"]
        final = item.learning["final_loss"]
        theirs, ours = float(line["value"]) / score, loss / final
        found += [
            Row(
                "relative quality",
                setting,
                ours,
                "",
                theirs,
                source=line["source"],
                basis=_OTHER_MEASURE if len(ran) > 1 else _ITSELF,
            ),
            Row("final loss", setting, final, "nats"),
        ]
    results = replace(
        results, scenario="small language model, 1.2M chips", results=ran, resolved=""
    )
    ax = learning(
        results,
        names={"data_parallel": "data parallel, no failures"},
        y="loss (nats per character)",
    )
    return Found(
        found,
        {"quality": ax},
        "Published: mean text score over that without failures. Simulated: final loss of a small "
        "character model without failures over its final loss, after the same wall-clock. They "
        "are different measures; that neither falls far is all that they share.",
    )
