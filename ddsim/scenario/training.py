"""``model`` and ``training``: what is trained, and how its parts are kept in step."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from ddsim.naming import shown
from ddsim.scenario.fields import (
    Choice,
    Fault,
    Number,
    Quantity,
    Range,
    Text,
    count,
    refuse_all,
)
from ddsim.scenario.learning import Options
from ddsim.scenario.section import Section, described
from ddsim.scenario.units import COMPUTE, TIME

Apply = Literal["on_arrival", "at_tau"]
BelowQuorum = Literal["block", "step_on"]
Release = Literal["by_layer", "end_of_step"]
Syncer = Literal["replicas", "partitioned", "central"]
OnFailure = Literal["wait", "drop", "rollback", "leave"]


class PolicyOptions(Options):
    """A mapping of a policy's option names to numbers, texts or truth values."""

    allowed = "a mapping of the policy's options to numbers, texts, true or false"


class TensorSizes(Options):
    """A mapping of tensors' names to their parameters."""

    allowed = "a mapping of tensors to their parameters, each a number above 0"

    def read(self, value: Any, context: Any = None) -> dict[str, Any]:
        """The sizes."""
        sizes = super().read(value, context)
        faults: list[Fault] = [
            ((name,), shown(size), "parameters, a number above 0")
            for name, size in sizes.items()
            if isinstance(size, bool | str) or not size > 0
        ]
        if faults:
            raise refuse_all(faults)
        return sizes

    def json_schema(self) -> dict[str, Any]:
        """A mapping of numbers."""
        return {"type": "object", "additionalProperties": {"type": ["number", "string"]}}


_BITS = Number(Range(0.0, 64.0, above=True), unit="bit")


class Model(Section):
    """The model that is trained."""

    name: Annotated[str | None, Text("a model of the catalogue")] = described(
        None, "A model of the catalogue (`ddsim list models`), which gives its sizes."
    )
    parameters: Annotated[float, Number(Range(1.0))] = described(
        0.0, "Parameters N of the model.", otherwise="of the catalogue"
    )
    layers: Annotated[int, count(most=100_000)] = described(
        0, "Layers L of the model.", otherwise="of the catalogue"
    )
    tensors: Annotated[dict[str, Any], TensorSizes()] = described(
        {},
        "Parameters of each tensor, by name; only their ratios count. decoupled_diloco packs whole "
        "tensors into its fragments, the largest first into the lightest.",
        otherwise="fragments of one size",
    )
    flops_per_token: Annotated[float, Quantity(COMPUTE, Range(0.0, above=True))] = described(
        0.0,
        "Compute of one token, forward and backward; with a chip it gives the step time.",
        otherwise="6 FLOP a parameter",
    )


class Training(Section):
    """One step, and what is exchanged between steps."""

    step_time: Annotated[float | None, Quantity(TIME, Range(0.0, above=True))] = described(
        None,
        "Pure compute of one nominal step on a unit of speed 1.",
        otherwise="from the chip, the model and tokens_per_step",
    )
    tokens_per_step: Annotated[float, Number(Range(0.0, above=True))] = described(
        1.0, "Tokens of one step of the whole nominal cluster; lost slices lower it."
    )
    tokens: Annotated[float | None, Number(Range(0.0, above=True))] = described(
        None, "Stop when this many tokens are done instead of at `duration`.", otherwise="no limit"
    )
    loss: Annotated[float | None, Number(Range(0.0, above=True))] = described(
        None,
        "Stop when the loss that `quality` predicts, the middle of its interval, comes down to "
        "this, in the law's own nats.",
        otherwise="no limit",
    )
    inner_steps: Annotated[int, count()] = described(
        24, "Inner steps H of a round: the period of every fragment."
    )
    fragments: Annotated[int, count()] = described(
        24,
        "Fragments P into which the model is cut.",
        otherwise="inner_steps, at most the model's layers",
    )
    overlap_steps: Annotated[int, count(0)] = described(
        2, "Steps tau that a transfer may overlap before a learner waits for it."
    )
    quorum: Annotated[int, count()] = described(1, "Learners K whose answers open a merge.")
    grace: Annotated[float, Number(Range(0.0, 1.0, below=True))] = described(
        0.9, "Share gamma of the slack for which a merge waits for more learners; 0 turns it off."
    )
    mixing: Annotated[float, Number(Range(0.0, 1.0))] = described(
        0.0, "Share alpha of its own fragment that a unit of streaming_diloco keeps at an update."
    )
    payload_bits: Annotated[float, _BITS] = described(32.0, "Bits a parameter of outer gradients.")
    gradient_bits: Annotated[float, _BITS] = described(
        16.0, "Bits a parameter of the gradients that data-parallel methods reduce."
    )
    compression: Annotated[float, Number(Range(1.0))] = described(
        1.0, "How many times fewer bits outer gradients have than payload_bits says."
    )
    payload_block: Annotated[int | None, count()] = described(
        None,
        "Numbers of an outer gradient that have a scale in common, sent with them.",
        otherwise="one scale a tensor, too few to be counted",
    )
    scale_bits: Annotated[float, Number(Range(0.0, 64.0), unit="bit")] = described(
        32.0, "Bits of such a scale."
    )
    broadcast_bits: Annotated[float, _BITS] = described(
        16.0, "Bits a parameter of what a syncer sends down."
    )
    apply: Annotated[Apply, Choice(get_args(Apply))] = described(
        "on_arrival",
        "When a learner takes an update in: on arrival, or tau steps after its answer.",
    )
    below_quorum: Annotated[BelowQuorum, Choice(get_args(BelowQuorum))] = described(
        "block", "Whether learners wait or step on while fewer than K are live."
    )
    syncer: Annotated[Syncer, Choice(get_args(Syncer))] = described(
        "replicas",
        "Where decoupled_diloco merges: in replicas at every site, which all-reduce outer "
        "gradients in a ring; partitioned, each site a part; or central, at network.server. The "
        "last two send outer gradients in and parameters, at broadcast_bits, out.",
    )
    syncer_time: Annotated[float, Quantity(TIME)] = described(
        0.0,
        "Compute of decoupled_diloco's syncer for a merge, one after another, once the last bit of "
        "its exchange is there.",
    )
    policy: Annotated[str, Text("a policy's name")] = described(
        "fixed",
        "What decoupled_diloco's bits, H, tau and K follow: fixed, bandwidth_following (bits, "
        "then H and tau, by what links give), quorum_following (K, by who is live), or one's own.",
    )
    policy_options: Annotated[dict[str, Any], PolicyOptions()] = described(
        {}, "Options of the policy, by name.", otherwise="the policy's own"
    )
    release: Annotated[Release | None, Choice(get_args(Release))] = described(
        None,
        "When outer gradients of lock-step methods are handed to the network.",
        otherwise="the method's own",
    )
    on_failure: Annotated[OnFailure, Choice(get_args(OnFailure))] = described(
        "wait",
        "What diloco and streaming_diloco do about a unit without hardware when all others have "
        "done their steps: wait for it, drop it from the round, or roll the round back. With leave "
        "they go on once its failure is detected, or its link has been cut for "
        "network.ring_timeout, and then do not wait for it when it is back: it takes H steps of "
        "its own, after its restart, and is in the next synchronization then.",
    )
