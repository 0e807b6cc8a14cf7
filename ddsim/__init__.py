"""ddsim: how much useful training does each way of training deliver?

A discrete-event simulator of distributed training in which compute, communication and failures
share one clock. `load` reads a scenario, `run` compares the methods on it, `Results` hands out the
numbers. Everything is imported when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ddsim import plot, theory
    from ddsim.bandwidth import required_bandwidth
    from ddsim.loading import load
    from ddsim.logs import read_log
    from ddsim.methods import method
    from ddsim.rates import search_rates
    from ddsim.replaying import replay
    from ddsim.results import Results
    from ddsim.scenario import ScenarioError
    from ddsim.simulation import run
    from ddsim.study.results import Study
    from ddsim.study.sweeping import sweep

__all__ = [
    "Results",
    "ScenarioError",
    "Study",
    "load",
    "method",
    "plot",
    "read_log",
    "replay",
    "required_bandwidth",
    "run",
    "search_rates",
    "sweep",
    "theory",
]

# public name -> (module, attribute); no attribute: the module itself
_HOMES: dict[str, tuple[str, str | None]] = {
    "Results": ("ddsim.results", "Results"),
    "ScenarioError": ("ddsim.scenario", "ScenarioError"),
    "Study": ("ddsim.study.results", "Study"),
    "load": ("ddsim.loading", "load"),
    "method": ("ddsim.methods", "method"),
    "plot": ("ddsim.plot", None),
    "read_log": ("ddsim.logs", "read_log"),
    "replay": ("ddsim.replaying", "replay"),
    "required_bandwidth": ("ddsim.bandwidth", "required_bandwidth"),
    "run": ("ddsim.simulation", "run"),
    "search_rates": ("ddsim.rates", "search_rates"),
    "sweep": ("ddsim.study.sweeping", "sweep"),
    "theory": ("ddsim.theory", None),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module_name, attribute = _HOMES[name]
    module = import_module(module_name)
    value = module if attribute is None else getattr(module, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
