"""From a scenario to what a replay needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddsim.learning.config import InnerConfig, LearningConfig, OuterConfig
from ddsim.learning.inner import Schedule
from ddsim.learning.merging import Rule

if TYPE_CHECKING:
    from ddsim.scenario import Scenario

MERGES: dict[str, Rule] = {"decoupled_diloco": "radial_directional"}
"""How the updates of learners become one where a scenario does not say; the mean elsewhere."""


def config_of(scenario: Scenario, method: str) -> LearningConfig:
    """Return how a scenario that is settled for a method trains its model.

    A learner's tokens and examples are in proportion to its unit's nominal chips.
    """
    learning = scenario.learning
    if learning.problem is None:
        raise ValueError("this scenario has no learning section")
    chips = [unit.chips for unit in scenario.cluster.units]
    shares = [count / sum(chips) for count in chips]
    examples = learning.batch_size * len(chips)
    inner = learning.inner
    quantization = learning.quantization
    bits = quantization.bits
    return LearningConfig(
        problem=learning.problem,
        tokens=tuple(scenario.training.tokens_per_step * share for share in shares),
        batches=tuple(max(1, round(examples * share)) for share in shares),
        fragments=scenario.training.fragments,
        options=learning.options,
        skewed=learning.shards == "skewed",
        inner=InnerConfig(
            optimizer=inner.optimizer,
            momentum=inner.momentum,
            beta1=inner.beta1,
            beta2=inner.beta2,
            epsilon=inner.epsilon,
            weight_decay=inner.weight_decay,
        ),
        schedule=Schedule(inner.learning_rate, inner.schedule, inner.warmup, inner.final),
        outer=OuterConfig(
            learning_rate=learning.outer.learning_rate,
            momentum=learning.outer.momentum,
            merge=learning.merge or MERGES.get(method, "mean"),
            bits=int(scenario.training.payload_bits) if bits is None else bits,
            error_feedback=quantization.error_feedback,
            quantizer=quantization.quantizer,
            rounding=quantization.rounding,
            block=scenario.training.payload_block,
            decay=learning.outer.schedule,
            warmup=learning.outer.warmup,
            final=learning.outer.final,
        ),
        mixing=scenario.training.mixing if method == "streaming_diloco" else 0.0,
        evaluations=learning.evaluations,
        corruption=learning.corruption,
    )


def seeds_of(scenario: Scenario, replication: int) -> list[int]:
    """Return the seeds of a replication's trainings, the same for every method."""
    learning = scenario.learning
    seed = scenario.seed if learning.seed is None else learning.seed
    count = learning.seeds
    return [seed * 1_000_000 + replication * count + index for index in range(count)]
