"""Which fragment is due when, and which layers it holds."""

from __future__ import annotations


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
