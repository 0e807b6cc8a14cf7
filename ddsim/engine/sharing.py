"""Max-min fair sharing of links among transfers, by progressive filling."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def fair_rates(
    routes: Sequence[Sequence[str]],
    capacity: Mapping[str, float],
    loads: Sequence[Sequence[float]] | None = None,
) -> list[float]:
    """Return the max-min fair rate of each route over links of the given capacities.

    All rates rise together until a link is full; whoever crosses it stays there, and the others
    rise on (D. Bertsekas, R. Gallager, Data Networks, 1992, section 6.5.2). A route takes
    `loads` times its rate of each of its links, 1 where none are given, and names each link once.
    A route over no limited link gets inf.
    """
    rates = [inf] * len(routes)
    users: dict[str, dict[int, float]] = {}
    for index, route in enumerate(routes):
        weights = loads[index] if loads is not None else [1.0] * len(route)
        for link, load in zip(route, weights, strict=True):
            if capacity[link] < inf and load > 0.0:
                users.setdefault(link, {})[index] = load
    left = {link: capacity[link] for link in users}
    taken = {link: sum(crossing.values()) for link, crossing in users.items()}
    while users:
        fullest = min(users, key=lambda link: left[link] / taken[link])
        share = left[fullest] / taken[fullest]
        for index in users.pop(fullest):
            rates[index] = share
            for link in routes[index]:
                crossing = users.get(link)
                if crossing is None:
                    continue
                load = crossing.pop(index, 0.0)
                left[link] = max(0.0, left[link] - share * load)
                taken[link] -= load
                if not crossing:
                    del users[link]
                elif taken[link] <= 0.0:  # rounding
                    taken[link] = sum(crossing.values())
    return rates
