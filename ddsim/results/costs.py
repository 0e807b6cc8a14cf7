"""Money and energy of a run, from the prices and the power that its scenario gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ddsim.scenario import Scenario

HOUR = 3600.0
KWH = 3.6e6
BILLION = 1e9
_COMPUTING = ("productive", "wasted_progress", "degraded")
_OUTSIDE = ("unallocated", "failed_hardware")


def costs(
    scenario: Scenario,
    accounts: Mapping[str, float],
    tokens_merged: float,
    egress_usd: float = 0.0,
) -> dict[str, float]:
    """Return `usd`, `energy_kwh`, and each per billion merged tokens; what has no price is absent.

    `accounts` are chip-seconds. Chips outside the job cost `prices.unallocated` of the price and
    draw nothing, as failed ones draw nothing; chips of the job that do not compute draw
    `power.idle`. Per-token figures are absent where nothing was merged.
    """
    found: dict[str, float] = {}
    prices, power = scenario.prices, scenario.power
    if prices.chip_hour is not None:
        outside = accounts.get("unallocated", 0.0)
        paid = sum(accounts.values()) - (1.0 - prices.unallocated) * outside
        found["usd"] = paid / HOUR * prices.chip_hour + egress_usd
    elif egress_usd:
        found["usd"] = egress_usd
    if power.chip is not None:
        idle = power.chip if power.idle is None else power.idle
        drawing = {name: value for name, value in accounts.items() if name not in _OUTSIDE}
        watts = [power.chip if name in _COMPUTING else idle for name in drawing]
        joules = sum(w * value for w, value in zip(watts, drawing.values(), strict=True))
        found["energy_kwh"] = joules * power.overhead / KWH
    if tokens_merged > 0.0:
        for name in tuple(found):
            found[f"{name}_per_billion_merged_tokens"] = found[name] / (tokens_merged / BILLION)
    return found
