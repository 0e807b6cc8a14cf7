"""``learning``: a real model, trained on the schedule of the run."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from ddsim.naming import shown
from ddsim.scenario.fields import Choice, Fault, Flag, Kind, Number, Range, Text, count, refuse_all
from ddsim.scenario.section import Section, described
from ddsim.scenario.units import read_number

Optimizer = Literal["sgd", "momentum", "adamw", "muon"]
Decay = Literal["cosine", "linear", "constant"]
Merge = Literal["mean", "radial_directional"]
Shards = Literal["iid", "skewed"]
Rounding = Literal["nearest", "stochastic"]

_SHARE = Number(Range(0.0, 1.0))
_BELOW_ONE = Number(Range(0.0, 1.0, below=True))
_RATE = Number(Range(0.0, above=True))


class Options(Kind):
    """A mapping of option names to numbers, texts or truth values."""

    allowed = "a mapping of the problem's options to numbers, texts, true or false"

    def read(self, value: Any, context: Any = None) -> dict[str, Any]:
        """The options; numbers that YAML reads as texts are numbers, 1e2 is the count 100."""
        if not isinstance(value, dict):
            raise refuse_all([((), shown(value), self.allowed)])
        faults: list[Fault] = [
            ((name,), shown(item), "a number, a text, true or false")
            for name, item in value.items()
            if not isinstance(item, int | float | str)
        ]
        if faults:
            raise refuse_all(faults)
        return {name: _number(item) for name, item in value.items()}

    def write(self, value: Any) -> Any:
        """A mapping."""
        return dict(value)

    def json_schema(self) -> dict[str, Any]:
        """A mapping of plain values."""
        return {
            "type": "object",
            "additionalProperties": {"type": ["number", "string", "boolean"]},
        }


def _number(value: Any) -> Any:
    if isinstance(value, str):
        number = read_number(value)
        value = value if number is None else number
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Inner(Section):
    """The optimizer of a learner's own steps, or of data-parallel's."""

    optimizer: Annotated[Optimizer, Choice(get_args(Optimizer))] = described(
        "adamw",
        "Rule of a step. muon makes the momentum of matrices orthogonal, and leaves vectors, "
        "embeddings and output layers to adamw.",
    )
    learning_rate: Annotated[float, _RATE] = described(0.003, "Highest learning rate.")
    schedule: Annotated[Decay, Choice(get_args(Decay))] = described(
        "cosine", "How the rate falls over the tokens that the method does in the run."
    )
    warmup: Annotated[float, _BELOW_ONE] = described(
        0.05, "Share of the tokens over which the rate rises from 0."
    )
    final: Annotated[float, _SHARE] = described(0.0, "Share of the rate that is left at the end.")
    momentum: Annotated[float, _BELOW_ONE] = described(0.9, "Momentum, of `momentum` and `muon`.")
    beta1: Annotated[float, _BELOW_ONE] = described(0.9, "Memory of the gradient, of `adamw`.")
    beta2: Annotated[float, _BELOW_ONE] = described(0.99, "Memory of its square, of `adamw`.")
    epsilon: Annotated[float, _RATE] = described(1e-8, "Added to the root, of `adamw`.")
    weight_decay: Annotated[float, Number(Range(0.0))] = described(
        0.0, "Decoupled decay of tensors with two axes or more, of `adamw` and `muon`."
    )


class Outer(Section):
    """The optimizer of what is merged: SGD with Nesterov momentum."""

    learning_rate: Annotated[float, _RATE] = described(0.7, "Learning rate.")
    momentum: Annotated[float, _BELOW_ONE] = described(0.9, "Nesterov momentum.")
    schedule: Annotated[Decay, Choice(get_args(Decay))] = described(
        "constant", "How the rate falls over the tokens that all learners do in the run."
    )
    warmup: Annotated[float, _BELOW_ONE] = described(
        0.0, "Share of the tokens over which the rate rises from 0."
    )
    final: Annotated[float, _SHARE] = described(0.0, "Share of the rate that is left at the end.")


class Quantization(Section):
    """Outer gradients in few bits, with a scale for each tensor or block of numbers."""

    quantizer: Annotated[str, Text("a quantizer's name")] = described(
        "uniform",
        "What a number is sent as: uniform, evenly spaced levels; float, a sign and an exponent "
        "(E3M0 at 4 bits); gaussian, Lloyd-Max levels; sign, with a scale that keeps the norm "
        "(1 bit); or one's own.",
    )
    bits: Annotated[int | None, count(1, 64)] = described(
        None,
        "Bits of one number; 32 and more change nothing.",
        otherwise="training.payload_bits, over compression",
    )
    rounding: Annotated[Rounding, Choice(get_args(Rounding))] = described(
        "nearest",
        "Whether a number is sent as the nearest level, or as one of the two beside it so that it "
        "is right in the mean; scales then reach to the largest magnitude.",
    )
    error_feedback: Annotated[bool, Flag()] = described(
        False,
        "Whether what rounding leaves out, and what no merge took as it came too late, is added to "
        "the next outer gradient. It is lost with the unit's hardware.",
    )


class Learning(Section):
    """A real model in numpy, trained by the simulated learners; without a problem there is none."""

    problem: Annotated[str | None, Text("a problem's name")] = described(
        None, "What is trained (`ddsim list problems`).", otherwise="nothing is trained"
    )
    options: Annotated[dict[str, Any], Options()] = described(
        {}, "Options of the problem, by name.", otherwise="the problem's own"
    )
    shards: Annotated[Shards, Choice(get_args(Shards))] = described(
        "iid", "Whether all learners draw from the same data or each from its own part."
    )
    batch_size: Annotated[int, count()] = described(
        32, "Examples of a learner's full step, in the mean over learners."
    )
    seeds: Annotated[int, count()] = described(
        1, "Trainings on the same schedule, each with its own initial parameters and batches."
    )
    seed: Annotated[int | None, count(0)] = described(
        None, "Seed of the trainings.", otherwise="the scenario's"
    )
    evaluations: Annotated[int, count(1, 100_000)] = described(
        40, "Equal parts of the run after each of which the loss is evaluated."
    )
    checkpoints: Annotated[str | None, Text("a folder")] = described(
        None, "Folder in which a long training leaves its state, to be resumed.", otherwise="none"
    )
    corruption: Annotated[float, Number(Range(0.0))] = described(
        0.1,
        "Error that silent corruption (`failures.causes[].latent`) adds to all parameters of a "
        "learner at each of its steps: its standard deviation, as a share of their root mean "
        "square.",
    )
    inner: Inner = described(Inner(), "The optimizer of a learner's own steps.")
    outer: Outer = described(Outer(), "The optimizer of what is merged.")
    merge: Annotated[Merge | None, Choice(get_args(Merge))] = described(
        None,
        "How updates of several learners become one.",
        otherwise="radial_directional for decoupled_diloco, mean for the others",
    )
    quantization: Quantization = described(Quantization(), "Outer gradients in few bits.")
