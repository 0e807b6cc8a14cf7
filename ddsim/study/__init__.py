"""Studies: grids of cells, replicated, with intervals; on many cores or a cluster; resumable."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ddsim.study.errors import StoreError, StudyError

if TYPE_CHECKING:
    from ddsim.study.comparing import Comparison, compare
    from ddsim.study.planning import Plan, plan
    from ddsim.study.results import Study
    from ddsim.study.rules import Rule
    from ddsim.study.sweeping import Progress, sweep

_HOMES = {
    "comparing": ("Comparison", "compare"),
    "planning": ("Plan", "plan"),
    "results": ("Study",),
    "rules": ("Rule",),
    "sweeping": ("Progress", "sweep"),
}

__all__ = [
    "Comparison",
    "Plan",
    "Progress",
    "Rule",
    "StoreError",
    "Study",
    "StudyError",
    "compare",
    "plan",
    "sweep",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
