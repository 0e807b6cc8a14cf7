"""Transfers that share the access of their regions max-min fairly."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from simpy import Environment

from .case import Case, LinkChange
from .clock import Moment, Order
from .network import Stretch, Traffic

Line = tuple[str, str]
"""A region, and "up" or "down"."""


@dataclass(eq=False)
class Transfer:
    """Bits on their way over some lines, at a rate since an instant."""

    lines: Sequence[Line]
    bits: float
    done: Callable[[], object]
    rate: float = -1
    since: float = 0
    end: Moment | None = None


class SharedLinks:
    """Every transfer that is under way; all rates are worked out anew whenever anything changes."""

    def __init__(self, env: Environment, case: Case, traffic: Traffic) -> None:
        self.env = env
        self.case = case
        self.traffic = traffic
        self.capacity = dict(case.capacity)
        self.transfers: list[Transfer] = []
        for change in case.link_changes:
            Moment(env, change.time, Order.DETECTED, partial(self._change, change))

    def send(self, source: str, target: str, bits: float, done: Callable[[], object]) -> None:
        """Start a transfer; `done` follows its last bit."""
        lines = ((source, "up"), (target, "down"))
        self.transfers.append(Transfer(lines, bits, done, since=self.env.now))
        self._share_anew()

    def settle(self, now: float) -> None:
        """Note as traffic what has been sent of what is under way."""
        for transfer in self.transfers:
            self._settle(transfer, now)

    def _change(self, change: LinkChange) -> None:
        self.capacity[change.region] = change.capacity
        self._share_anew()

    def _share_anew(self) -> None:
        """Once all of this instant has begun and ended: only what it comes to is a change."""
        Moment(self.env, 0, Order.NEXT, self._share)

    def _share(self) -> None:
        rates = self._fair_rates()
        for transfer in list(self.transfers):
            if rates[transfer] != transfer.rate:
                self._settle(transfer, self.env.now)
                self._go_on(transfer, rates[transfer])

    def _fair_rates(self) -> dict[Transfer, float]:
        """Fill all alike until a line is full, and the others on."""
        left = {
            (region, way): rate for region, rate in self.capacity.items() for way in ("up", "down")
        }
        rates: dict[Transfer, float] = {}
        while len(rates) < len(self.transfers):
            open_ = [transfer for transfer in self.transfers if transfer not in rates]
            users = {line: [t for t in open_ if line in t.lines] for t in open_ for line in t.lines}
            share, full = min(
                ((left[line] / len(users[line]), line) for line in users), key=lambda pair: pair[0]
            )
            for transfer in users[full]:
                rates[transfer] = share
                for line in transfer.lines:
                    left[line] = max(0, left[line] - share) if share < math.inf else math.inf
        return rates

    def _settle(self, transfer: Transfer, now: float) -> None:
        """What went at the rate so far has gone."""
        if transfer.rate > 0 and now > transfer.since:
            sent = min(transfer.bits, transfer.rate * (now - transfer.since))
            self._note(transfer, now, sent)
            transfer.bits -= sent
        transfer.since = now

    def _note(self, transfer: Transfer, now: float, bits: float) -> None:
        names = [f"{way}:{region}" for region, way in transfer.lines]
        stretch = Stretch(transfer.since, now, bits, transfer.rate, names)
        self.traffic.stretches.append(stretch)

    def _go_on(self, transfer: Transfer, rate: float) -> None:
        assert self.case.reckoning is not None
        if transfer.end is not None:
            transfer.end.cancel()
        transfer.rate, transfer.end = rate, None
        if rate > 0:
            length = 0 if rate == math.inf else self.case.reckoning.length(transfer.bits / rate)
            transfer.end = Moment(
                self.env, length, Order.LAST_BIT, lambda: self._last_bit_out(transfer)
            )

    def _last_bit_out(self, transfer: Transfer) -> None:
        self._note(transfer, self.env.now, transfer.bits)
        self.transfers.remove(transfer)
        self._share_anew()
        transfer.done()
