"""Reproductions by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from ddsim.registry import Registry
from ddsim.reproduce.rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Pace:
    """How much work a reproduction may put in: `quick` for a coarse pass, and worker processes."""

    quick: bool = False
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Something that a source concludes, and whether the simulated numbers say so too.

    says: the conclusion, a sentence. ours: what is simulated, a sentence. explained: what would
    explain a difference, a sentence.
    """

    says: str
    ours: str
    holds: bool
    explained: str


@dataclass(frozen=True, slots=True)
class Found:
    """What a reproduction found: rows, figures by file name, and what a reader has to know.

    conclusions: those of the source that the rows speak to, whether or not they hold.
    """

    rows: Sequence[Row]
    figures: "Mapping[str, Axes]" = field(default_factory=dict)
    note: str = ""
    conclusions: Sequence[Conclusion] = ()


Maker = Callable[[Pace], Found]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A published table or figure that ddsim can make."""

    name: str
    title: str
    make: Maker


# where the reproductions are, in the order of the validation table
_HOMES = (
    "tables",
    "goodput",
    "mixed",
    "measured",
    "causes",
    "large_jobs",
    "regions",
    "scavenging",
    "isolation",
    "quality",
    "trends",
    "losses",
    "wan_sync",
    "decoupled_runs",
    "storm",
    "restarts",
    "fleets",
    "held_out",
    "blind_systems",
)
_KNOWN: Registry[Reproduction] = Registry("reproduction")


def reproduction(name: str, title: str) -> Callable[[Maker], Maker]:
    """Register a function as the reproduction `name`; `title` says what it makes."""

    def register(make: Maker) -> Maker:
        _KNOWN.add(name, Reproduction(name, title, make))
        return make

    return register


def every() -> dict[str, Reproduction]:
    """All reproductions by name, in the order of the validation table."""
    _read_all()
    return dict(sorted(_KNOWN.items(), key=lambda item: _place(item[1])))


def get(name: str) -> Reproduction:
    """The reproduction of that name; UnknownNameError where there is none."""
    _read_all()
    return _KNOWN.get(name)


def _read_all() -> None:
    for home in _HOMES:
        import_module(f"ddsim.reproduce.{home}")


def _place(item: Reproduction) -> int:
    """Where the module of a reproduction stands, whichever was imported first; others last."""
    home = item.make.__module__.removeprefix(f"{__package__}.")
    return _HOMES.index(home) if home in _HOMES else len(_HOMES)


def names() -> tuple[str, ...]:
    """Names of all reproductions."""
    return tuple(every())
