"""What a ranking does not know: what has no price, and what was not tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ddsim.naming import listed
from ddsim.results.metrics import METRICS
from ddsim.study.grid import BASE
from ddsim.study.measures import sign_of
from ddsim.study.vary import bounds_of, number_of

if TYPE_CHECKING:
    from ddsim.study.grid import CellName, Label
    from ddsim.study.results import Study

UNPRICED = {
    "training.inner_steps": "H, steps between synchronizations",
    "training.payload_bits": "bits a parameter of what is exchanged",
    "training.broadcast_bits": "bits a parameter of what comes back",
    "training.overlap_steps": "tau, steps on old parameters during an exchange",
    "training.fragments": "parts of the model that are exchanged in turn",
    "training.mixing": "what a learner keeps of its own parameters at a merge",
    "training.compression": "how many times smaller what is exchanged is made",
}
"""Paths that change what a token is worth, which no law knows, in plain words."""
PLAIN = UNPRICED | {
    "training.quorum": "K, learners that a merge waits for",
    "training.grace": "how long a merge waits for others, as a share of the time there is",
    "cluster.learners": "M, copies that train apart and merge",
    "network.bandwidth": "of each link between regions",
    "checkpoint.interval": "time between two saves",
    "restart.spares": "slices that stand ready",
}
"""Paths in words that need no knowledge of the protocol."""
_TRAINED = "final_loss"
"""The metric of models that were trained, which felt all that varied."""


def with_meaning(path: str) -> str:
    """A path with its plain meaning, where it has one."""
    return f"{path} ({PLAIN[path]})" if path in PLAIN else path


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """Each path's last part, where no other ends alike; else the path."""
    ends = [path.rpartition(".")[2] for path in paths]
    return {
        path: end if ends.count(end) == 1 else path for path, end in zip(paths, ends, strict=True)
    }


def in_short(paths: Sequence[str], settings: Mapping[str, Label]) -> str:
    """A cell's settings without the sections of their paths: `bandwidth = 10 Gbit/s`."""
    names = short_names(paths)
    return ", ".join(
        f"{names[path]} = {settings[path]}" for path in paths if settings.get(path, BASE) != BASE
    )


def unpriced_sentence(varied: Iterable[str], metric: str) -> str | None:
    """That a ranking by this metric counts nothing for what varied; None where it does."""
    found = [with_meaning(path) for path in varied if path in UNPRICED]
    if not found or metric == _TRAINED:
        return None
    name = METRICS[metric].words if metric in METRICS else metric
    return (
        f"{name} has no price for {listed(found, 'and')}: no law knows what that costs in "
        "loss, so that the ranking favours what spares the link; measured gaps: docs/quality.md"
    )


def edge_sentence(best: Mapping[str, Label], tried: Sequence[Mapping[str, Label]]) -> str | None:
    """Where the best lies at an end of the values that were tried; None for nowhere.

    Ends beyond which a path takes no value are none. `tried` are the settings of all that the best
    was chosen from.
    """
    said = []
    for path, label in best.items():
        value = number_of(path, label)
        labels = {item[path] for item in tried if path in item}
        known = [number for each in labels if (number := number_of(path, each)) is not None]
        if value is None or len(known) < 2 or len(known) < len(labels):
            continue
        low, high = bounds_of(path)
        if (value == min(known) and value > low) or (value == max(known) and value < high):
            said.append(f"{path} ({label})")
    if not said:
        return None
    return f"the best is at the end of {listed(said, 'and')}: nothing beyond was tried"


def caveats_of(study: Study) -> list[str]:
    """What the ranking of a study's cells does not know, a sentence each."""
    cells = [cell for cell in study.done if cell.is_base and cell.index in study.measured]
    if not cells:
        return []
    sign = sign_of(study.metric)
    best: CellName = max(cells, key=lambda cell: sign * study.measured[cell.index].value)
    tried = [cell.settings for cell in cells if cell.method == best.method]
    unpriced = unpriced_sentence(study.columns, study.metric)
    return [*filter(None, [unpriced, edge_sentence(best.settings, tried)])]
