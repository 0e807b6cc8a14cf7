"""What the rows of experiments.py say together: means with intervals, and time to equal loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import exp, log, nan
from typing import Any

import numpy as np
from scipy.stats import t as student

Row = Sequence[Any]
Key = tuple[Any, ...]
Base = Callable[[Key, Key], bool]
"""Whether a setting, the first, is what another's loss is compared with."""
Losses = dict[float, dict[int, float]]


def with_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error."""
    count = len(values)
    mean = float(np.mean(values))
    return mean, float(np.std(values, ddof=1) / count**0.5) if count > 1 else nan


def means(header: Row, rows: Sequence[Row], base: Base | None = None) -> Iterator[Row]:
    """Yield a line for each setting: means over seeds of all columns after `seed`.

    With `base` the loss is also set against that of the setting which it picks, paired by seed.
    """
    at, loss = list(header).index("seed"), list(header).index("loss")
    found: dict[Key, dict[int, Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[:at]), {})[row[at]] = row
    names = header[at + 1 :]
    yield (
        *header[:at],
        "seeds",
        *(part for name in names for part in (name, "+-")),
        "over %",
        "+-",
    )
    for key, by_seed in found.items():
        line: list[Any] = [*key, len(by_seed)]
        for column in range(at + 1, len(header)):
            values = [row[column] for row in by_seed.values() if row[column] is not None]
            line += with_error(values) if values else (nan, nan)
        other = next((found[one] for one in found if base and base(one, key)), None)
        pairs = [
            100 * (row[loss] / other[seed][loss] - 1)
            for seed, row in by_seed.items()
            if other is not None and seed in other
        ]
        yield (*line, *(with_error(pairs) if pairs else (nan, nan)))


def equal_loss(header: Row, rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the time that Decoupled needs to elastic data-parallel's final loss, over its own.

    Decoupled's loss, in the mean over seeds, is a smooth function of how long it had (a cubic of
    the logarithms, or less where there are few times); the interval is the jackknife's over
    seeds, which histories and trainings share. Beyond what was run by more than 40% it is nan.
    """
    index = {name: place for place, name in enumerate(header)}
    settings = dict.fromkeys(row[index["setting"]] for row in rows)
    yield "setting", "minutes", "seeds", "time_ratio", "low", "high"
    for setting in settings:
        theirs: Losses = {}
        ours: Losses = {}
        for row in rows:
            if row[index["setting"]] == setting:
                kind = ours if row[index["method"]] == "decoupled_diloco" else theirs
                losses = kind.setdefault(row[index["minutes"]], {})
                losses[row[index["seed"]]] = row[index["loss"]]
        seeds = sorted(set.intersection(*(set(losses) for losses in ours.values())))
        for minutes, losses in sorted(theirs.items()):
            alike = [seed for seed in seeds if seed in losses]
            found = _ratio(ours, losses, minutes, alike)
            parts = [
                _ratio(ours, losses, minutes, [other for other in alike if other != seed])
                for seed in alike
                if len(alike) > 2
            ]
            half = _jackknife(parts)
            yield setting, minutes, len(alike), exp(found), exp(found - half), exp(found + half)


def explained(header: Row, rows: Sequence[Row]) -> Iterator[Row]:
    """Yield what that time consists of: factors whose product is the ratio of times.

    `tokens` is how much longer elastic data-parallel takes for as many tokens (below 1), `merged`
    what Decoupled's overwritten work costs, and `rest` how many merged tokens it needs for one of
    elastic data-parallel's at equal loss: merges once in H steps, batches, rates.
    """
    index = {name: place for place, name in enumerate(header)}
    found: dict[tuple[Any, bool], list[tuple[float, float]]] = {}
    for row in rows:
        minutes, tokens, merged = (row[index[name]] for name in ("minutes", "tokens", "merged"))
        key = row[index["setting"]], row[index["method"]] == "decoupled_diloco"
        found.setdefault(key, []).append((tokens / minutes, merged / tokens))
    yield "setting", "minutes", "time_ratio", "tokens", "merged", "rest"
    for setting, minutes, _, ratio, *_ in list(equal_loss(header, rows))[1:]:
        ours, theirs = (np.mean(found[setting, kind], axis=0) for kind in (True, False))
        tokens, merged = float(theirs[0] / ours[0]), float(1.0 / ours[1])
        yield setting, minutes, ratio, tokens, merged, ratio / tokens / merged


def _ratio(ours: Losses, losses: dict[int, float], minutes: float, seeds: Sequence[int]) -> float:
    """The logarithm of the ratio of times at equal loss."""
    times = sorted(ours)
    x = np.log(times)
    y = [log(np.mean([ours[time][seed] for seed in seeds])) for time in times]
    fit = np.polyfit(x, y, 3 if len(times) > 8 else min(2, len(times) - 1))
    grid = np.linspace(x[0] - log(1.4), x[-1] + log(1.4), 5000)
    low = np.polyval(fit, grid) <= log(np.mean([losses[seed] for seed in seeds]))
    return float(grid[low.argmax()] - log(minutes)) if low.any() else nan


def _jackknife(parts: Sequence[float]) -> float:
    count = len(parts)
    if count < 3:
        return nan
    spread = sum((part - float(np.mean(parts))) ** 2 for part in parts)
    return float(student.ppf(0.975, count - 1) * ((count - 1) / count * spread) ** 0.5)
