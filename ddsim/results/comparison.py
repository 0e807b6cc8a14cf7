"""The methods of one scenario, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddsim.results import document
from ddsim.results.record import BASELINE, MethodResult, ratio

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Results:
    """What `run` returns: every method's result on the same failure history.

    `duration_s` is the scenario's, in seconds; `version` is that of ddsim; `results` stand in the
    order of the registry; `resolved` is the scenario with all defaults filled in, as YAML, `given`
    as it was written, with its comments and what was set beside it.
    """

    scenario: str
    seed: int
    replications: int
    duration_s: float
    version: str
    results: Sequence[MethodResult]
    resolved: str = ""
    given: str = ""

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods, in order."""
        return tuple(item.method for item in self.results)

    def __getitem__(self, method: str) -> MethodResult:
        """Return one method's result; raises KeyError that names those that there are."""
        for item in self.results:
            if item.method == method:
                return item
        raise KeyError(f"no result for {method!r}; there are {', '.join(self.methods)}")

    def __repr__(self) -> str:
        """Return the merged goodput of each method, for a shell without tables."""
        merged = ", ".join(f"{item.method} {item.merged_goodput:.3f}" for item in self.results)
        return f"<Results of {self.scenario}, seed {self.seed}: merged goodput {merged}>"

    def to_dict(self, *, beside: bool = False) -> dict[str, Any]:
        """Return the document that `--json` prints: a method's fields, and all metrics by name.

        With `beside` each method also has `extra`, which that leaves out.
        """
        return {
            "scenario": self.scenario,
            "seed": document.plain(self.seed),
            "replications": document.plain(self.replications),
            "duration_s": document.plain(self.duration_s),
            "version": self.version,
            "results": [
                document.record_document(item, self.ratio(item.method), beside=beside)
                for item in self.results
            ],
        }

    def to_json(self) -> str:
        """Return `to_dict()` as JSON text; what is not finite is null."""
        return document.to_json(self.to_dict())

    def summary(self) -> "DataFrame":
        """Return a row a method: all metrics, as `ddsim list metrics` names them; NaN for none.

        Merged goodput and goodput have their 95% intervals beside them, `_low` and `_high`.
        `ratio` is merged tokens per hour over those of `data_parallel`.
        """
        from ddsim.results import frames

        return frames.summary(self.results)

    def accounts(self) -> "DataFrame":
        """Return fractions of capacity x wall-clock: a row a method, a column an account."""
        from ddsim.results import frames

        return frames.accounts(self.results)

    def timeline(self) -> "DataFrame":
        """Return the units' states: method, unit, start and end in s, state, chips, computing."""
        from ddsim.results import frames

        return frames.timeline(self.results)

    def merges(self) -> "DataFrame":
        """Return the synchronizations: method, slot, fragments, start, arrival in s, learners."""
        from ddsim.results import frames

        return frames.merges(self.results)

    def learning(self) -> "DataFrame":
        """Return the loss curves: method, wall_clock_s, tokens, tokens_merged, steps, loss."""
        from ddsim.results import frames

        return frames.learning(self.results)

    def _repr_html_(self) -> str:
        from ddsim.results import frames

        title = f"{self.scenario}: {self.duration_s:g} s, seed {self.seed}"
        if self.replications > 1:
            title += f", mean of {self.replications} replications"
        return frames.html(self.results, title)

    def save(self, folder: str | Path) -> list[Path]:
        """Write results.json, scenario.yaml, tables as CSV, and trace.json.gz for trace viewers.

        given.yaml is the scenario as it was written, with its comments.
        The tables are accounts.csv, timeline.csv and merges.csv.gz; tapes that were kept go to
        tape.jsonl.gz. A file is replaced in one move,
        never left half written; tables and scenario are written only if there is something in
        them. Returns what was written. Raises OSError.
        """
        from ddsim.results import store

        content = self.to_dict(beside=True)
        return store.save(Path(folder), content, self.results, self.resolved, self.given)

    @classmethod
    def load(cls, folder: str | Path) -> "Results":
        """Read what `save` wrote, logs included.

        Raises FileNotFoundError when there is nothing, ValueError when it is not a saved result.
        """
        from ddsim.results import reading

        head, records, resolved, given = reading.load(Path(folder))
        return cls(**head, results=records, resolved=resolved, given=given)

    def ratio(self, method: str, to: str = BASELINE) -> float | None:
        """Return merged tokens per hour over those of the method `to`; None without such."""
        return ratio(self.results, self[method].method, to)
