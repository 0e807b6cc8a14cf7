"""The collection whose results are kept: shipped scenarios, settings, laws, ties, random cases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from frozen import FrozenCase
from hypothesis import HealthCheck, Phase, given, settings
from naive.case import Case
from naive.random_cases import random_case
from protocol_worlds import HANDED_OVER, TEXT, TIES, TIES_BASE, WORLDS
from random_scenarios import scenarios
from ruamel.yaml import YAML

Section = dict[str, Any]
JOBS = ("data_parallel", "elastic_data_parallel")
LOCAL = ("diloco", "streaming_diloco", "async_local_sgd", "decoupled_diloco")
ALL = [*JOBS, *LOCAL]
TAPED = [name for name in ALL if name != "async_local_sgd"]
"""Those whose models can be trained."""
SYNCERS = ("replicas", "partitioned", "central")
NAIVE_SEEDS, DRESSED_SEEDS, DECIMAL_SEEDS, HYPOTHESIS = 25, 60, 80, 60


def collection() -> Iterator[FrozenCase]:
    """All cases, group by group; the same whenever they are asked for."""
    yield from shipped()
    yield from one_setting_each()
    yield from laws()
    yield from long_runs()
    yield from ties()
    yield from round_decimals()
    yield from naive()
    yield from dressed()
    yield from drawn_by_hypothesis()


def kill(target: str, at: str, length: str, fault: str = "kill", **more: Any) -> Section:
    """A planned fault."""
    return {"at": at, "fault": fault, "target": target, "for": length, **more}


SHORT = {
    "adaptive_link": "1 h",
    "covenant72b": "1 day",
    "four_regions_12b": "20 min",
    "goodput_vs_chips": "15 min",
    "heterogeneous_hardware": "20 min",
    "intellect1": "12 h",
    "llama3_16k": "1 day",
    "measured_grid": "1 h",
    "scavenging": "3 h",
    "spot_trace": "4 h",
}
QUADRATIC = {"problem": "noisy_quadratic"}

DRILL = [  # the shipped one's faults at a tenth of their times
    kill("beta/chip 70", "3 min", "2 min"),
    kill("gamma/slice 3", "6 min", "3 min"),
    kill("alpha", "12 min", "6 min"),
    kill("us-west", "24 min", "6 min", "throttle", to="500 Mbit/s"),
    kill("us-east", "36 min", "1 min", "cut"),
    kill("delta", "48 min", "3 min"),
]
DRILLS: dict[str, Section] = {
    "at a tenth": {},
    "at a tenth, jitter": {"cluster.jitter": 0.02},
    "at a tenth, K=4": {"training.quorum": 4, "training.grace": 0.5},
    "at a tenth, central": {"training.syncer": "central"},
    "at a tenth, rollback": {"training.on_failure": "rollback"},
}


def shipped() -> Iterator[FrozenCase]:
    """Every shipped scenario, shortened; another seed, replications, and links that thin out."""
    for name, duration in SHORT.items():
        short: Section = {"duration": duration}
        yield FrozenCase(f"shipped/{name}", name, overrides=short)
        yield FrozenCase(f"shipped/{name} seed 7", name, overrides=short | {"seed": 7})
        if name not in ("measured_grid", "covenant72b"):
            yield FrozenCase(f"shipped/{name} 2 times", name, overrides=short, replications=2)
            more: Section = short | {"cluster.jitter": 0.02}
            yield FrozenCase(f"shipped/{name} jitter", name, overrides=more)
    yield FrozenCase("shipped/chaos_drill", "chaos_drill", overrides={"duration": "9 h"})
    for name, settings_of_drill in DRILLS.items():
        more = {"duration": "54 min", "chaos": DRILL} | settings_of_drill
        yield FrozenCase(f"shipped/chaos_drill {name}", "chaos_drill", overrides=more)
    yield FrozenCase("shipped/convergence", "convergence", overrides={"duration": "1 min"})
    learned: Section = {"learning": QUADRATIC, "duration": "10 min"}
    yield FrozenCase("shipped/convergence quadratic", "convergence", overrides=learned)
    for apply in ("at_tau", "on_arrival"):
        more = learned | {"training.apply": apply, "cluster.jitter": 0.05, "seed": 3}
        yield FrozenCase(f"shipped/convergence quadratic {apply}", "convergence", overrides=more)
    thin: Section = {"duration": "10 min", "network.bandwidth": "1 Gbit/s"}
    for quorum in (1, 2, 4):
        for grace in (0, 0.5):
            more = thin | {"training.quorum": quorum, "training.grace": grace}
            name = f"shipped/four_regions_12b thin K={quorum} grace={grace}"
            yield FrozenCase(name, "four_regions_12b", overrides=more)
    drop = [{"at": "10 min", "bandwidth": "0.5 Gbit/s"}, {"at": "20 min", "bandwidth": "5 Gbit/s"}]
    for policy in ("fixed", "bandwidth_following", "quorum_following"):
        more = {"training.policy": policy, "duration": "30 min", "network.schedule": drop}
        yield FrozenCase(f"shipped/adaptive_link {policy}", "adaptive_link", overrides=more)


WORLD: Section = {
    "seed": 5,
    "duration": "10 min",
    "methods": ALL,
    "model": {"parameters": 1e9, "layers": 24},
    "training": {
        "step_time": "1 s",
        "tokens_per_step": 64,
        "inner_steps": 12,
        "fragments": 6,
        "overlap_steps": 2,
        "quorum": 2,
    },
    "cluster": {"chips": 64, "chips_per_slice": 4, "learners": 4},
    "network": {"bandwidth": "3 Gbit/s", "latency": "20 ms", "regions": ["a", "b", "c"]},
    "failures": {"chip_mtbi": "2 h", "repair": "2 min", "detection": "5 s"},
    "restart": {"time": "30 s"},
    "chaos": [
        kill("unit 1", "2.5 min", "2 min"),
        kill("b", "5 min", "1 min", "cut"),
        kill("unit 2/slice 0", "4.2 min", "40 s"),
        kill("unit 3/chip 2", "4.3 min", "1 min"),
        kill("a", "7 min", "1 min", "throttle", to="300 Mbit/s"),
    ],
}
SETTINGS: dict[str, list[Any]] = {
    "seed": [1, 2, 3],
    "training.quorum": [1, 3, 4],
    "training.grace": [0, 0.3, 0.9],
    "training.overlap_steps": [0, 1, 5, 13],
    "training.fragments": [1, 12, 24],
    "training.inner_steps": [1, 3, 24],
    "training.apply": ["at_tau"],
    "training.on_failure": ["drop", "rollback"],
    "training.below_quorum": ["step_on"],
    "training.release": ["by_layer", "end_of_step"],
    "training.syncer": ["partitioned", "central"],
    "training.syncer_time": ["0.1 s", "2.5 s"],
    "training.policy": ["bandwidth_following", "quorum_following"],
    "training.payload_bits": [1, 4, 32],
    "training.gradient_bits": [4, 32],
    "training.compression": [3],
    "training.tokens": [10_000],
    "network.ring_timeout": ["1 s", "never"],
    "network.bandwidth": ["unlimited", "500 Mbit/s", "20 Gbit/s"],
    "network.latency": ["0 s", "200 ms"],
    "network.sync_cost": ["0.2 s"],
    "network.collective": ["hierarchical", "parameter_server"],
    "network.random": [{"two_state": {"low": 0.1, "high_for": "90 s", "low_for": "30 s"}}],
    "cluster.jitter": [0.01, 0.05],
    "cluster.speed_spread": [0.1],
    "cluster.delay": [{"exponential": {"mean": "0.05 s"}}],
    "cluster.learners": [8],
    "elastic.stall_rule": ["extend"],
    "elastic.upscale": ["40 s"],
    "restart.stall_rule": ["absorb"],
    "restart.spares": [3],
    "restart.moment_bits": [0],
    "checkpoint": [
        {"policy": "fixed", "interval": "1 min", "save": "2 s", "restore": "5 s"},
        {"policy": "fixed", "interval": "7 steps", "save": "2 s", "asynchronous": True},
        {"policy": "young", "save": "2 s", "restore": "5 s"},
        {"policy": "daly", "save": "2 s", "restore": "5 s"},
        {"policy": "optimal", "save": "2 s", "restore": "5 s"},
        {"policy": "in_memory", "save": "0.05 s", "restore": "5 s"},
    ],
    "failures.age_while_down": ["stops"],
    "failures.repair": [
        {"exponential": {"mean": "2 min"}},
        {"weibull": {"shape": 0.7, "mean": "2 min"}},
    ],
    "failures.chip_mtbi": ["never", "1 h"],
    "chaos": [
        [kill("unit 1", "5 min", "never"), kill("unit 2", "6 min", "never")],
        [kill("unit 0", "5 min", "2 min"), kill("unit 1", "5 min", "2 min")],
        [kill("unit 3", "5 min", "2 min", "lose_replica")],
        [kill("a", "1 min", "8 min", "cut"), kill("unit 0", "4 min", "3 min")],
        [kill("unit 2/slice 1", "5 min", "4 min", "slow", to=0.5)],
        [kill("c", "4 min", "6 min", "flap", every="7 s")],
    ],
    "learning": [QUADRATIC],
}
TOGETHER: dict[str, Section] = {
    "one learner": {"cluster.learners": 1, "training.quorum": 1, "chaos": []},
    "two learners": {"cluster.learners": 2, "chaos": [kill("unit 1", "5 min", "2 min")]},
    "a quorum of all at tau": {"training.quorum": 4, "training.apply": "at_tau"},
    "a quorum of all, step on": {"training.quorum": 4, "training.below_quorum": "step_on"},
    "at tau behind": {"training.apply": "at_tau", "network.bandwidth": "500 Mbit/s"},
    "no grace, jitter": {"training.grace": 0, "cluster.jitter": 0.05},
    "central, jitter": {"training.syncer": "central", "cluster.jitter": 0.05},
    "partitioned, jitter": {"training.syncer": "partitioned", "cluster.jitter": 0.05},
    "central, never": {"training.syncer": "central", "network.ring_timeout": "never"},
    "partitioned, thin": {"training.syncer": "partitioned", "network.bandwidth": "500 Mbit/s"},
    "thin, never": {"network.ring_timeout": "never", "network.bandwidth": "500 Mbit/s"},
    "thin, syncer time": {"training.syncer_time": "0.7 s", "network.bandwidth": "500 Mbit/s"},
    "rollback, tau 5": {"training.on_failure": "rollback", "training.overlap_steps": 5},
    "drop, at the end": {"training.on_failure": "drop", "training.release": "end_of_step"},
    "drop, jitter": {"training.on_failure": "drop", "cluster.jitter": 0.05},
    "policy, jitter": {"training.policy": "bandwidth_following", "cluster.jitter": 0.02},
    "learning, jitter, K=1": {
        "learning": QUADRATIC,
        "cluster.jitter": 0.05,
        "training.quorum": 1,
    },
}


def one_setting_each() -> Iterator[FrozenCase]:
    """A world with failures, a unit lost and a link cut, and one setting changed at a time."""
    yield FrozenCase("settings/as it is", document=WORLD)
    yield FrozenCase("settings/3 times", document=WORLD, replications=3)
    for path, values in SETTINGS.items():
        for value in values:
            name = f"settings/{path}={json.dumps(value)}"[:90]
            yield _set(name, {path: value})
    for name, overrides in TOGETHER.items():
        yield _set(f"settings/{name}", overrides)


def _set(name: str, overrides: Section) -> FrozenCase:
    document = WORLD | {"methods": TAPED} if "learning" in overrides else WORLD
    return FrozenCase(name, document=document, overrides=overrides)


LEAST: Section = {
    "duration": "1 h",
    "methods": ALL,
    "model": {"parameters": 1e9, "layers": 24},
    "training": {"step_time": "1 s"},
    "cluster": {"chips": 64, "chips_per_slice": 8, "learners": 4},
    "network": {"bandwidth": "unlimited"},
    "failures": {"chip_mtbi": "never"},
    "checkpoint": {"policy": "none"},
}
SYNCHRONOUS: Section = {
    "duration": "1799.37 s",
    "network.bandwidth": "8 Gbit/s",
    "network.latency": "0 s",
    "training.payload_bits": 16,
    "training.quorum": 4,
    "training.inner_steps": 12,
    "training.release": "end_of_step",
    "cluster.chips_per_slice": 4,
}
MISFORTUNE: Section = {
    "failures.chip_mtbi": "4 h",
    "failures.repair": {"exponential": {"mean": "3 min"}},
    "failures.detection": "5 s",
    "restart.time": "30 s",
    "chaos": [kill("unit 2", "20 min", "10 min")],
}


def laws() -> Iterator[FrozenCase]:
    """Identities, closed forms, the horizon, and worlds without failures."""
    for step, duration in (("0.1 s", "100 s"), ("1 s", "1000 s"), ("0.3 s", "30 s")):
        more: Section = {"training.step_time": step, "duration": duration}
        yield FrozenCase(f"laws/horizon {step} for {duration}", document=LEAST, overrides=more)
    for quorum in (1, 4):
        for tau in (0, 3):
            more = {"training.quorum": quorum, "training.overlap_steps": tau}
            name = f"laws/without failures K={quorum} tau={tau}"
            yield FrozenCase(name, document=LEAST, overrides=more | {"duration": "5 min"})
    for seed in range(2):
        for rule in ("absorb", "extend"):
            more = SYNCHRONOUS | MISFORTUNE | {"seed": seed, "elastic.stall_rule": rule}
            more |= {"training.fragments": 1, "training.overlap_steps": 0}
            yield _pair(f"without overlap {rule} seed {seed}", more, "decoupled_diloco", "diloco")
            lone = MISFORTUNE | {
                "chaos": [],
                "seed": seed,
                "cluster.chips": 256,
                "cluster.learners": 1,
                "cluster.jitter": 0.02,
                "elastic.stall_rule": rule,
            }
            yield _pair(f"one learner {rule} seed {seed}", lone, "decoupled_diloco", JOBS[1])
    for tau in range(4):
        for fragments in (1, 3, 12):
            rate = 1e9 * 16 * 1.5 / fragments / (0.9 * 12 / fragments if fragments < 12 else 0.5)
            more = SYNCHRONOUS | {
                "training.fragments": fragments,
                "training.overlap_steps": tau,
                "training.apply": "at_tau",
                "network.bandwidth": f"{rate!r} bit/s",
            }
            name = f"at tau={tau} P={fragments}"
            yield _pair(name, more, "decoupled_diloco", "streaming_diloco")
    yield from _closed_forms()


def _pair(name: str, overrides: Section, *methods: str) -> FrozenCase:
    return FrozenCase(f"laws/{name}", document=LEAST, overrides=overrides, methods=[*methods])


def _closed_forms() -> Iterator[FrozenCase]:
    many: Section = {
        "cluster.chips": 512,
        "cluster.chips_per_slice": 1,
        "cluster.learners": 1,
        "training.step_time": "30 min",
        "failures.chip_mtbi": "153600 s",
        "failures.repair": "600 s",
        "failures.detection": "5 s",
        "elastic.downscale": "10 s",
        "elastic.upscale": "15 s",
        "duration": "30250 s",
    }
    for rule in ("absorb", "extend"):
        for age in ("runs", "stops"):
            more = many | {"elastic.stall_rule": rule, "failures.age_while_down": age}
            yield _pair(f"elastic {rule} {age}", more, JOBS[1])
        for learners in (2, 8):
            more = many | {"elastic.stall_rule": rule, "cluster.learners": learners}
            yield _pair(f"{learners} small jobs {rule}", more, "decoupled_diloco")
    for quorum in (1, 2, 4):
        machines = many | {"cluster.chips": 4, "cluster.learners": 4, "restart.time": "0 s"}
        machines |= {"failures.chip_mtbi": "2000 s", "training.quorum": quorum}
        yield _pair(f"{quorum} of 4 machines", machines, "decoupled_diloco")
    for policy in ("in_memory", "fixed", "young", "optimal"):
        job = many | {"cluster.chips": 64, "training.step_time": "1 s", "restart.spares": 40}
        job |= {"failures.chip_mtbi": "12800 s", "restart.time": "60 s", "duration": "10000 s"}
        job["checkpoint"] = {"policy": policy, "save": "3 s" if policy != "in_memory" else "0 s"}
        if policy == "fixed":
            job["checkpoint"]["interval"] = "50 s"
        yield _pair(f"data-parallel {policy}", job, JOBS[0])


def long_runs() -> Iterator[FrozenCase]:
    """Runs of so many steps that they are not simulated step by step, and those that have to be."""
    document = YAML(typ="safe").load(TEXT)
    both = ["streaming_diloco", "decoupled_diloco"]
    for name, overrides in WORLDS.items():
        long = {"duration": "6 h", **overrides}
        yield FrozenCase(f"long/{name}", document=document, overrides=long, methods=both)
    for name, overrides in HANDED_OVER.items():
        yield FrozenCase(f"long/{name}", document=document, overrides=overrides, methods=both)
    mixed: Section = {
        "duration": "6 h",
        "training": {"step_time": "1 s", "quorum": 2, "overlap_steps": 3},
        "cluster": {"units": [{"chips": 4}, {"chips": 4, "speed": 0.85}, {"chips": 4}]},
        "network": {"bandwidth": "3 Gbit/s", "latency": "30 ms"},
        "chaos": [kill("unit 1", "2 h", "10 min"), kill("unit 0/slice 1", "3.1 h", "10 min")],
    }
    for grace in (0, 0.5):
        training = mixed["training"] | {"grace": grace}
        yield FrozenCase(
            f"long/mixed speeds grace={grace}",
            document=TIES_BASE | mixed | {"training": training},
            methods=["decoupled_diloco"],
        )


def ties() -> Iterator[FrozenCase]:
    """Things of one instant, short and so long that slots are compiled."""
    for name, overrides in TIES.items():
        document = TIES_BASE | overrides | {"methods": ALL}
        yield FrozenCase(f"ties/{name}", document=document)
        long = document | {"duration": "6 h", "methods": ["decoupled_diloco"]}
        yield FrozenCase(f"ties/{name}, for long", document=long)


def round_decimals() -> Iterator[FrozenCase]:
    """Steps, exchanges, kills and stalls of round decimals, with grace and without."""
    for seed in range(DECIMAL_SEEDS):
        rng = np.random.default_rng([seed, 16])
        count = int(rng.integers(2, 7))
        inner = int(rng.choice([1, 2, 4, 6]))
        steps = [1.0] * count if rng.random() < 0.6 else rng.choice([0.8, 1.0, 1.2], count)
        exchange = float(rng.choice([0.4, 1.0, 1.6, 2.0]))
        rate = 2 * (count - 1) / count * 1e9 * 16 / inner / exchange
        faults = []
        for _ in range(int(rng.integers(1, 5))):
            unit = int(rng.integers(0, count))
            part = "" if rng.random() < 0.6 else "/slice 0"
            at, length = round(float(rng.uniform(2, 90)), 1), float(rng.integers(1, 31))
            faults.append(kill(f"unit {unit}{part}", f"{at:g} s", f"{length:g} s"))
        document: Section = {
            "duration": f"{int(rng.integers(91, 181))} s",
            "methods": ALL,
            "model": {"parameters": 1e9, "layers": 24},
            "training": {
                "step_time": "1 s",
                "inner_steps": inner,
                "fragments": inner,
                "overlap_steps": int(rng.integers(0, 4)),
                "quorum": int(rng.integers(1, count + 1)),
                "grace": float(rng.choice([0, 0.1, 0.5])),
                "payload_bits": 16,
                "apply": str(rng.choice(["on_arrival", "at_tau"])),
                "below_quorum": str(rng.choice(["block", "step_on"])),
                "on_failure": str(rng.choice(["wait", "drop", "rollback"])),
                "release": str(rng.choice(["by_layer", "end_of_step"])),
            },
            "cluster": {
                "chips_per_slice": 1,
                "units": [
                    {"chips": 2, "region": f"r{i}", "step_time": f"{step:g} s"}
                    for i, step in enumerate(steps)
                ],
            },
            "network": {
                "bandwidth": f"{rate!r} bit/s",
                "latency": "0 s",
                "ring_timeout": str(rng.choice(["never", "2 s", "30 s"])),
                "regions": [f"r{i}" for i in range(count)],
            },
            "failures": {"chip_mtbi": "never", "detection": f"{int(rng.integers(0, 3))} s"},
            "elastic": {"downscale": "1 s", "upscale": "2 s"},
            "restart": {"time": f"{int(rng.integers(0, 9))} s", "moment_bits": 0},
            "chaos": faults,
        }
        yield FrozenCase(f"decimals/{seed}", document=document)


def naive() -> Iterator[FrozenCase]:
    """The cases that the engine and a naive model agree on, spelled as scenarios."""
    for method in ALL:
        drawn_for = "decoupled_diloco" if method == "async_local_sgd" else method
        for seed in range(NAIVE_SEEDS):
            document = _spelled(random_case(seed, drawn_for), seed) | {"methods": [method]}
            yield FrozenCase(f"naive/{method} {seed}", document=document)


def _spelled(case: Case, seed: int) -> Section:
    """A naive case as a scenario; its jitter is drawn by the engine instead."""
    checkpoint: Section = {"policy": case.checkpoint_policy}
    if case.checkpoint_policy != "none":
        checkpoint |= {"save": _time(case.save), "restore": _time(case.restore)}
    if case.checkpoint_policy == "fixed":
        steps = f"{case.interval_steps} step"
        checkpoint["interval"] = steps if case.interval is None else _time(case.interval)
    jitter = 0.0 if not hasattr(case.jitter, "rows") else (0.01 if seed % 2 else 0.05)
    units = [
        {
            "name": unit.name,
            "region": unit.region,
            "chips": sum(unit.slices),
            "chips_per_slice": unit.slices[0],
            "step_time": _time(unit.step_time),
        }
        for unit in case.units
    ]
    return {
        "seed": seed,
        "duration": _time(case.duration),
        "model": {"parameters": case.parameters, "layers": case.layers},
        "training": {
            "step_time": _time(case.units[0].step_time),
            **{
                name: getattr(case, name)
                for name in (
                    "inner_steps",
                    "fragments",
                    "overlap_steps",
                    "quorum",
                    "grace",
                    "payload_bits",
                    "gradient_bits",
                    "tokens_per_step",
                    "apply",
                    "below_quorum",
                    "release",
                    "on_failure",
                )
            },
        },
        "cluster": {
            "chips_per_slice": units[0]["chips_per_slice"],
            "jitter": jitter,
            "units": units,
        },
        "network": {
            "latency": _time(case.latency),
            "regions": {name: {"bandwidth": _rate(rate)} for name, rate in case.capacity.items()},
        },
        "failures": {
            "chip_mtbi": "never",
            "detection": _time(case.strikes[0].detection if case.strikes else 0.0),
            "age_while_down": case.age_while_down,
        },
        "elastic": {
            "downscale": _time(case.downscale),
            "upscale": _time(case.upscale),
            "stall_rule": case.elastic_rule,
        },
        "restart": {
            "time": _time(case.restart_time),
            "stall_rule": case.restart_rule,
            "spares": case.spares,
        },
        "checkpoint": checkpoint,
        "chaos": _faults(case),
    }


def _faults(case: Case) -> list[Section]:
    faults = []
    for strike in case.strikes:
        unit = case.units[strike.unit]
        whole = len(strike.slices) == len(unit.slices)
        parts = [""] if whole else [f"/slice {index}" for index in strike.slices]
        length = _time(strike.detection + strike.repair)
        faults += [kill(f"{unit.name}{part}", _time(strike.time), length) for part in parts]
    if len(case.capacity) > 1:
        throttled: dict[str, float] = {}
        rates: dict[str, float] = {}
        for change in case.link_changes:  # a region's changes come in pairs: thinner, and healed
            if change.capacity == case.capacity[change.region] and change.region in throttled:
                began = throttled.pop(change.region)
                length = _time(change.time - began)
                rate = rates[change.region]
                fault = "cut" if rate == 0 else "throttle"
                to = {} if rate == 0 else {"to": _rate(rate)}
                faults.append(kill(change.region, _time(began), length, fault, **to))
            else:
                throttled[change.region] = change.time
                rates[change.region] = change.capacity
    return faults


def _time(seconds: float) -> str:
    return f"{seconds:.9g} s"


def _rate(rate: float) -> str:
    return "unlimited" if rate == float("inf") else f"{rate:.9g} bit/s"


def dressed() -> Iterator[FrozenCase]:
    """Those cases for the methods of local updates, with what the naive model does not know."""
    for seed in range(1000, 1000 + DRESSED_SEEDS):
        rng = np.random.default_rng([seed, 1])
        document = _spelled(random_case(seed, "decoupled_diloco"), seed)
        syncer = SYNCERS[seed % 3]
        document["methods"] = [*LOCAL]
        document["training"] |= {
            "on_failure": str(rng.choice(["wait", "drop", "rollback"])),
            "syncer": syncer,
            "syncer_time": str(rng.choice(["0 s", "0 s", "0.3 s"])),
            "compression": float(rng.choice([1, 2.5])),
            "broadcast_bits": int(rng.choice([8, 16])),
        }
        if syncer == "replicas":
            policies = ["fixed", "fixed", "bandwidth_following", "quorum_following"]
            document["training"]["policy"] = str(rng.choice(policies))
        document["network"] |= {
            "ring_timeout": str(rng.choice(["never", "1 s", "5 s", "30 s"])),
            "sync_cost": str(rng.choice(["0 s", "0.1 s"])),
        }
        if len(document["network"]["regions"]) > 1 and rng.random() < 0.4:
            regions = sorted(document["network"]["regions"])
            at = float(rng.uniform(0, 20))
            document["chaos"].append(kill(str(rng.choice(regions)), _time(at), "6 s", "cut"))
        if rng.random() < 0.4:
            unit = str(rng.choice([unit["name"] for unit in document["cluster"]["units"]]))
            at = float(rng.uniform(0, 20))
            document["chaos"].append(kill(unit, _time(at), "8 s", "lose_replica"))
        if rng.random() < 0.3:
            interval = _time(float(rng.uniform(5, 20)))
            document["checkpoint"] = {"policy": "fixed", "interval": interval, "save": "0.4 s"}
        yield FrozenCase(f"dressed/{seed}", document=document)


def drawn_by_hypothesis() -> Iterator[FrozenCase]:
    """Whatever the schema accepts, also with causes, maintenance and links that vary."""
    for deep in (False, True):
        for number, document in enumerate(_drawn(deep)):
            name = f"drawn/{'deep' if deep else 'plain'} {number}"
            yield FrozenCase(name, document=document)
            if deep and number % 4 == 0:
                for form in SYNCERS[1:]:
                    yield FrozenCase(
                        f"{name} {form}",
                        document=document | {"methods": ["decoupled_diloco"]},
                        overrides={"training.syncer": form},
                    )
            if deep and number % 4 == 1:
                yield FrozenCase(f"{name} all", document=document | {"methods": [*LOCAL]})


def _drawn(deep: bool) -> list[Section]:
    found: dict[str, None] = {}

    @given(scenarios(deep=deep))
    @settings(
        max_examples=HYPOTHESIS,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    def collect(text: str) -> None:
        found[text] = None

    collect()
    return [
        {
            key: json.loads(value)
            for key, _, value in (line.partition(": ") for line in text.splitlines())
        }
        for text in found
    ]
