"""What has to hold within the cluster, and between its units and the network's regions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ddsim.naming import listed, shown, suggestion
from ddsim.scenario.catalogue import CHIPS
from ddsim.scenario.cluster import Cluster
from ddsim.scenario.contents import Contents
from ddsim.scenario.layout import unit_chips
from ddsim.scenario.report import Report

_ONE_OF_TWO = "one of the two: learners for equal units, or units one by one"


def check_cluster(scenario: Contents, report: Report) -> None:
    """Report what does not hold among chips, slices, units, regions and links."""
    _learners_or_units(scenario, report)
    _chips(scenario, report)
    _slices(scenario, report)
    _known_chips(scenario, report)
    _unit_names(scenario, report)
    _unit_regions(scenario, report)
    _alone_on_hosts(scenario, report)
    _links(scenario, report)
    _spares(scenario, report)


def _learners_or_units(scenario: Contents, report: Report) -> None:
    learners, units = ("cluster", "learners"), ("cluster", "units")
    if not report.given(*units) or not report.usable(learners, units):
        return
    if not scenario.cluster.units:
        report.add(units, "an empty list", "at least one unit, or cluster.learners")
    elif report.given(*learners):
        found = f"{scenario.cluster.learners} beside cluster.units"
        report.add(learners, found, _ONE_OF_TWO)


def _chips(scenario: Contents, report: Report) -> None:
    cluster = scenario.cluster
    where = ("cluster", "chips")
    if not report.usable(where) or not report.sound(("cluster", "units")):
        return
    own = [unit.chips for unit in cluster.units]
    if not cluster.chips:
        if not own:
            report.add(where, "not given", "needed: the chips of all units together")
        for index, chips in enumerate(own):
            if not chips:
                allowed = "needed, here or in cluster.chips for all units together"
                report.add(("cluster", "units", index, "chips"), "not given", allowed)
        return
    if not own:
        if cluster.learners > cluster.chips and report.usable(("cluster", "learners")):
            found = f"{cluster.learners} learners on {cluster.chips} chips"
            report.add(("cluster", "learners"), found, "at least one chip for each learner")
        return
    total, without = sum(own), own.count(0)
    if not without and total != cluster.chips:
        found = f"{cluster.chips}, but the units have {total} chips together"
        report.add(where, found, f"{total}, or no cluster.chips")
    elif without and cluster.chips - total < without:
        found = f"{cluster.chips}, of which the units' own chips leave {cluster.chips - total}"
        report.add(where, found, f"at least {total + without}, one for each unit")


def _slices(scenario: Contents, report: Report) -> None:
    """Slices fit into units, and every unit has at least one of its own."""
    cluster = scenario.cluster
    where = ("cluster", "chips_per_slice")
    if not report.sound(("cluster", "chips"), ("cluster", "units")):
        return
    if not report.usable(("cluster", "learners"), where) or not any(unit_chips(cluster)):
        return
    if not cluster.units:
        slices = -(-cluster.chips // cluster.chips_per_slice)
        if cluster.chips_per_slice > cluster.chips:
            found = f"{cluster.chips_per_slice} chips a slice of {cluster.chips} chips"
            report.add(where, found, f"1 to {cluster.chips}")
        elif slices < cluster.learners:
            found = f"{cluster.chips_per_slice} chips a slice, so {slices} for {cluster.learners}"
            most = cluster.chips // cluster.learners
            report.add(where, f"{found} learners", f"at least a slice for each: 1 to {most}")
        return
    for index, (unit, chips) in enumerate(zip(cluster.units, unit_chips(cluster), strict=True)):
        size = unit.chips_per_slice or cluster.chips_per_slice
        if size > chips:
            place = ("cluster", "units", index, "chips_per_slice")
            place = place if unit.chips_per_slice else ("cluster", "units", index, "chips")
            report.add(
                place, f"{size} chips a slice of {chips} chips", f"1 to {chips} chips a slice"
            )


def _known_chips(scenario: Contents, report: Report) -> None:
    # Where the step time is given, a chip's name is only a label.
    if scenario.training.step_time is not None:
        return
    cluster = scenario.cluster
    if cluster.chip_speed is None:
        _known_chip(cluster.chip, ("cluster", "chip"), report)
    for index, unit in enumerate(cluster.units):
        if unit.chip_speed is None and unit.step_time is None:
            _known_chip(unit.chip, ("cluster", "units", index, "chip"), report)


def _known_chip(chip: str | None, path: tuple[str | int, ...], report: Report) -> None:
    if chip is not None and chip not in CHIPS:
        allowed = f"{suggestion(chip, CHIPS)}{listed(list(CHIPS))}, or any name beside a chip_speed"
        report.add(path, f"unknown chip {shown(chip)}", allowed)


def _unit_names(scenario: Contents, report: Report) -> None:
    units = scenario.cluster.units
    names = [unit.name or f"unit {index}" for index, unit in enumerate(units)]
    counts = Counter(names)
    for index, name in enumerate(names):
        if counts[name] > 1 and names.index(name) != index:
            where = ("cluster", "units", index, "name")
            report.add(where, f"{shown(name)} again", "every unit has a name of its own")


def _unit_regions(scenario: Contents, report: Report) -> None:
    regions = scenario.network.regions
    if not regions or not report.usable(("network", "regions")):
        return
    for index, unit in enumerate(scenario.cluster.units):
        where = ("cluster", "units", index, "region")
        if unit.region and unit.region not in regions and report.usable(where):
            report.add(where, *_no_region(unit.region, list(regions)))


def _alone_on_hosts(scenario: Contents, report: Report) -> None:
    """Who has a step time alone shares a host with somebody."""
    units = scenario.cluster.units
    sharing = Counter(unit.host for unit in units)
    for index, unit in enumerate(units):
        where = ("cluster", "units", index)
        if not (unit.given("step_time_alone") and report.usable((*where, "step_time_alone"))):
            continue
        if not unit.host or sharing[unit.host] < 2:
            found, allowed = (
                "a unit that shares no host",
                "`host`, the same for those that share it",
            )
            report.add((*where, "step_time_alone"), found, allowed)
        own = unit.step_time or scenario.training.step_time
        usable = report.usable((*where, "step_time"), ("training", "step_time"))
        if usable and own and unit.step_time_alone and unit.step_time_alone > own:
            found = f"{unit.step_time_alone:g} s, but {own:g} s with all of the host computing"
            report.add((*where, "step_time_alone"), found, "no longer than the step time")


def _no_region(name: str, known: Sequence[str]) -> tuple[str, str]:
    found = f"unknown region {shown(name)}"
    return found, f"{suggestion(name, known)}{listed(known)}"


def region_names(scenario: Contents) -> list[str]:
    """The regions of a scenario, listed or not."""
    if scenario.network.regions:
        return list(scenario.network.regions)
    units = scenario.cluster.units
    count = len(units) or scenario.cluster.learners
    own = [unit.region for unit in units] or [""] * count
    return list(dict.fromkeys(name or f"region {index}" for index, name in enumerate(own)))


def _links(scenario: Contents, report: Report) -> None:
    if not report.usable(("network", "regions"), ("cluster", "learners"), ("cluster", "units")):
        return
    regions = region_names(scenario)
    seen: set[frozenset[str]] = set()
    for index, link in enumerate(scenario.network.links):
        where = ("network", "links", index, "between")
        if not report.usable(where) or not report.given(*where):
            continue
        for end, name in enumerate(link.between):
            if name not in regions:
                report.add((*where, end), *_no_region(name, regions))
        pair = frozenset(link.between)
        if pair in seen:
            report.add(where, f"a link between {listed(link.between, 'and')} again", "each once")
        seen.add(pair)


def _standbys(scenario: Contents, report: Report, spares: int) -> None:
    """Standbys are some of the spares, and start no later than cold ones."""
    restart = scenario.restart
    if report.usable(("restart", "standbys")) and restart.standbys > spares:
        allowed = f"at most the spares, of which there are {spares}"
        report.add(("restart", "standbys"), str(restart.standbys), allowed)
    where = ("restart", "standby_start"), ("restart", "spare_start")
    if restart.standbys and report.usable(*where) and restart.standby_start > restart.spare_start:
        found = f"{restart.standby_start:g} s, but a cold spare takes {restart.spare_start:g} s"
        report.add(where[0], found, "no longer than restart.spare_start")


def _spares(scenario: Contents, report: Report) -> None:
    where = ("restart", "spares")
    cluster, total = scenario.cluster, scenario.restart.spares
    if not (report.sound(("cluster",)) and report.usable(where)):
        return
    beside = sum(unit.spares for unit in cluster.units)
    if beside and report.given(*where) and total != beside:
        found = f"{total}, but {beside} stand beside the units"
        report.add(where, found, f"{beside}, or no restart.spares, or no spares of units")
        return
    total = beside or total
    _standbys(scenario, report, total)
    if not total:
        return
    sizes = _spare_sizes(cluster)
    if len(sizes) > 1:
        found = f"{total}, with slices of {listed(sorted(map(str, sizes)), 'and')}"
        report.add(where, f"{found} chips", "0, or units whose slices are alike")


def _spare_sizes(cluster: Cluster) -> set[int]:
    """Sizes that a spare would have to have; a unit that is one smaller slice asks for none."""
    each = [
        (unit.chips_per_slice or cluster.chips_per_slice, chips)
        for unit, chips in zip(cluster.units, unit_chips(cluster), strict=False)
    ]
    largest = max((size for size, _ in each), default=0)
    return {size for size, chips in each if size == largest or chips > size}
