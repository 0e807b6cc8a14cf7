"""What random scenarios can have besides: causes of failures, links that vary, other collectives.

Each strategy gives fields that go on top of those of `random_scenarios`.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Draw = st.DrawFn
Section = dict[str, Any]
HARDWARE = ("chip", "slice", "rack", "unit", "region")


def times(least: float, most: float) -> st.SearchStrategy[str]:
    """A time in seconds."""
    return st.builds(lambda value: f"{value:.6g} s", st.floats(least, most))


def rates() -> st.SearchStrategy[str]:
    """A bandwidth, an outage among them."""
    rate = st.builds(lambda exponent: f"{10**exponent:.6g} Mbit/s", st.floats(-1, 4))
    return st.one_of(st.just("0 bit/s"), rate)


@st.composite
def causes(draw: Draw) -> list[Section]:
    """Up to three causes: any domain, how often in any of the ways, and what it does."""
    found = []
    for index in range(draw(st.integers(1, 3))):
        domain = draw(st.sampled_from([*HARDWARE, "link", "job"]))
        cause: Section = {"name": f"cause {index}", "domain": domain}
        mtbi = draw(times(20, 3000))
        often: list[Section] = [{"mtbi": mtbi}, {"count": draw(st.floats(0.1, 9)), "per": "1 min"}]
        if domain != "link":
            often.append({"lifetime": {"weibull": {"shape": 0.7, "mean": mtbi}}})
        cause |= draw(st.sampled_from(often))
        options: Section = {
            "detection": draw(times(0, 5)),
            "repair": draw(times(0, 60)),
            "state_lost": draw(st.booleans()),
            "replace": draw(st.booleans()),
            "unallocated": draw(st.booleans()),
            "notice": draw(times(0, 20)),
            "latent": draw(times(0, 30)),
            "burst": {"size": draw(st.integers(1, 4)), "spread": draw(times(0, 10))},
        }
        if domain in HARDWARE:
            options["slow_to"] = draw(st.floats(0.2, 0.9))
        if domain == "link":
            options = {"repair": options["repair"], "to": "3 Mbit/s"}
        kept = draw(st.sets(st.sampled_from(sorted(options)), max_size=4))
        found.append(cause | {name: options[name] for name in sorted(kept)})
    return found


@st.composite
def maintenance(draw: Draw, duration: float, units: list[tuple[str, int, int]]) -> list[Section]:
    """Planned times out of units and slices, once or again and again."""
    entries = []
    for _ in range(draw(st.integers(0, 2))):
        name, _, slices = draw(st.sampled_from(units))
        target = draw(st.sampled_from([name, f"{name}/slice {slices - 1}"]))
        entry: Section = {"target": target, "for": draw(times(0.5, 20))}
        entry["at"] = f"{draw(st.floats(0, 0.9)) * duration:.6g} s"
        if draw(st.booleans()):
            entry["every"] = draw(times(25, 60))
        entries.append(entry)
    return entries


@st.composite
def faults(
    draw: Draw, duration: float, units: list[tuple[str, int, int]], regions: list[str]
) -> list[Section]:
    """Slow hardware and flapping links."""
    entries: list[Section] = []
    for _ in range(draw(st.integers(0, 2))):
        at = f"{draw(st.floats(0, 0.99)) * duration:.6g} s"
        length = draw(times(1, 40))
        name, _, slices = draw(st.sampled_from(units))
        slow = {"fault": "slow", "target": f"{name}/slice {slices - 1}", "to": 0.6}
        flap = {"fault": "flap", "target": draw(st.sampled_from(regions)), "every": "1.5 s"}
        entries.append({"at": at, "for": length, **draw(st.sampled_from([slow, flap]))})
    return entries


@st.composite
def variations(draw: Draw) -> Section:
    """A bandwidth that changes by a schedule, at random, or not at all."""
    starts = sorted(draw(st.sets(st.integers(0, 40), min_size=1, max_size=4)))
    schedule = [{"at": f"{at} s", "bandwidth": draw(rates())} for at in starts]
    two_state = {"low": 0.1, "high_for": "9 s", "low_for": "3 s"}
    lognormal = {"sigma": 0.5, "correlation": "5 s", "every": "1 s"}
    return draw(
        st.sampled_from(
            [
                {},
                {"schedule": schedule},
                {"schedule": schedule, "repeat": "41 s"},
                {"random": {"two_state": two_state}},
                {"random": {"lognormal": lognormal}},
            ]
        )
    )


@st.composite
def exchanges(draw: Draw) -> Section:
    """How units exchange, and what that costs besides bytes."""
    options: Section = {
        "collective": draw(st.sampled_from(["ring", "hierarchical", "parameter_server"])),
        "sync_cost": draw(times(0, 1)),
        "ring_timeout": draw(times(0.5, 10)),
        "price": "0.02 USD/GB",
    }
    kept = draw(st.sets(st.sampled_from(sorted(options))))
    return {name: options[name] for name in sorted(kept)}


@st.composite
def deepened(
    draw: Draw,
    document: Section,
    duration: float,
    units: list[tuple[str, int, int]],
    regions: list[str],
) -> Section:
    """The document with some of all this on top."""
    document["network"] |= draw(exchanges()) | draw(variations())
    document["chaos"] = document["chaos"] + draw(faults(duration, units, regions))
    document["cluster"]["slices_per_rack"] = draw(st.integers(1, 3))
    document["cluster"]["speed_spread"] = draw(st.sampled_from([0.0, 0.1]))
    document["training"]["compression"] = draw(st.sampled_from([1, 2.5]))
    failures = document["failures"]
    if draw(st.booleans()):
        del failures["chip_mtbi"]
        failures["causes"] = draw(causes())
        if any("lifetime" in cause for cause in failures["causes"]):
            failures.pop("age_while_down", None)
    failures["maintenance"] = draw(maintenance(duration, units))
    if draw(st.booleans()):
        failures["crews"] = draw(st.integers(1, 2))
    document["restart"]["spare_start"] = draw(times(0, 9))
    document["restart"]["spares_fail"] = draw(st.booleans())
    if document["checkpoint"]["save"] != "0 s" and draw(st.booleans()):
        document["checkpoint"] |= {"asynchronous": True, "stall": "0.01 s"}
    return document
