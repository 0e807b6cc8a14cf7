"""What a scenario may name: what is registered under its name, most of it above it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ddsim.scenario.families import FAMILIES, Family
from ddsim.scenario.methods import DEFAULT_METHODS
from ddsim.scenario.presence import NodeTrace

Widths = Callable[[], Mapping[str, tuple[int, int] | None]]
"""Quantizers, and the fewest and the most bits of each, None where nobody knows."""

Options = Callable[[], Mapping[str, tuple[str, ...] | None]]
"""Names, and the options of each, None where nobody knows them.

Asked for only where a scenario names one, as that may import.
"""


@dataclass(frozen=True)
class Known:
    """The names that a scenario may use.

    Without ``policies``, ``problems``, ``laws`` or ``quantizers`` their names and options are not
    judged. No model can be trained on the steps of the methods in ``untaped``.
    ``nodes`` reads a trace of nodes that is to be replayed; it raises FileNotFoundError, or the
    error of ``fields.refuse`` for a file that does not fit. Without it such a trace stays empty.
    """

    methods: tuple[str, ...] = DEFAULT_METHODS
    untaped: tuple[str, ...] = ()
    families: Mapping[str, Family] = field(default_factory=lambda: FAMILIES)
    policies: Options | None = None
    problems: Options | None = None
    laws: Options | None = None
    quantizers: Widths | None = None
    nodes: Callable[[Path], NodeTrace] | None = None


BUILT_IN = Known()
"""What a scenario may name when nothing above it is there."""
