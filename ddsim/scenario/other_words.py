"""Words of other houses for what a scenario calls by one name: hints, never accepted for it."""

from __future__ import annotations

from collections.abc import Iterable

WORDS = {
    "accelerators": "chips",
    "alpha": "mixing",
    "bandwidth_gbps": "bandwidth",
    "batch_size": "tokens_per_step",
    "devices": "chips",
    "gamma": "grace",
    "gpu": "chips",
    "gpus": "chips",
    "gpus_per_node": "chips_per_slice",
    "h": "inner_steps",
    "islands": "units",
    "k": "quorum",
    "local_steps": "inner_steps",
    "mtbf": "chip_mtbi",
    "mtbi": "chip_mtbi",
    "node_size": "chips_per_slice",
    "num_gpus": "chips",
    "num_parameters": "parameters",
    "p": "fragments",
    "params": "parameters",
    "pods": "units",
    "rtt": "latency",
    "sync_every": "inner_steps",
    "tau": "overlap_steps",
    "tpus": "chips",
    "workers": "learners",
}


def meant_by(word: str, known: Iterable[str]) -> str | None:
    """The key that another's word stands for, if that is among those that are known here."""
    name = WORDS.get(word.casefold())
    return name if name in set(known) else None
