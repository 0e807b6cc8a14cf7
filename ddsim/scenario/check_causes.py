"""What has to hold of the causes of failures: each says how often, and only what its domain has."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ddsim.naming import listed, shown
from ddsim.scenario.contents import Contents
from ddsim.scenario.failures import Cause
from ddsim.scenario.report import Report
from ddsim.scenario.tree import Path
from ddsim.scenario.units import TIME, write_quantity

_RATES = ("mtbi", "count", "lifetime")
_OFTEN = 'how often: mtbi, such as "5 yr", count with per, or lifetime'


def check_causes(scenario: Contents, report: Report) -> None:
    """Report what does not hold of `failures.causes`."""
    causes = scenario.failures.causes
    mtbi = ("failures", "chip_mtbi")
    if causes and scenario.failures.chip_mtbi < math.inf and report.usable(mtbi):
        found = f"{write_quantity(scenario.failures.chip_mtbi, TIME)} beside failures.causes"
        report.add(mtbi, found, "one of the two, or never here", key=True)
    names: list[str] = []
    for index, cause in enumerate(causes):
        where: Path = ("failures", "causes", index)
        if not report.usable(where):
            continue
        name = (*where, "name")
        if cause.name in names and report.usable(name):
            report.add(name, f"{shown(cause.name)} again", "every cause has a name of its own")
        names.append(cause.name)
        _how_often(cause, where, report)
        _ages(scenario, cause, where, report)
        _domain(scenario, cause, where, report)


def _how_often(cause: Cause, where: Path, report: Report) -> None:
    keys: Sequence[Path] = [(*where, key) for key in (*_RATES, "per")]
    if not report.sound(*keys):
        return
    given = [key for key in _RATES if getattr(cause, key) is not None]
    if not given:
        report.add((*where, "mtbi"), "not given", f"needed, {_OFTEN}")
    elif len(given) > 1:
        report.add((*where, given[1]), f"{listed(given, 'and')}", f"one of them says {_OFTEN}")
    elif (cause.count is None) != (cause.per is None):
        missing = "per" if cause.per is None else "count"
        other = "count" if missing == "per" else "per"
        report.add((*where, missing), "not given", f"needed beside {other}")


def _ages(scenario: Contents, cause: Cause, where: Path, report: Report) -> None:
    """Failures that are drawn before anybody knows who steps cannot keep ages that stand still."""
    stops: Path = ("failures", "age_while_down")
    lifetime = (*where, "lifetime")
    if cause.lifetime is None or not report.usable(lifetime) or not report.usable(stops):
        return
    if scenario.failures.age_while_down == "stops" and cause.lifetime.kind != "exponential":
        found = f"{cause.lifetime.kind} lives beside failures.age_while_down: stops"
        allowed = (
            "exponential: failures are drawn before it is known who steps; or age_while_down: runs"
        )
        report.add(lifetime, found, allowed, key=True)


def _domain(scenario: Contents, cause: Cause, where: Path, report: Report) -> None:
    if not report.usable((*where, "domain")):
        return
    lemons = (*where, "lemons")
    if cause.lemons.share > 0.0 and report.usable(lemons):
        if cause.lifetime is not None:
            report.add(
                lemons, "lemons beside a lifetime", "mtbi or count, of constant hazard", key=True
            )
        elif cause.domain == "job":
            report.add(lemons, "lemons for domain job", "a domain that has parts", key=True)
    to = (*where, "to")
    if cause.to is not None and cause.domain != "link" and report.usable(to):
        report.add(to, f"a bandwidth for domain {cause.domain}", "only a link has one", key=True)
    slow_to = (*where, "slow_to")
    hardware = cause.domain not in ("link", "replica", "job")
    if cause.slow_to is not None and not hardware and report.usable(slow_to):
        found = f"a speed for domain {cause.domain}"
        report.add(slow_to, found, "only hardware slows down", key=True)
    if cause.domain not in ("link", "replica"):
        return
    if scenario.duration == math.inf and report.usable(("duration",)):
        found = f"{cause.domain}, in a run without an end"
        report.add((*where, "domain"), found, "needs a duration")
    for key in ("state_lost", "unallocated", "notice", "latent", "screened", "burst"):
        if report.usable((*where, key)) and getattr(cause, key) != getattr(Cause(), key):
            found = f"set for domain {cause.domain}"
            report.add((*where, key), found, "only for hardware and the job", key=True)
    if cause.domain == "replica":
        return
    lifetime = (*where, "lifetime")
    if cause.lifetime is not None and report.usable(lifetime):
        report.add(lifetime, "a lifetime for a link", "mtbi, or count with per", key=True)
