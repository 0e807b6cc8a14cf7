"""Real models in numpy, trained the way simulated learners step, merge, vanish and return.

A run leaves a tape; `replay` trains a problem along it and returns curves of the loss. A user's
own problem is a class registered with `problem`.
"""

from ddsim.learning import language, quadratic, regression  # noqa: F401  (they register problems)
from ddsim.learning.config import InnerConfig, LearningConfig, OuterConfig, even
from ddsim.learning.curve import Curve, Point
from ddsim.learning.errors import Divergence, LearningError
from ddsim.learning.inner import Schedule
from ddsim.learning.problem import Problem, Shard, StackedProblem, Tensors, problem
from ddsim.learning.quantization import Quantizer, quantizer
from ddsim.learning.replay import replay

__all__ = [
    "Curve",
    "Divergence",
    "InnerConfig",
    "LearningConfig",
    "LearningError",
    "OuterConfig",
    "Point",
    "Problem",
    "Quantizer",
    "Schedule",
    "Shard",
    "StackedProblem",
    "Tensors",
    "even",
    "problem",
    "quantizer",
    "replay",
]
