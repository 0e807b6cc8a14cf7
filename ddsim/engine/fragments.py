"""Which fragment is due when, and which layers it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ddsim.scenario import Scenario


def due_fragments(inner_steps: int, fragments: int) -> dict[int, tuple[int, ...]]:
    """Return the fragments due at each residue of the step modulo `inner_steps`.

    Fragment p of P is due at the steps with (step mod H) = floor(p H / P), staggered evenly.
    """
    due: dict[int, tuple[int, ...]] = {}
    for fragment in range(fragments):
        residue = fragment * inner_steps // fragments
        due[residue] = (*due.get(residue, ()), fragment)
    return due


def layers_of(fragments: int, layers: int) -> tuple[tuple[int, ...], ...]:
    """Return the layers 1..L of each fragment, every P-th from p + 1 on (arXiv 2501.18512)."""
    return tuple(
        tuple(layer for layer in range(1, layers + 1) if (layer - 1) % fragments == fragment)
        for fragment in range(fragments)
    )


def pack_greedily(sizes: Mapping[str, float], fragments: int) -> tuple[tuple[str, ...], ...]:
    """Put tensors into fragments of about the same size: the largest first, into the lightest.

    The heaviest fragment is at most 4/3 of what the best packing has (Graham, 1969). With fewer
    tensors than fragments some are empty.
    """
    members: list[list[str]] = [[] for _ in range(fragments)]
    weights = [0.0] * fragments
    for name in sorted(sizes, key=lambda item: -sizes[item]):
        lightest = min(range(fragments), key=weights.__getitem__)
        members[lightest].append(name)
        weights[lightest] += sizes[name]
    order = list(sizes)
    return tuple(tuple(sorted(group, key=order.index)) for group in members)


def fragment_sizes(scenario: Scenario) -> list[float]:
    """Return how large each fragment is beside the mean of all."""
    tensors, fragments = scenario.model.tensors, scenario.training.fragments
    if not tensors:
        return [1.0] * fragments
    mean = sum(tensors.values()) / fragments
    groups = pack_greedily(tensors, fragments)
    return [sum(tensors[name] for name in group) / mean for group in groups]
