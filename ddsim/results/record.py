"""The records that a simulated method leaves behind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from ddsim.engine import tape


BASELINE = "data_parallel"
"""The method with which the ratio compares."""


class Wan(TypedDict):
    """What crossed the WAN at the busiest site, in one direction.

    `mean_gbps` over the wall-clock and `peak_gbps` over one second, both in Gbit/s;
    `total_bytes` in bytes; `convention` says in words what was counted.
    """

    mean_gbps: float
    peak_gbps: float
    total_bytes: float
    convention: str


class Learning(TypedDict):
    """How the loss fell; `curve` holds [wall-clock in s, tokens, loss].

    `steps` and `tokens_merged` belong to the points of the curve. `final_losses` has one loss for
    each training (seed and replication), nan where it diverged; `diverged` says where each of
    those did. `floor` is the loss that no model gets below, where that is known; `rates` are the
    learning rates, `inner` and, where something was merged, `outer`.
    """

    final_loss: float
    initial_loss: float
    curve: list[list[float]]
    steps: NotRequired[list[float]]
    tokens_merged: NotRequired[list[float]]
    final_losses: NotRequired[list[float]]
    final_loss_ci95: NotRequired[list[float] | None]
    diverged: NotRequired[list[str]]
    floor: NotRequired[float]
    rates: NotRequired[dict[str, float]]


class Quality(TypedDict):
    """What the tokens of a run are worth by the law `law`, each as [low, mid, high].

    `loss` (nats) is predicted at the end of the run; `hours_to_target` and `cost_to_target` (USD;
    None without prices) are what it takes to come down to the loss `target` from the start, None
    where no tokens are enough. `unreachable` says why, where the middle is none; `warnings` say
    where a law is used outside of what it was fitted to.
    """

    loss: list[float | None]
    hours_to_target: list[float | None]
    cost_to_target: list[float | None] | None
    law: str
    target: NotRequired[float | None]
    unreachable: NotRequired[str | None]
    warnings: NotRequired[list[str]]


class Unreachable(TypedDict):
    """Why a run did not come to its goal."""

    unreachable: str


Goal = Literal["reached"] | Unreachable
"""Whether a run came to the tokens or the loss at which it was to stop."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time in which a unit kept its state.

    `start` and `end` are seconds from the start of the run. `state` is `running` while the unit
    steps, else the account into which the time of its healthy chips goes: the phase of a stall, a
    wait long enough to be seen, `failed_hardware` when it has none. `computing` is the share of
    these chips' time that went into compute, kept or not: what is less than 1 of a `running` unit
    is waits too short to be seen and hardware that is slow; None where it was not kept.
    """

    unit: str
    start: float
    end: float
    state: str
    healthy_chips: int
    computing: float | None = None


@dataclass(frozen=True, slots=True)
class Merge:
    """One synchronization: what was merged, when, and by whom.

    `slot` is the slot, the step or the round; `fragments` are those that it carried; it closed or
    started at `start` and arrived at `arrival`, in seconds from the start of the run; `learners`
    are the units whose work went in, `weights` theirs (none where the mean is plain).
    """

    slot: int
    fragments: tuple[int, ...]
    start: float
    arrival: float
    learners: tuple[str, ...]
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """The tape of one replication: what happened to every learner's parameters until `end` (s)."""

    replication: int
    end: float
    events: "Sequence[tape.Event]"


LONG_STRANDED = 0.1
"""Share of a job's time that is worth a remark if it is stranded for longer."""
MUCH_PENDING = 0.02


@dataclass(frozen=True, kw_only=True)
class MethodResult:
    """One method on one scenario: a single history, or the mean over several.

    Fractions lie in [0, 1]. `goodput` is productive over allocated chip-seconds; `accounts` are
    fractions of capacity x wall-clock that add up to 1; `compute_utilization` is productive over
    productive, exposed communication, and waiting on peers and on data. `merged_share` counts
    steps x fragments that are productive: those that entered a merge over these and those that
    were overwritten before they did; `merged_goodput` is goodput times that, by
    which methods are ranked (in a mean, the mean of the products), and `pending_share` the share
    of those for which neither was decided by the end. `steps` are the job's, or the mean
    of the learners on clocks of their own; `failures` are the strikes on what was up; `mtbi_s` and
    `mttr_s` are the job's own, in seconds; `quality` is what its tokens are worth, where the
    scenario names a law, `goal` whether it came to the tokens or the loss at which it was to stop;
    `events` and `elapsed_s` say what the simulation itself cost. What a method lacks is None.

    `timeline` and `merges` are logs of one history (the first, in a mean); of many merges it has
    every `merges_every`-th. `tapes` has a recording
    of each replication, where they were kept; `run_log` has the events of one history, where that
    was asked for. `extra` carries whatever else a method reports, by name.
    """

    method: str
    merged_goodput: float = nan
    merged_goodput_ci95: tuple[float, float] | None = None
    goodput: float
    goodput_ci95: tuple[float, float] | None = None
    goodput_by_chip_type: Mapping[str, float] = field(default_factory=dict)
    time_goodput: float
    uptime: float
    merge_uptime: float | None = None
    participation: float | None = None
    merged_share: float | None = None
    pending_share: float | None = None
    compute_utilization: float
    ettr: float
    accounts: Mapping[str, float]
    steps: float
    tokens: float
    wall_clock_s: float
    quality: Quality | None = None
    goal: Goal | None = None
    failures: float
    mtbi_s: float | None = None
    mttr_s: float | None = None
    wan: Wan
    learning: Learning | None = None
    events: float
    elapsed_s: float
    tokens_merged: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    timeline: Sequence[Span] = ()
    merges: Sequence[Merge] = ()
    merges_every: int = 1
    tapes: Sequence[Recording] = field(default=(), compare=False, repr=False)
    run_log: Sequence[Any] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        """Fill in the merged goodput.

        Nothing merged is a merged share of 0, also where nothing was overwritten yet; a method
        that knows no merges merges all that it keeps.
        """
        if isnan(self.merged_goodput):
            share = self.merged_share
            if share is None:
                share = 0.0 if self.tokens_merged == 0.0 else 1.0
            object.__setattr__(self, "merged_goodput", self.goodput * share)

    @property
    def tokens_per_hour(self) -> float:
        """Tokens trained in an hour of wall-clock; 0 for a run without duration."""
        return 3600 * self.tokens / self.wall_clock_s if self.wall_clock_s > 0 else 0.0

    @property
    def remarks(self) -> list[str]:
        """What a reader should know of the result, a sentence each."""
        said = []
        there = 1.0 - self.accounts.get("unallocated", 0.0)
        stranded = self.accounts.get("stranded", 0.0) / there if there > 0.0 else 0.0
        if stranded > LONG_STRANDED:
            said.append(
                f"{self.method} is stranded for {100 * stranded:.0f}% of its time, until failed "
                "hardware is back: restart.spares make that shorter, and failures.age_while_down "
                "says whether more may fail meanwhile"
            )
        if (self.pending_share or 0.0) > MUCH_PENDING:
            said.append(
                f"{self.method}: {self.pending_share:.1%} of its steps were neither merged nor "
                "overwritten when the run ended; merged counts the others"
            )
        return said

    @property
    def merged_tokens_per_hour(self) -> float | None:
        """Tokens merged in an hour of wall-clock; None where they were not counted."""
        if self.tokens_merged is None:
            return None
        return 3600 * self.tokens_merged / self.wall_clock_s if self.wall_clock_s > 0 else 0.0


def ratio(results: Sequence[MethodResult], method: str, to: str = BASELINE) -> float | None:
    """Return merged tokens per hour of a method over those of `to`.

    In means over replications these are sums over sums. None without `to`, where it merged
    nothing, and where they were not counted.
    """
    rates = {item.method: item.merged_tokens_per_hour for item in results}
    mine, base = rates[method], rates.get(to)
    return mine / base if mine is not None and base else None
