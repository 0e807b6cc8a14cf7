"""What has to hold of links that vary in time, and of the collective."""

from __future__ import annotations

import math

from ddsim.naming import listed, shown, suggestion
from ddsim.scenario.check_cluster import region_names
from ddsim.scenario.contents import Contents
from ddsim.scenario.places import places
from ddsim.scenario.report import Report
from ddsim.scenario.section import Section
from ddsim.scenario.tree import Path
from ddsim.scenario.units import TIME, write_quantity
from ddsim.scenario.variation import Varying

MOST_CHANGES = 1_000_000


def check_network(scenario: Contents, report: Report) -> None:
    """Report what does not hold."""
    network = scenario.network
    _varying(scenario, network, ("network",), report)
    for name, region in network.regions.items():
        _varying(scenario, region, ("network", "regions", name), report)
    for index, link in enumerate(network.links):
        _varying(scenario, link, ("network", "links", index), report)
    _server(scenario, report)
    _efficiency(scenario, report)
    _places(scenario, report)


def _efficiency(scenario: Contents, report: Report) -> None:
    """What a transfer gets of a link is said once."""
    network = scenario.network
    where = ("network", "efficiency")
    if not (network.has_streams and network.given("efficiency") and report.usable(where)):
        return
    parts: list[tuple[str, Section]] = [("network", network)]
    parts += [(f"network.regions.{name}", region) for name, region in network.regions.items()]
    parts += [(f"network.links.{index}", link) for index, link in enumerate(network.links)]
    said = listed([f"{path}.tcp" for path, part in parts if part.given("tcp")], "and")
    report.add(
        where,
        f"{network.efficiency:g} beside {said}, from which it follows",
        f"drop network.efficiency (null leaves it out), or, where it was measured, {said}",
    )


def _places(scenario: Contents, report: Report) -> None:
    """Places are known, and latencies follow from them for all regions or for none."""
    regions = scenario.network.regions
    for name, region in regions.items():
        where: Path = ("network", "regions", name, "place")
        if region.place is not None and region.place not in places() and report.usable(where):
            near = suggestion(region.place, places())
            allowed = f"{near}one of the {len(places())} that `ddsim list places` has"
            report.add(where, f"unknown place {shown(region.place)}", allowed)
    if scenario.network.given("latency") or not any(region.place for region in regions.values()):
        return
    for name, region in regions.items():
        where = ("network", "regions", name)
        if region.place is None and not region.given("latency") and report.usable(where):
            allowed = "a place or a latency for each region, or network.latency for all of them"
            report.add(where, "neither a place nor a latency beside regions with a place", allowed)


def _varying(scenario: Contents, part: Varying, where: Path, report: Report) -> None:
    if not report.usable(where):
        return
    schedule, trace, repeat = (*where, "schedule"), (*where, "trace"), (*where, "repeat")
    if part.schedule and part.trace is not None:
        report.add(trace, "a trace beside a schedule", "one of the two")
    if part.repeat is not None and not part.varies and report.usable(schedule, trace):
        report.add(repeat, "given without a schedule or a trace", "only with one of them")
    _times(part, schedule, report)
    _changes(scenario, part, where, report)


def _times(part: Varying, where: Path, report: Report) -> None:
    """Times ascend, and lie within what is repeated."""
    before = -1.0
    for index, change in enumerate(part.schedule):
        at = (*where, index, "at")
        if not report.usable(at):
            continue
        if change.at <= before:
            found = f"{write_quantity(change.at, TIME)} after {write_quantity(before, TIME)}"
            report.add(at, found, "times that ascend")
        elif part.repeat is not None and change.at >= part.repeat:
            found = f"{write_quantity(change.at, TIME)}, not within what is repeated"
            report.add(at, found, f"before {write_quantity(part.repeat, TIME)}, the repeat")
        before = change.at


def _changes(scenario: Contents, part: Varying, where: Path, report: Report) -> None:
    """What goes on for the whole run has an end, and does not change too often."""
    if not report.usable(("duration",)):
        return
    every = math.inf
    key = "repeat"
    if part.random is not None:
        key = "random"
        params = part.random.params
        every = params.get("every") or min(params["high_for"], params["low_for"])
    elif part.repeat is not None:
        every = part.repeat / max(1, len(part.schedule))
    if every == math.inf or not report.usable((*where, key)):
        return
    if scenario.duration == math.inf:
        report.add((*where, key), "given, and a duration of never", "a duration that ends")
    elif scenario.duration / every > MOST_CHANGES:
        found = f"a change every {write_quantity(every, TIME)}"
        least = write_quantity(math.ceil(scenario.duration / MOST_CHANGES), TIME)
        report.add((*where, key), found, f"at most {MOST_CHANGES} in the run: every {least}")


def _server(scenario: Contents, report: Report) -> None:
    network = scenario.network
    where = ("network", "server")
    if network.server is None or not report.usable(where, ("network", "collective")):
        return
    central = scenario.training.syncer == "central"
    if network.collective != "parameter_server" and not central:
        allowed = "only with a parameter_server, or training.syncer central"
        report.add(where, f"given for a {network.collective}", allowed)
        return
    if report.usable(("network", "regions"), ("cluster",)):
        regions = region_names(scenario)
        if network.server not in regions:
            near = suggestion(network.server, regions)
            found = f"unknown region {shown(network.server)}"
            report.add(where, found, f"{near}{listed(regions)}")
