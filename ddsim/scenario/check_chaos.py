"""What has to hold of the planned faults: their targets exist, their times are in the run."""

from __future__ import annotations

import re

from ddsim.naming import listed, shown, suggestion
from ddsim.scenario.check_network import MOST_CHANGES
from ddsim.scenario.contents import Contents
from ddsim.scenario.failures import Chaos
from ddsim.scenario.report import Report
from ddsim.scenario.tree import Path
from ddsim.scenario.units import TIME, write_quantity

_PART = re.compile(r"(?P<unit>.+?)(?:/(?P<part>slice|chip) (?P<number>\d{1,9}))?")
_DIGITS = re.compile(r"\d+")
_FORMS = "UNIT, UNIT/slice N or UNIT/chip N"


def check_chaos(scenario: Contents, report: Report) -> None:
    """Report what does not hold; ``scenario`` is laid out."""
    _times(scenario, report)
    for index, fault in enumerate(scenario.chaos):
        where: Path = ("chaos", index)
        if not report.usable(where):
            continue
        _bandwidth_left(fault, where, report)
        _flapping(scenario, fault, where, report)
        target = (*where, "target")
        if report.usable(target, (*where, "fault")) and report.given(*target):
            _target(scenario, fault, target, report)


def _times(scenario: Contents, report: Report) -> None:
    """Faults that do not begin within the run are reported once, at the first of them."""
    if not report.usable(("duration",)):
        return
    late = [
        (fault, ("chaos", index, "at"))
        for index, fault in enumerate(scenario.chaos)
        if fault.at >= scenario.duration and report.usable(("chaos", index, "at"))
    ]
    if late:
        (first, at), *others = late
        found = f"{write_quantity(first.at, TIME)}, not within the run"
        if others:
            found += f", as {len(others)} later {'one' if len(others) == 1 else 'ones'}"
        report.add(at, found, f"before {write_quantity(scenario.duration, TIME)}, the duration")


def _bandwidth_left(fault: Chaos, where: Path, report: Report) -> None:
    to = (*where, "to")
    if not report.usable(to, (*where, "fault")):
        return
    share = fault.to is not None and fault.to < 1.0
    if fault.fault == "throttle" and (fault.to is None or share):
        found = f"{fault.to:g}, a number without a unit" if fault.to else "not given"
        report.add(to, found, 'throttle needs what is left, such as "500 Mbit/s"')
    elif fault.fault == "slow" and not share:
        found = "a bandwidth" if fault.to else "not given"
        report.add(to, found, "slow needs the share of speed that is left, such as 0.6")
    elif fault.fault not in ("throttle", "slow") and fault.to is not None:
        what = "share" if share else "bandwidth"
        report.add(
            to, f"a {what} for {fault.fault}", "only throttle and slow leave anything", key=True
        )


def _flapping(scenario: Contents, fault: Chaos, where: Path, report: Report) -> None:
    every = (*where, "every")
    if not report.usable(every, (*where, "fault")):
        return
    if fault.fault == "flap":
        if fault.every is None:
            report.add(every, "not given", 'flap needs how long it is down, such as "10 s"')
        elif min(fault.duration, scenario.duration) / fault.every > MOST_CHANGES:
            found = f"{write_quantity(fault.every, TIME)}, for {fault.duration:g} s"
            report.add(every, found, f"at most {MOST_CHANGES} changes within the run")
    elif fault.every is not None:
        report.add(every, f"a time for {fault.fault}", "only flap comes again", key=True)


def _target(scenario: Contents, fault: Chaos, where: Path, report: Report) -> None:
    if fault.fault in ("kill", "slow"):
        _hardware(scenario, fault.target, where, report)
    elif fault.fault == "lose_replica":
        _replica(scenario, fault.target, where, report)
    else:
        _network(scenario, fault.target, where, report)


def unit_problem(scenario: Contents, name: str, forms: str) -> tuple[str, str] | None:
    """What is wrong with the name of a unit, and what is allowed; None where there is one."""
    units = [unit.name for unit in scenario.cluster.units]
    if name in units:
        return None
    # unit 3 is no better guess than unit 2 for unit 9
    numbered = _DIGITS.sub("", name) in {_DIGITS.sub("", unit) for unit in units}
    near = "" if numbered else suggestion(name.split("/")[0], units)
    shown_units = units if len(units) <= 8 else [*units[:8], "..."]
    return f"no unit {shown(name)}", f"{near}{forms}; units: {', '.join(shown_units)}"


def _hardware(scenario: Contents, target: str, where: Path, report: Report) -> None:
    units = {unit.name: unit for unit in scenario.cluster.units}
    match = _PART.fullmatch(target)
    name = match["unit"] if match else target
    problem = unit_problem(scenario, name, _FORMS)
    if problem is not None:
        report.add(where, *problem)
        return
    if match is None or match["part"] is None:
        return
    count = units[name].slice_count if match["part"] == "slice" else units[name].chips
    if int(match["number"]) >= count:
        found = f"no {match['part']} {match['number']} in {shown(name)}"
        report.add(where, found, f"0 to {count - 1}: it has {count} {match['part']}s")


def _replica(scenario: Contents, target: str, where: Path, report: Report) -> None:
    regions = list(scenario.network.regions)
    units = [unit.name for unit in scenario.cluster.units]
    if target in regions or target in units:
        return
    near = suggestion(target, regions + units)
    allowed = f"{near}a region ({listed(regions)}), or a unit whose replica it is"
    report.add(where, f"no region or unit {shown(target)}", allowed)


def _network(scenario: Contents, target: str, where: Path, report: Report) -> None:
    regions = list(scenario.network.regions)
    pairs = [f"{here}-{there}" for here in regions for there in regions if here != there]
    if target in regions or target in pairs:
        return
    near = suggestion(target, regions + pairs)
    allowed = f"{near}a region ({listed(regions)}), or a link A-B between two of them"
    report.add(where, f"no region or link {shown(target)}", allowed)
