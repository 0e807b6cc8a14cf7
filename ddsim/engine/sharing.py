"""Max-min fair sharing of links among transfers, by progressive filling."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def fair_rates(routes: Sequence[Sequence[str]], capacity: Mapping[str, float]) -> list[float]:
    """Return the max-min fair rate of each route over links of the given capacities.

    All rates rise together until a link is full; whoever crosses it stays there, and the others
    rise on (D. Bertsekas, R. Gallager, Data Networks, 1992, section 6.5.2). A route over no
    limited link gets inf.
    """
    rates = [inf] * len(routes)
    users: dict[str, set[int]] = {}
    for index, route in enumerate(routes):
        for link in route:
            users.setdefault(link, set()).add(index)
    left = {link: capacity[link] for link in users if capacity[link] < inf}
    while left:
        fullest = min(left, key=lambda link: left[link] / len(users[link]))
        share = left[fullest] / len(users[fullest])
        for index in list(users[fullest]):
            rates[index] = share
            for link in set(routes[index]):
                users[link].discard(index)
                if link in left:
                    left[link] = max(0.0, left[link] - share)
        left = {link: rest for link, rest in left.items() if users[link]}
    return rates
