"""Scenario files that the schema accepts, drawn by hypothesis: small, short and unlucky."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from random_worlds import deepened

METHODS = (
    "data_parallel",
    "elastic_data_parallel",
    "diloco",
    "streaming_diloco",
    "decoupled_diloco",
)
LEARNERS = 4
Draw = st.DrawFn
Section = dict[str, Any]


def seconds(least: float, most: float) -> st.SearchStrategy[str]:
    """A time in one of the units that files use."""
    spelled = {"s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0}
    return st.builds(
        lambda value, unit: f"{value / spelled[unit]:.6g} {unit}",
        st.floats(least, most),
        st.sampled_from(sorted(spelled)),
    )


def stalls(most: float) -> st.SearchStrategy[str]:
    """A time that is now and then nothing."""
    return st.one_of(st.just("0 s"), seconds(0.01, most))


def some(draw: Draw, section: Section, **fields: st.SearchStrategy[Any]) -> Section:
    """The section with each of the fields, or without it."""
    for name, values in fields.items():
        if draw(st.booleans()):
            section[name] = draw(values)
    return section


def bandwidths() -> st.SearchStrategy[str]:
    """From unlimited down to links that carry a fragment in many steps."""
    rate = st.builds(lambda exponent: f"{10**exponent:.6g} Mbit/s", st.floats(0, 4))
    return st.one_of(st.just("unlimited"), rate)


@st.composite
def repairs(draw: Draw) -> Any:
    """A time or any of the distributions, each in any of its forms."""
    time = draw(seconds(0.1, 60))
    shape = draw(st.sampled_from([0.7, 1.0, 1.8]))
    size = draw(st.sampled_from(["scale", "mean"]))
    return draw(
        st.sampled_from(
            [
                time,
                {"exponential": {"mean": time}},
                {"gamma": {"shape": shape, size: time}},
                {"weibull": {"shape": shape, size: time}},
                {"lognormal": {"median" if size == "scale" else "mean": time, "sigma": shape}},
                {"exponentiated_weibull": {"shape": shape, "power": 1.5, size: time}},
            ]
        )
    )


@st.composite
def clusters(draw: Draw) -> tuple[Section, list[tuple[str, int, int]]]:
    """A cluster with the names, chips and slices of its units."""
    per_slice = draw(st.integers(1, 4))
    jitter = draw(st.sampled_from([0.0, 0.0, 0.02, 0.3]))
    cluster: Section = {"chips_per_slice": per_slice, "jitter": jitter}
    count = draw(st.integers(1, LEARNERS))
    if draw(st.booleans()):
        chips = per_slice * draw(st.integers(1, 4))  # so that the last slice is whole
        cluster |= {"chips": chips * count, "learners": count}
        return cluster, [(f"unit {i}", chips, chips // per_slice) for i in range(count)]
    cluster["units"] = []
    built = []
    for index in range(count):
        chips = draw(st.integers(per_slice, 5 * per_slice))
        unit: Section = {"name": f"island {index}", "chips": chips}
        some(draw, unit, speed=st.floats(0.5, 2), step_time=seconds(0.3, 2))
        cluster["units"].append(unit)
        built.append((unit["name"], chips, -(-chips // per_slice)))
    return cluster, built


def streams(draw: Draw) -> Section:
    """One stream or many, of any kind, with losses or without."""
    return some(
        draw,
        {"streams": draw(st.sampled_from([1, 4, 64]))},
        congestion=st.sampled_from(["reno", "cubic", "bbr"]),
        window=st.sampled_from(["64 kB", "6 MB", "unlimited"]),
        loss=st.sampled_from([0.0, 1e-6, 1e-3, 0.3]),
        mtu=st.sampled_from(["1500 B", "9000 B"]),
    )


@st.composite
def networks(draw: Draw) -> tuple[Section, list[str]]:
    """A network with the names of its regions; one region alone has no wide area."""
    names = [f"r{index}" for index in range(draw(st.integers(1, 3)))]
    network = some(
        draw,
        {},
        bandwidth=bandwidths(),
        latency=stalls(0.3),
        efficiency=st.floats(0.3, 1.0),
    )
    if draw(st.booleans()):
        network.pop("efficiency", None)
        network["tcp"] = streams(draw)
    if draw(st.booleans()):
        network["regions"] = names
    else:
        network["regions"] = {
            name: some(
                draw,
                {},
                bandwidth=bandwidths(),
                upload=bandwidths(),
                download=bandwidths(),
                latency=stalls(0.3),
            )
            for name in names
        }
    if len(names) > 1 and draw(st.booleans()):
        link = some(draw, {"between": names[:2]}, bandwidth=bandwidths(), latency=stalls(0.3))
        network["links"] = [link]
    return network, names


@st.composite
def plans(
    draw: Draw, duration: float, units: list[tuple[str, int, int]], regions: list[str]
) -> list[Section]:
    """Planned faults in any order, some never healed."""
    entries = []
    for _ in range(draw(st.integers(0, 4))):
        name, chips, slices = draw(st.sampled_from(units))
        kind = draw(st.sampled_from(["unit", "slice", "chip", "cut", "throttle"]))
        entry: Section = {"at": f"{draw(st.floats(0, 0.99)) * duration:.6g} s"}
        entry["for"] = draw(st.one_of(st.just("never"), seconds(0.1, 40), seconds(0.1, 40)))
        if kind in ("cut", "throttle"):
            links = [f"{a}-{b}" for a in regions for b in regions if a != b]
            entry |= {"fault": kind, "target": draw(st.sampled_from(regions + links))}
            if kind == "throttle":
                entry["to"] = f"{draw(st.floats(0.1, 500)):.6g} Mbit/s"
        else:
            places = {"unit": 0, "slice": slices, "chip": chips}[kind]
            part = f"/{kind} {draw(st.integers(0, places - 1))}" if places else ""
            entry |= {"fault": "kill", "target": name + part}
        entries.append(entry)
    return entries


@st.composite
def trainings(draw: Draw, learners: int, layers: int) -> Section:
    """Every setting of the methods, within what the other sections allow."""
    inner_steps = draw(st.integers(1, 8))
    training: Section = {
        "step_time": draw(seconds(0.3, 2)),
        "inner_steps": inner_steps,
        "quorum": draw(st.integers(1, learners)),
    }
    return some(
        draw,
        training,
        tokens_per_step=st.sampled_from([1, 1000, 2.5e6]),
        tokens=st.sampled_from([3, 2e4, 1e12]),
        fragments=st.integers(1, layers),
        overlap_steps=st.integers(0, 3),
        grace=st.floats(0, 0.99),
        payload_bits=st.sampled_from([0.5, 4, 16, 32, 64]),
        gradient_bits=st.sampled_from([4, 16, 32]),
        apply=st.sampled_from(["on_arrival", "at_tau"]),
        below_quorum=st.sampled_from(["block", "step_on"]),
        release=st.sampled_from(["by_layer", "end_of_step"]),
        on_failure=st.sampled_from(["wait", "drop", "rollback"]),
    )


@st.composite
def checkpoints(draw: Draw) -> Section:
    """A policy with what it needs."""
    policy = draw(st.sampled_from(["none", "fixed", "young", "daly", "optimal", "in_memory"]))
    checkpoint: Section = {"policy": policy, "save": draw(stalls(3)), "restore": draw(stalls(10))}
    if policy in ("young", "daly", "optimal"):
        checkpoint["save"] = draw(seconds(0.01, 3))
    if policy == "fixed":
        steps = st.builds(lambda count: f"{count} steps", st.integers(1, 9))
        checkpoint["interval"] = draw(st.one_of(seconds(0.5, 30), steps))
    return checkpoint


@st.composite
def scenarios(draw: Draw, *, deep: bool = False) -> str:
    """A scenario file as text; a deep one has causes, links that vary and what else there is."""
    cluster, units = draw(clusters())
    network, regions = draw(networks())
    layers = draw(st.integers(1, 6))
    duration = draw(st.one_of(st.floats(45, 120), st.floats(60, 90), st.floats(0.1, 120)))
    document: Section = {
        "seed": draw(st.integers(0, 2**32)),
        "duration": f"{duration:.6g} s",
        "model": {"parameters": draw(st.sampled_from([1, 1e6, 1e8])), "layers": layers},
        "training": draw(trainings(len(units), layers)),
        "cluster": cluster,
        "network": network,
        "failures": some(
            draw,
            {"chip_mtbi": draw(st.one_of(st.just("never"), seconds(20, 5000)))},
            repair=repairs(),
            detection=stalls(5),
            age_while_down=st.sampled_from(["runs", "stops"]),
        ),
        "elastic": some(
            draw,
            {},
            downscale=stalls(5),
            upscale=stalls(5),
            stall_rule=st.sampled_from(["absorb", "extend"]),
        ),
        "restart": some(
            draw,
            {},
            time=stalls(15),
            stall_rule=st.sampled_from(["absorb", "extend"]),
            spares=st.integers(0, 2),
        ),
        "checkpoint": draw(checkpoints()),
        "chaos": draw(plans(float(f"{duration:.6g}"), units, regions)),
        "chaos_only": draw(st.booleans()),
    }
    methods = draw(st.lists(st.sampled_from(METHODS), min_size=1, max_size=5, unique=True))
    document["methods"] = [
        {name: {"training.quorum": 1, "restart.time": "1 s"}} if draw(st.booleans()) else name
        for name in methods
    ]
    if deep:
        document = draw(deepened(document, float(f"{duration:.6g}"), units, regions))
    return _yaml(document)


def _yaml(document: Section) -> str:
    """A key of the file a line; below it the flow style of YAML, of which JSON is a part."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in document.items())
