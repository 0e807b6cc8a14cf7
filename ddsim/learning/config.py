"""What a replay needs besides the tape, in plain records."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ddsim.learning.errors import LearningError
from ddsim.learning.inner import SGD, AdamW, Decay, Inner, Momentum, Schedule
from ddsim.learning.layout import Layout
from ddsim.learning.merging import Rule
from ddsim.learning.muon import Muon
from ddsim.learning.quantization import WHOLE, Coding, Rounding

Optimizer = Literal["sgd", "momentum", "adamw", "muon"]


@dataclass(frozen=True)
class InnerConfig:
    """The inner optimizer.

    `momentum` is for `momentum` and `muon`, the betas and below for `adamw`, and for what `muon`
    leaves to it.
    """

    optimizer: Optimizer = "adamw"
    momentum: float = 0.9
    beta1: float = 0.9
    beta2: float = 0.99
    epsilon: float = 1e-8
    weight_decay: float = 0.0

    def make(self, layout: Layout, by_adamw: Collection[str] = (), dtype: Any = "f4") -> Inner:
        """Return the optimizer for vectors of this layout.

        `muon` leaves to `adamw` the tensors `by_adamw`, besides vectors.
        """
        if self.optimizer == "sgd":
            return SGD()
        if self.optimizer == "momentum":
            return Momentum(self.momentum)
        adamw = self.beta1, self.beta2, self.epsilon, self.weight_decay
        if self.optimizer == "muon":
            return Muon(self.momentum, layout, by_adamw, *adamw, dtype)
        return AdamW(*adamw, layout.matrices(dtype))


@dataclass(frozen=True)
class OuterConfig:
    """The outer optimizer: SGD with Nesterov momentum, on merged outer gradients.

    `bits` are those of one number of an outer gradient, which `quantizer` gives it, with a scale
    for each `block` of them (None: each tensor); `error_feedback` adds what was left out to the
    next one. The rate goes with the progress of the job, as `decay`, `warmup` and `final` say.
    """

    learning_rate: float = 0.7
    momentum: float = 0.9
    merge: Rule = "mean"
    bits: int = WHOLE
    error_feedback: bool = False
    quantizer: str = "uniform"
    rounding: Rounding = "nearest"
    block: int | None = None
    decay: Decay = "constant"
    warmup: float = 0.0
    final: float = 0.0

    @property
    def coding(self) -> Coding:
        """How outer gradients are sent."""
        return Coding(self.quantizer, self.bits, self.rounding, self.block)

    @property
    def schedule(self) -> Schedule:
        """The outer learning rate over the job."""
        return Schedule(self.learning_rate, self.decay, self.warmup, self.final)


@dataclass(frozen=True)
class LearningConfig:
    """A problem, how it is trained and by whom.

    `tokens` are those of a full step of each learner, `batches` the examples of it that the small
    model sees. `mixing` is what a learner keeps of its own fragment when an update comes. Each step
    of a corrupt learner adds an error of `corruption` times the root mean square of its parameters
    to each of them. Curves have a point at each of so many equal parts of the run. `precision` is
    the floating-point type of parameters and of all that is done with them.
    """

    problem: str
    tokens: tuple[float, ...]
    batches: tuple[int, ...]
    fragments: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    skewed: bool = False
    inner: InnerConfig = InnerConfig()
    schedule: Schedule = field(default_factory=lambda: Schedule(0.003))
    outer: OuterConfig = OuterConfig()
    mixing: float = 0.0
    evaluations: int = 40
    corruption: float = 0.1
    precision: Literal["float32", "float64"] = "float32"

    def __post_init__(self) -> None:
        if not self.tokens or len(self.tokens) != len(self.batches):
            raise LearningError("a learner has tokens and a batch, and there is at least one")
        if min(self.batches) < 1 or self.fragments < 1 or self.evaluations < 1:
            raise LearningError("batches, fragments and evaluations are at least 1")

    @property
    def learners(self) -> int:
        """Number of learners."""
        return len(self.tokens)


def even(learners: int, batch: int, tokens: float | None = None) -> dict[str, Any]:
    """Return `tokens` and `batches` of equal learners; a token is an example unless given."""
    each = float(batch) if tokens is None else tokens
    return {"tokens": (each,) * learners, "batches": (batch,) * learners}
