"""Two results or studies side by side: what changed in the scenario, and in the outcome."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddsim.results import Results
from ddsim.results.metrics import RANKING, RATIO, refusal
from ddsim.study import store
from ddsim.study.changes import Change, changes
from ddsim.study.errors import StudyError
from ddsim.study.grid import Label
from ddsim.study.measures import difference, has, mean, measured, parts, shared
from ddsim.study.results import Study
from ddsim.study.statistics import NONE, apart
from ddsim.study.tables import Table, ratios
from ddsim.study.work import METRICS, numbers_of
from ddsim.world.chance import Chance

if TYPE_CHECKING:
    from ddsim.study.work import Row

_COLUMNS = ["method", "metric", "a", "b", "difference", "low", "high", "change", "histories"]
_COLUMNS += ["basis"]


HEADLINE = (RANKING, RATIO, "goodput")
"""What is compared unless something else is asked for."""
_Key = tuple[str, tuple[tuple[str, Label], ...]]


@dataclass(frozen=True)
class Comparison:
    """B against A. `outcomes` has a row for each method and setting that both have.

    `basis` says where an interval of 95% comes from: `paired` (the same histories), `apart`
    (histories of their own), `intervals` (those of the two means), or `none` (one history, or a
    ratio, which is of sums over all of them). Pairs are the `histories` in which both have the
    metric, and `a` and `b` are of those alone.
    """

    a: str
    b: str
    changes: Sequence[Change]
    outcomes: Table
    only_a: Sequence[str] = ()
    only_b: Sequence[str] = ()


@dataclass(frozen=True)
class _Outcome:
    """One method at one setting: its metric, and what an interval can be made from."""

    mean: float
    rows: Sequence[Row] = ()
    interval: tuple[float, float] | None = None
    chance: Chance = field(default_factory=Chance)


@dataclass(frozen=True)
class _Side:
    """One of the two: of a metric its outcomes by method and settings."""

    seed: int
    resolved: str
    of: Callable[[str], Mapping[_Key, _Outcome]] = field(repr=False)

    def names(self) -> dict[str, None]:
        return dict.fromkeys(name for _, settings in self.of(RANKING) for name, _ in settings)


def compare(a: str | Path, b: str | Path, metric: str | None = None) -> Comparison:
    """Compare two saved results (`run --out`) or studies (`sweep --out`), B against A.

    `metric` is one of `ddsim list metrics`; without it merged goodput, goodput and, where both have
    it, the ratio are compared. What only one of them varies is left aside where that leaves one
    cell. Raises StudyError for a folder that is neither, or for a metric that there is not.
    """
    metrics = HEADLINE if metric is None else (metric,)
    if metric is not None and metric not in (*METRICS, RATIO):
        raise StudyError(refusal(metric))
    one, other = _side(Path(a)), _side(Path(b))
    varied = [name for name in one.names() if name in other.names()]
    table = Table([*varied, *_COLUMNS], [])
    for name in metrics:
        left, right = (_by_shared(side.of(name), varied) for side in (one, other))
        for key, mine in left.items():
            theirs = right.get(key)
            if theirs is not None:
                settings = dict(key[1])
                line = _line(mine, theirs, name, one.seed == other.seed)
                table.rows.append([*(settings.get(n, "") for n in varied), key[0], name, *line])
    if not table.rows:
        raise StudyError(f"{a} and {b} share no method at the same settings with a {metrics[0]}")
    left, right = (_by_shared(side.of(metrics[0]), varied) for side in (one, other))
    return Comparison(
        str(a),
        str(b),
        changes(one.resolved, other.resolved, [str(Path(x) / store.SCENARIO) for x in (a, b)])
        if one.resolved and other.resolved
        else (),
        table,
        [_words(key) for key in left if key not in right],
        [_words(key) for key in right if key not in left],
    )


def _words(key: _Key) -> str:
    return ", ".join([key[0], *(f"{name}={label}" for name, label in key[1] if label != "")])


def _by_shared(outcomes: Mapping[_Key, _Outcome], shared: Collection[str]) -> dict[_Key, _Outcome]:
    """The outcomes by the settings that both sides have, where these tell them apart."""
    found: dict[_Key, list[_Outcome]] = {}
    for (method, settings), outcome in outcomes.items():
        kept = tuple(item for item in settings if item[0] in shared)
        found.setdefault((method, kept), []).append(outcome)
    return {key: alike[0] for key, alike in found.items() if len(alike) == 1}


def _side(folder: Path) -> _Side:
    if folder.is_file():
        folder = folder.parent
    if (folder / store.MANIFEST).is_file():
        study = Study.load(folder)
        return _Side(study.seed, study.resolved, partial(_of_study, study))
    try:
        results = Results.load(folder)
        return _Side(results.seed, results.resolved, partial(_of_results, results))
    except FileNotFoundError:
        raise StudyError(
            f"{folder}: neither a result (`ddsim run --out`) nor a study (`ddsim sweep --out`)"
        ) from None
    except ValueError as error:
        raise StudyError(str(error)) from None


def _of_study(study: Study, metric: str) -> dict[_Key, _Outcome]:
    compared = ratios(study) if metric == RATIO else {}
    outcomes = {}
    for cell in study.done:
        if not cell.is_base:
            continue
        key = cell.method, tuple(cell.but("without", "input").items())
        rows = study.rows[cell.index]
        found = measured(rows, metric, cell.chance)
        if found is not None:
            ends = (found.low, found.high) if found.enough else None
            outcomes[key] = _Outcome(found.value, rows, ends, cell.chance)
        elif cell.index in compared:
            outcomes[key] = _Outcome(compared[cell.index])
    return outcomes


def _of_results(results: Results, metric: str) -> dict[_Key, _Outcome]:
    outcomes: dict[_Key, _Outcome] = {}
    for item in results.results:
        row = numbers_of(item)
        value = results.ratio(item.method) if metric == RATIO else row[metric]
        if value is not None:
            rows = (row,) if results.replications == 1 and metric != RATIO else ()
            interval = getattr(item, f"{metric}_ci95", None)
            outcomes[item.method, ()] = _Outcome(value, rows, interval)
    return outcomes


def _line(a: _Outcome, b: _Outcome, metric: str, same_seed: bool) -> list[Any]:
    pairs = shared(b.rows, a.rows, metric) if same_seed else []
    chance = a.chance.with_(b.chance)
    values = [a.mean, b.mean]
    low, high = NONE
    basis, n = "none", 0
    if pairs:
        values = [mean([pair[side] for pair in pairs], metric) or 0.0 for side in (1, 0)]
    found = difference(pairs, metric, chance) if len(pairs) > 1 else None
    if found is not None:
        low, high, basis, n = found.low, found.high, "paired", found.n
    elif not same_seed and min(len(a.rows), len(b.rows)) > 1:
        if a.interval is not None and b.interval is not None:
            _, low, high = apart(*(parts(side.rows, metric) for side in (b, a)))
        n = min(sum(has(row, metric) for row in side.rows) for side in (a, b))
        basis = "apart"
    elif not (a.rows and b.rows) and a.interval is not None and b.interval is not None:
        half = math.hypot(*((ends[1] - ends[0]) / 2 for ends in (a.interval, b.interval)))
        between = b.mean - a.mean
        low, high, basis = between - half, between + half, "intervals"
    ends = [None if math.isnan(end) else end for end in (low, high)]
    between = values[1] - values[0]
    change = between / values[0] if values[0] else None
    return [*values, between, *ends, change, n or None, basis]
