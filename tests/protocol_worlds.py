"""Worlds in which the protocol of the DiLoCo family is tried, some of them full of ties."""

from __future__ import annotations

from typing import Any

TEXT = """\
duration: 2 h
methods: [decoupled_diloco]
model: {parameters: 1e9, layers: 24}
training: {step_time: 1 s, tokens_per_step: 64, inner_steps: 12, fragments: 12}
cluster:
  chips_per_slice: 4
  units:
    - {name: a, region: r, chips: 16}
    - {name: b, region: s, chips: 16}
network: {bandwidth: 5 Gbit/s, latency: 20 ms, regions: {r: , s: }}
failures: {chip_mtbi: 0.3 day, repair: 10 min, detection: 2 s}
"""
WORLDS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "jitter": {"cluster.jitter": 0.1},
    "data that come late": {"cluster.delay": {"exponential": {"mean": "0.3 s"}}},
    "a quorum of all": {"training.quorum": 2, "training.below_quorum": "step_on"},
    "at tau": {"training.apply": "at_tau", "training.overlap_steps": 4, "training.grace": 0},
    "a link that changes": {
        "chaos": [
            {"at": "1 h", "fault": "throttle", "target": "r", "to": "1 Gbit/s", "for": "10 min"}
        ],
    },
    "slow parts": {
        "chaos": [{"at": "30 min", "fault": "slow", "target": "a", "to": 0.5, "for": "10 min"}],
    },
    "a unit lost where links do not matter": {
        "network.bandwidth": "unlimited",
        "chaos": [{"at": "30 min", "fault": "kill", "target": "a", "for": "10 min"}],
    },
    "a unit lost that has to copy": {
        "chaos": [{"at": "30 min", "fault": "kill", "target": "a", "for": "10 min"}],
    },
    "several fragments a slot": {"training.inner_steps": 5, "training.fragments": 12},
    "an exchange that ends as a link changes": {
        "network.latency": "0 s",
        "network.bandwidth": "1 Gbit/s",
        "network.ring_timeout": "never",
        "model.parameters": 6e9,  # 0.5 s for a fragment
        "training.payload_bits": 1,
        "failures.chip_mtbi": "never",
        "chaos": [{"at": "60.5 s", "fault": "cut", "target": "r", "for": "3 min"}],
    },
    "an exchange that begins as a link changes": {
        "network.bandwidth": "unlimited",
        "network.ring_timeout": "never",
        "failures.chip_mtbi": "never",
        "chaos": [{"at": "540 s", "fault": "cut", "target": "r", "for": "3 min"}],
    },
    "an hour alone": {
        "training.quorum": 2,
        "network.bandwidth": "unlimited",
        "chaos": [{"at": "10 min", "fault": "kill", "target": "a", "for": "1 h"}],
    },
}

# In these the protocol hands over what others know.
HANDED_OVER: dict[str, dict[str, Any]] = {
    "a policy": {"training.policy": "bandwidth_following"},
    "a central syncer": {"training.syncer": "central"},
    "merges that take time": {"training.syncer_time": "0.1 s"},
    "a goal in tokens": {"training.tokens": 1e9},
    "tensors of their own size": {"model.tensors": {f"t{i}": 1 + i for i in range(12)}},
    "saves that cost": {"checkpoint": {"policy": "fixed", "interval": "10 min", "save": "5 s"}},
    "lost replicas": {
        "chaos": [{"at": "1 h", "fault": "lose_replica", "target": "r", "for": "1 min"}]
    },
    "units that copy their moments": {
        "chaos": [{"at": "1 h", "fault": "kill", "target": "a", "for": "10 min"}]
    },
    "more than fits into memory": {"training.overlap_steps": 1_000_000},
    "exchanges longer than the timeout": {
        "chaos": [{"at": "1 h", "fault": "cut", "target": "r", "for": "10 min"}]
    },
}

# In these exchanges start slowly wherever their connections are idle.
_SIX = {"network.tcp.streams": 6, "network.latency": "40 ms", "duration": "40 min"}
_THIN = {"fault": "throttle", "target": "r", "to": "0.3 Gbit/s", "for": "90 s"}
STREAMS: dict[str, dict[str, Any]] = {
    "streams that rest between exchanges": _SIX,
    "streams that hardly rest": {**_SIX, "model.parameters": 1.3e9},
    "streams that are cut": {
        **_SIX,
        "chaos": [
            {"at": "3 min", "fault": "cut", "target": "r", "for": "20 s"},
            {"at": "5 min", **_THIN},
        ],
    },
    "streams beside a copy": {
        **_SIX,
        "chaos": [{"at": "3 min", "fault": "kill", "target": "a", "for": "4 min"}],
    },
}

# In these much happens at one instant; sections in place of those of the base.
TIES_BASE: dict[str, Any] = {
    "duration": "300 s",
    "model": {"parameters": 1e9, "layers": 24},
    "training": {"step_time": "1 s"},
    "cluster": {"chips_per_slice": 1, "units": [{"chips": 2}, {"chips": 2}]},
    "network": {"bandwidth": "unlimited"},
    "restart": {"time": "20 s"},
    "failures": {"detection": "10 s"},
}


def kill(target: str, at: str, length: str) -> dict[str, str]:
    """A planned failure of hardware."""
    return {"at": at, "fault": "kill", "target": target, "for": length}


TWICE = [kill("unit 0/slice 0", "50 s", "20 s"), kill("unit 0/slice 1", "50 s", "30 s")]
EXTEND = {
    "training": {"step_time": "1 s", "overlap_steps": 1},
    "elastic": {"stall_rule": "extend", "upscale": "40 s"},
    "chaos": TWICE,
}
TIES: dict[str, dict[str, Any]] = {
    "a slice returns as a restart ends": {
        "duration": "95 s",
        "chaos": [
            kill("unit 0/slice 0", "50.5 s", "20 s"),
            kill("unit 0/slice 1", "50.5 s", "40 s"),
        ],
    },
    "a unit becomes live as a slot opens": EXTEND,
    "two lost units return at once": {
        "training": {"step_time": "1 s", "below_quorum": "step_on", "overlap_steps": 0},
        "network": {"bandwidth": "unlimited", "latency": "1 s"},
        "restart": {"time": "20 s", "moment_bits": 0},
        "chaos": [kill("unit 0", "50.5 s", "20 s"), kill("unit 1", "50.5 s", "20 s")],
    },
    "a unit is lost at the end of a step that rounding misses": {
        "training": {"step_time": "0.1 s"},
        "chaos": [kill("unit 0", "1 min", "never")],
    },
    "fragments answered behind and at tau": {
        "training": {"step_time": "2 s", "inner_steps": 1, "apply": "at_tau"},
        "cluster": {"units": [{"chips": 4}, {"chips": 4}], "jitter": 0.4},
    },
}
