"""What has to hold between the fields of a scenario.

Each check looks only at fields that are valid by themselves, so that one mistake is reported once.
"""

from __future__ import annotations

import math
from os.path import isfile

from ddsim.naming import listed, shown, suggestion
from ddsim.scenario.catalogue import CHIPS, MODELS
from ddsim.scenario.check_causes import check_causes
from ddsim.scenario.check_chaos import check_chaos
from ddsim.scenario.check_cluster import check_cluster
from ddsim.scenario.check_learning import check_learning
from ddsim.scenario.check_names import check_names
from ddsim.scenario.check_network import check_network
from ddsim.scenario.check_presence import check_presence
from ddsim.scenario.check_quality import check_quality
from ddsim.scenario.contents import Contents
from ddsim.scenario.fields import Quantity
from ddsim.scenario.known import Known
from ddsim.scenario.layout import lay_out, unit_count, worked_out
from ddsim.scenario.paths import Slot
from ddsim.scenario.report import Report
from ddsim.scenario.units import TIME, write_quantity

LONGEST = 2**62 / 1e9
"""Seconds that a run's clock can count."""


def check(scenario: Contents, report: Report, known: Known) -> None:
    """Report everything between the fields that does not hold."""
    check_names(scenario, report, known)
    _python(report)
    _model(scenario, report)
    _tensors(scenario, report)
    _training(scenario, report)
    _policy(scenario, report)
    _duration(scenario, report)
    _checkpoint(scenario, report)
    check_learning(scenario.learning, scenario.training, report, known.quantizers)
    check_quality(scenario, report)
    check_cluster(scenario, report)
    check_network(scenario, report)
    check_causes(scenario, report)
    _step_time(scenario, report)
    _quorum(scenario, report)
    planned = scenario.chaos or scenario.scavenging or scenario.failures.maintenance
    if planned and report.sound(("cluster",), ("network", "regions")):
        built = lay_out(scenario)
        check_chaos(built, report)
        check_presence(built, report)
    _finite(scenario, report)


def _finite(scenario: Contents, report: Report) -> None:
    """What follows from other values has to be a number that a field can be given."""
    if report.problems:
        return
    for key, section in worked_out(scenario).items():
        for field, name in type(section).keys().items():
            kind = Slot("", type(section), name).kind
            if not isinstance(kind, Quantity) or kind.word is not None:
                continue
            if getattr(section, name) == math.inf:
                found = "too large to compute with, as it follows from other fields"
                report.add((key, field), found, f"smaller ones, or {kind.allowed}")


def _python(report: Report) -> None:
    if not report.sound(("python",)):
        return
    for index, file in enumerate(report.document.python_files()):
        if not isfile(file):
            allowed = f"a Python file; looked for {file}"
            report.add(("python", index), f"no file {shown(file.name)}", allowed)


def _model(scenario: Contents, report: Report) -> None:
    model = scenario.model
    if model.name is not None and model.name not in MODELS:
        if not (model.parameters and model.layers):
            allowed = (
                f"{suggestion(model.name, MODELS)}{listed(list(MODELS))}, "
                "or any name beside parameters and layers"
            )
            report.add(("model", "name"), f"unknown model {shown(model.name)}", allowed)
        return
    if model.name is None and report.usable(("model",)):
        for key in ("parameters", "layers"):
            if not getattr(model, key) and report.usable(("model", key), ("model", "name")):
                report.add(("model", key), "not given", f"needed, unless model.name is {_models()}")


def _tensors(scenario: Contents, report: Report) -> None:
    tensors, fragments = scenario.model.tensors, scenario.training.fragments
    if not tensors or not report.sound(("model", "tensors"), ("training", "fragments")):
        return
    if len(tensors) < fragments:
        found = f"{len(tensors)} tensors for {fragments} fragments"
        report.add(("model", "tensors"), found, "at least one tensor for each training.fragments")


def _models() -> str:
    return f"one of {listed(list(MODELS))}"


def _training(scenario: Contents, report: Report) -> None:
    training, model = scenario.training, scenario.model
    layers = model.layers or (MODELS[model.name].layers if model.name in MODELS else 0)
    where = ("training", "fragments")
    if not report.given(*where) or not report.usable(where, ("model", "layers"), ("model", "name")):
        return
    if 0 < layers < training.fragments:
        found = f"{training.fragments} fragments of {layers} layers"
        report.add(where, found, f"at most one fragment a layer: 1 to {layers}")


def _policy(scenario: Contents, report: Report) -> None:
    training = scenario.training
    where = ("training", "policy")
    if not report.usable(where, ("training", "syncer")):
        return
    if training.policy != "fixed" and training.syncer != "replicas":
        found = f"{shown(training.policy)} with a syncer that is {training.syncer}"
        report.add(where, found, "fixed, or a syncer of replicas")


def _duration(scenario: Contents, report: Report) -> None:
    if LONGEST <= scenario.duration < math.inf and report.usable(("duration",)):
        found = write_quantity(scenario.duration, TIME)
        report.add(("duration",), found, "less than 146 years, in which 2^62 nanoseconds pass")
    goals = (scenario.training.tokens, scenario.training.loss)
    endless = scenario.duration == math.inf and goals == (None, None)
    if endless and report.usable(("duration",), ("training", "tokens"), ("training", "loss")):
        allowed = f"{TIME.help}; never only with training.tokens or training.loss"
        report.add(("duration",), '"never"', allowed)


def _checkpoint(scenario: Contents, report: Report) -> None:
    checkpoint = scenario.checkpoint
    where = ("checkpoint", "policy")
    if not report.usable(where):
        return
    interval = ("checkpoint", "interval")
    if checkpoint.policy == "fixed" and checkpoint.interval is None and report.usable(interval):
        allowed = 'policy fixed needs one, such as "30 min" or "1 step"'
        report.add(interval, "not given", allowed)
    save = ("checkpoint", "save")
    computed = checkpoint.policy in ("young", "daly", "optimal")
    derived = checkpoint.bandwidth is not None and not checkpoint.given("save")
    known = report.usable(save, ("checkpoint", "bandwidth"))
    if computed and checkpoint.save == 0.0 and not derived and known:
        found = "not given" if not report.given(*save) else write_quantity(0.0, TIME)
        allowed = f"above 0: policy {checkpoint.policy} weighs it against failures"
        report.add(save, found, allowed)
    stall = ("checkpoint", "stall")
    usable = report.usable(stall, ("checkpoint", "asynchronous"))
    if checkpoint.stall > 0.0 and not checkpoint.asynchronous and usable:
        allowed = "only a save that is asynchronous has one; a blocking one takes `save`"
        report.add(stall, write_quantity(checkpoint.stall, TIME), allowed, key=True)


def _step_time(scenario: Contents, report: Report) -> None:
    """Every unit has a step time of its own, or the nominal one, or a chip that gives it."""
    cluster, training = scenario.cluster, scenario.training
    if training.step_time is not None or not report.usable(("training", "step_time")):
        return
    own = [unit.step_time is not None for unit in cluster.units]
    if cluster.units and all(own):
        return
    chipped = (
        cluster.chip
        or cluster.chip_speed
        or all(
            timed or unit.chip or unit.chip_speed
            for timed, unit in zip(own, cluster.units, strict=True)
        )
    )
    where = ("training", "step_time")
    if not chipped or not (cluster.chip or cluster.chip_speed or cluster.units):
        if report.sound(("cluster",)):
            allowed = (
                f"{TIME.help}; or cluster.chip, one of {listed(list(CHIPS))}, "
                "with cluster.mfu and training.tokens_per_step"
            )
            report.add(where, "not given", allowed)
        return
    tokens = ("training", "tokens_per_step")
    if not report.given(*tokens) and report.usable(tokens):
        report.add(tokens, "not given", "needed to derive the step time, or training.step_time")


def _quorum(scenario: Contents, report: Report) -> None:
    where = ("training", "quorum")
    learners = unit_count(scenario.cluster)
    if not report.usable(where, ("cluster", "learners"), ("cluster", "units")):
        return
    if scenario.training.quorum > learners:
        found = f"{scenario.training.quorum}, with {learners} learner{'s'[: learners != 1]}"
        report.add(where, found, f"1 to {learners}, the number of learners")
