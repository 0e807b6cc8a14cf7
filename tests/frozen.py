"""What every scenario of a large collection gives, kept in a file and compared with it later.

`python tests/frozen.py --write FILE` runs the collection of `frozen_cases` and keeps its results.
`python tests/frozen.py --compare FILE` runs what the file holds, scenarios included, and says what
differs; it exits with 1 where anything does. `--against OTHER` compares two files without a run.
Only ddsim's public interface is used, so that a file outlives changes of what is below.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from math import fsum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ddsim
from ddsim.results import MethodResult
from ddsim.results.metrics import METRICS

TOLERANCE = 1e-9
DIGITS = 12
OWN_COST = {"method", "events", "elapsed_s", "learning", "goal", "quality"}
FOLLOWING = set(METRICS) - set(MethodResult.__dataclass_fields__)  # from figures that are kept
LEFT_OUT = OWN_COST | FOLLOWING | {"merged_goodput", "merged_goodput_ci95"}
SHOWN = 40


@dataclass(frozen=True)
class FrozenCase:
    """One scenario to be run: a shipped one or a whole document, with overrides on top."""

    name: str
    """Its group, a slash, and what it is: unique, and the same from file to file."""
    shipped: str | None = None
    document: dict[str, Any] | None = None
    overrides: dict[str, Any] = field(default_factory=dict)
    methods: list[str] | None = None
    replications: int = 1

    @property
    def group(self) -> str:
        """The collection's part that it belongs to."""
        return self.name.partition("/")[0]

    def load(self) -> Any:
        """Return the scenario. Raises ScenarioError where it is none."""
        if self.shipped is not None:
            return ddsim.load(self.shipped, self.overrides)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "frozen.yaml"
            lines = (self.document or {}).items()
            text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in lines)
            path.write_text(text, encoding="utf-8")
            return ddsim.load(path, self.overrides)

    def figures(self) -> dict[str, dict[str, Any]]:
        """Run it; return each method's figures."""
        results = ddsim.run(self.load(), self.methods, replications=self.replications)
        records = {record["method"]: record for record in results.to_dict(beside=True)["results"]}
        accounts = results.accounts()
        merges, spans = results.merges(), results.timeline()
        found = {}
        for name, record in records.items():
            extra = record.pop("extra", None) or {}
            kept = {key: value for key, value in record.items() if key not in LEFT_OUT}
            kept["accounts"] = {key: float(value) for key, value in accounts.loc[name].items()}
            kept["learning"] = _learning(record["learning"])
            kept["merges"] = _merges(merges[merges["method"] == name])
            kept["states"] = _states(spans[spans["method"] == name])
            kept["beside"] = _beside(extra)
            found[name] = _short(kept)
        return found


def _learning(told: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if told is None:
        return None
    curve = told["curve"]
    return {
        "initial_loss": told["initial_loss"],
        "final_loss": told["final_loss"],
        "points": len(curve),
        "sums": [fsum(column) for column in zip(*curve, strict=True)],
    }


def _merges(log: Any) -> dict[str, float]:
    """How many there are, and sums that any other time or learner in them would change."""
    return {
        "count": len(log),
        "starts_s": fsum(log["start"]),
        "arrivals_s": fsum(log["arrival"]),
        "learners": sum(map(len, log["learners"])),
        "weights": fsum(fsum(weights) for weights in log["weights"]),
    }


def _states(spans: Any) -> dict[str, dict[str, float]]:
    """For each state of units its spans and chip-seconds."""
    found: dict[str, dict[str, float]] = {}
    for state, part in spans.groupby("state"):
        chip_seconds = (part["end"] - part["start"]) * part["healthy_chips"]
        found[str(state)] = {"spans": len(part), "chip_s": fsum(chip_seconds)}
    return found


def _beside(extra: Mapping[str, Any]) -> dict[str, Any]:
    """What no column has: late answers, means over merges, bytes of links, a policy's turns."""
    told: dict[str, Any] = {"late_answers": extra.get("late_answers")}
    for name, spread in (extra.get("merges") or {}).items():
        if isinstance(spread, dict):  # quantiles have few digits
            told[name] = {key: spread.get(key) for key in ("count", "mean", "max")}
    links = extra.get("links") or []
    told["link_bytes"] = fsum(link["bytes"] for link in links)
    told["recovery_bytes"] = fsum(link["recovery_bytes"] for link in links)
    policy = extra.get("policy")
    told["policy_turns"] = len(policy["log"]) if policy else None
    return told


def _short(value: Any) -> Any:
    """The value with as many digits as are compared, and what is absent left out."""
    if isinstance(value, Mapping):
        return {key: _short(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_short(item) for item in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _observed(case: FrozenCase) -> tuple[dict[str, dict[str, Any]], float]:
    """A case's figures, or of a run that failed its error, and the processor's seconds."""
    started = time.process_time()
    try:
        figures = case.figures()
    except Exception as error:
        # without the place of the file, which is another every time
        told = str(error).rpartition("frozen.yaml:")[2].partition("\n")[0]
        figures = {"error": {"error": f"{type(error).__name__}: {told}"}}
    return figures, time.process_time() - started


@dataclass
class Frozen:
    """Cases with their figures, and the processor's seconds that each took."""

    cases: list[FrozenCase]
    figures: dict[str, dict[str, dict[str, Any]]]
    seconds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, cases: Sequence[FrozenCase], jobs: int) -> Frozen:
        """Run the cases in this many processes."""
        if jobs == 1:
            observed = [_observed(case) for case in cases]
        else:
            with ProcessPoolExecutor(jobs) as pool:
                observed = list(pool.map(_observed, cases, chunksize=4))
        pairs = list(zip(cases, observed, strict=True))
        return cls(
            list(cases),
            {case.name: figures for case, (figures, _) in pairs},
            {case.name: seconds for case, (_, seconds) in pairs},
        )

    @classmethod
    def read(cls, path: Path) -> Frozen:
        """Read a file that `write` made."""
        kept = json.loads(gzip.decompress(path.read_bytes()))
        cases = [FrozenCase(name=name, **entry["case"]) for name, entry in kept.items()]
        return cls(cases, {name: entry["figures"] for name, entry in kept.items()})

    def write(self, path: Path) -> None:
        """Keep cases and figures: the same bytes for the same numbers."""
        kept: dict[str, Any] = {}
        for case in self.cases:
            entry = {key: value for key, value in asdict(case).items() if value and key != "name"}
            kept[case.name] = {"case": entry, "figures": self.figures[case.name]}
        text = json.dumps(kept, separators=(",", ":"), ensure_ascii=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))

    def matching(self, *wanted: str) -> list[FrozenCase]:
        """The cases whose name, or group, is one of these or matches one as a pattern."""
        return [
            case
            for case in self.cases
            if any(case.group == w or case.name == w or fnmatchcase(case.name, w) for w in wanted)
        ]


@dataclass(frozen=True)
class Difference:
    """One figure of one method in one case that is not what it was."""

    case: str
    method: str
    path: str
    was: Any
    now: Any
    relative: float | None
    """Of the larger of the two or of 1; None where one of them is no number."""

    @property
    def size(self) -> float:
        """How large, for sorting: what is no number is worst."""
        return float("inf") if self.relative is None else self.relative


def differences(
    case: str, was: Mapping[str, Any], now: Mapping[str, Any], tolerance: float = TOLERANCE
) -> Iterator[Difference]:
    """What differs between a case's figures by more than the tolerance, method by method."""
    for method in dict.fromkeys([*was, *now]):
        one, other = dict(_leaves(was.get(method))), dict(_leaves(now.get(method)))
        for path in dict.fromkeys([*one, *other]):
            # what a tree knew no account for, it had no time in
            nothing = 0.0 if path.startswith("accounts.") else None
            a, b = one.get(path, nothing), other.get(path, nothing)
            if a == b:
                continue
            if isinstance(a, int | float) and isinstance(b, int | float):
                relative = abs(a - b) / max(1.0, abs(a), abs(b))
                if relative > tolerance:
                    yield Difference(case, method, path, a, b, relative)
            else:
                yield Difference(case, method, path, a, b, None)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]")
    elif value is not None:
        yield path, value


@dataclass
class Comparison:
    """Two sets of figures of the same cases, side by side."""

    was: Frozen
    now: Frozen
    tolerance: float = TOLERANCE

    def __post_init__(self) -> None:
        self.found: dict[tuple[str, str], list[Difference]] = defaultdict(list)
        self.compared: list[tuple[str, str]] = []
        for name, now in self.now.figures.items():
            was = self.was.figures.get(name, {})
            self.compared += [(name, method) for method in dict.fromkeys([*was, *now])]
            for difference in differences(name, was, now, self.tolerance):
                self.found[name, difference.method].append(difference)

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not self.found

    def by_method(self) -> dict[str, dict[str, Any]]:
        """For each method the cases that are equal and those that are not, and the largest."""
        rows: dict[str, dict[str, Any]] = {}
        for name, method in self.compared:
            row = rows.setdefault(
                method, {"equal": 0, "different": 0, "groups": Counter(), "largest": None}
            )
            mine = self.found.get((name, method))
            row["different" if mine else "equal"] += 1
            if mine:
                row["groups"][name.partition("/")[0]] += 1
                worst = max(mine, key=lambda one: one.size)
                if row["largest"] is None or worst.size > row["largest"].size:
                    row["largest"] = worst
        return rows

    def document(self) -> dict[str, Any]:
        """All of it as plain data."""
        rows = self.by_method()
        for row in rows.values():
            row["largest"] = None if row["largest"] is None else asdict(row["largest"])
        return {
            "tolerance": self.tolerance,
            "equal": self.equal,
            "by_method": rows,
            "differences": [asdict(one) for mine in self.found.values() for one in mine],
        }

    def lines(self, shown: int = SHOWN) -> Iterator[str]:
        """The summary by method, by figure, and the cases, the most different first."""
        yield f"{'method':24} {'equal':>7} {'different':>10}  largest difference"
        for method, row in sorted(self.by_method().items()):
            worst = row["largest"]
            told = "" if worst is None else f"{_told(worst)} in {worst.case}"
            yield f"{method:24} {row['equal']:7} {row['different']:10}  {told}"
            if row["groups"]:
                yield " " * 26 + ", ".join(f"{n} in {group}" for group, n in row["groups"].items())
        figures = Counter(path for mine in self.found.values() for path in {d.path for d in mine})
        if figures:
            yield "\nfigures: " + ", ".join(f"{path} {n}" for path, n in figures.most_common(12))
        ranked = sorted(self.found.items(), key=lambda item: -max(d.size for d in item[1]))
        for (name, method), mine in ranked[:shown]:
            yield f"\n{name}, {method}: {len(mine)} figures"
            for one in sorted(mine, key=lambda d: -d.size)[:6]:
                yield f"    {_told(one)}"
        if len(ranked) > shown:
            yield f"\nand {len(ranked) - shown} more: --show N, or --report FILE for all"


def _told(one: Difference) -> str:
    size = "not a number in both" if one.relative is None else f"{one.relative:.3g} relative"
    return f"{one.path}: {one.was!r} -> {one.now!r} ({size})"


def _timing(frozen: Frozen) -> Iterator[str]:
    """Cases and seconds of each group."""
    groups: dict[str, list[float]] = defaultdict(list)
    for case in frozen.cases:
        groups[case.group].append(frozen.seconds.get(case.name, 0.0))
    for group, spent in groups.items():
        yield f"{group:12} {len(spent):5} cases {sum(spent):7.1f} s"
    slowest = sorted(frozen.seconds, key=lambda name: -frozen.seconds[name])[:3]
    yield "slowest: " + ", ".join(f"{name} {frozen.seconds[name]:.1f} s" for name in slowest)


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or compare as the command line says; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE", help="run the collection, keep it")
    what.add_argument("--compare", type=Path, metavar="FILE", help="run what the file holds")
    parser.add_argument("--rerun", type=Path, metavar="OLD", help="--write: the cases of a file")
    parser.add_argument("--against", type=Path, metavar="OTHER", help="--compare: no run, a file")
    parser.add_argument(
        "--only", nargs="+", default=["*"], metavar="NAME", help="cases, groups, patterns"
    )
    parser.add_argument("--tolerance", type=float, default=TOLERANCE)
    parser.add_argument("--report", type=Path, metavar="JSON", help="all differences as JSON")
    parser.add_argument("--show", type=int, default=SHOWN, help="how many cases to print")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args(arguments)
    started = time.perf_counter()
    if given.write is not None:
        return _write(given, started)
    was = Frozen.read(given.compare)
    cases = was.matching(*given.only)
    if given.against is not None:
        other = Frozen.read(given.against)
        names = {case.name for case in cases}
        now = Frozen(cases, {k: v for k, v in other.figures.items() if k in names})
    else:
        now = Frozen.of(cases, given.jobs)
        _say(_timing(now))
    compared = Comparison(was, now, given.tolerance)
    _say(compared.lines(given.show))
    if given.report is not None:
        text = json.dumps(compared.document(), indent=1, ensure_ascii=False)
        given.report.write_text(text + "\n", encoding="utf-8")
    verdict = "all equal" if compared.equal else f"{len(compared.found)} differ"
    spent = time.perf_counter() - started
    _say([f"{len(cases)} cases, {len(compared.compared)} runs: {verdict}; {spent:.0f} s"])
    return 0 if compared.equal and cases else 1


def _write(given: argparse.Namespace, started: float) -> int:
    if given.rerun is not None:
        cases = Frozen.read(given.rerun).cases
    else:
        from frozen_cases import collection

        cases = list(collection())
    if len({case.name for case in cases}) != len(cases):
        raise ValueError("two cases have one name")
    frozen = Frozen.of(Frozen(cases, {}).matching(*given.only), given.jobs)
    left_out = {n: f["error"]["error"] for n, f in frozen.figures.items() if "error" in f}
    failed = [name for name, why in left_out.items() if not why.startswith("ScenarioError")]
    frozen.cases = [case for case in frozen.cases if case.name not in left_out]
    frozen.write(given.write)
    _say(f"left out: {name}: {why}" for name, why in left_out.items())
    _say(_timing(frozen))
    size = given.write.stat().st_size / 1e6
    spent = time.perf_counter() - started
    _say([f"{len(frozen.cases)} cases in {size:.2f} MB; {spent:.0f} s"])
    return 1 if failed else 0  # a drawn scenario may be invalid, but what is valid runs


if __name__ == "__main__":
    sys.exit(main())
