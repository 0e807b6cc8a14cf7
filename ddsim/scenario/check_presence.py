"""What has to hold of hardware that joins and leaves: it exists, and its times fit each other."""

from __future__ import annotations

import re

from ddsim.scenario.check_chaos import unit_problem
from ddsim.scenario.contents import Contents
from ddsim.scenario.presence import Maintenance, Scavenged
from ddsim.scenario.report import Report
from ddsim.scenario.tree import Path
from ddsim.scenario.units import TIME, write_quantity

TARGET = re.compile(r"(?P<unit>.+?)(?:/slice (?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?)?")
_FORMS = "UNIT, UNIT/slice N or UNIT/slice N-M"


def check_presence(scenario: Contents, report: Report) -> None:
    """Report what does not hold; ``scenario`` is laid out."""
    for index, window in enumerate(scenario.failures.maintenance):
        where: Path = ("failures", "maintenance", index)
        if report.sound(where):
            _target(scenario, window.target, (*where, "target"), report)
            _window(window, where, report)
    for index, item in enumerate(scenario.scavenging):
        where = ("scavenging", index)
        if report.sound(where):
            _target(scenario, item.target, (*where, "target"), report)
            _stay(item, where, report)


def _target(scenario: Contents, target: str, where: Path, report: Report) -> None:
    if not report.given(*where):
        return
    match = TARGET.fullmatch(target)
    name = match["unit"] if match else target
    problem = unit_problem(scenario, name, _FORMS)
    if problem is not None:
        report.add(where, *problem)
        return
    assert match is not None
    if match["first"] is None:
        return
    count = next(u.slice_count for u in scenario.cluster.units if u.name == name)
    first, last = int(match["first"]), int(match["last"] or match["first"])
    if not first <= last < count:
        found = f"no slices {first} to {last}" if match["last"] else f"no slice {first}"
        report.add(where, f'{found} in "{name}"', f"0 to {count - 1}: it has {count} slices")


def _window(window: Maintenance, where: Path, report: Report) -> None:
    if window.every is not None and window.every <= window.duration:
        length = write_quantity(window.duration, TIME)
        report.add(
            (*where, "every"), write_quantity(window.every, TIME), f"more than {length}, its length"
        )


def _stay(item: Scavenged, where: Path, report: Report) -> None:
    if item.leaves <= item.joins:
        found = f"{write_quantity(item.leaves, TIME)}, before it joins"
        allowed = f"more than {write_quantity(item.joins, TIME)}"
        report.add((*where, "leaves"), found, allowed)
    elif item.every is not None and item.every <= item.leaves - item.joins:
        length = "it never leaves"
        if item.leaves - item.joins < float("inf"):
            length = f"more than {write_quantity(item.leaves - item.joins, TIME)}, its stay"
        report.add((*where, "every"), write_quantity(item.every, TIME), length)
