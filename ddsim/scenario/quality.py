"""``quality``: what tokens are worth, by a law from tokens to loss."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic_core import PydanticCustomError

from ddsim.naming import listed, shown
from ddsim.scenario.fields import Flag, Kind, Number, Range, Text, faults_of, refuse
from ddsim.scenario.learning import Options
from ddsim.scenario.section import Section, described

PENALTIES = ("published", "none", "diloco_joint", "replicas_penalty_by_size")
"""Words for the penalty of several learners."""

_ABOVE = Number(Range(0.0, above=True))


class LawOptions(Options):
    """A mapping of a law's option names to numbers, texts or truth values."""

    allowed = "a mapping of the law's options to numbers, texts, true or false"


class Span(Kind):
    """A number, or the two ends between which it lies, in any order; or a word."""

    def __init__(self, range: Range, words: tuple[str, ...] = ()) -> None:
        self.range, self.words = range, words
        self._number = Number(range)

    @property
    def allowed(self) -> str:
        """What fits, in words."""
        numbers = f"{self._number.allowed}, or a list of two, its ends"
        return f"{', '.join(self.words)}, {numbers}" if self.words else numbers

    def read(self, value: Any, context: Any = None) -> str | tuple[float, float]:
        """The word, or the two ends as given."""
        if isinstance(value, str) and value in self.words:
            return value
        given = value if isinstance(value, list | tuple) else (value, value)
        if len(given) != 2:
            raise refuse(shown(value), self.allowed)
        try:
            first, second = map(self._number.read, given)
        except PydanticCustomError as error:
            raise refuse(faults_of(error)[0][1], self.allowed) from None
        return first, second

    def write(self, value: Any) -> Any:
        """The word, or a list of two numbers."""
        return value if isinstance(value, str) else [self._number.write(item) for item in value]

    def json_schema(self) -> dict[str, Any]:
        """A number, a list of two, or a word."""
        number = self._number.json_schema()
        forms = [number, {"type": "array", "items": number, "minItems": 2, "maxItems": 2}]
        return {"anyOf": [*forms, {"enum": list(self.words)}] if self.words else forms}


class Quality(Section):
    """What tokens are worth, by a law from tokens to loss; without a law nothing is predicted."""

    law: Annotated[str | None, Text("a law's name")] = described(
        None,
        "Law from tokens to loss (`ddsim list laws`): chinchilla_besiroglu, chinchilla_hoffmann, "
        "power_law with constants of one's own, or one's own class.",
        otherwise="no loss is predicted",
    )
    options: Annotated[dict[str, Any], LawOptions()] = described(
        {}, "Options of the law, by name: of power_law E, A, alpha, B and beta.", otherwise="none"
    )
    target: Annotated[float | None, _ABOVE] = described(
        None,
        "Loss whose hours and cost are asked for, in the law's own nats.",
        otherwise="that of tokens_per_parameter",
    )
    tokens_per_parameter: Annotated[float | None, _ABOVE] = described(
        None,
        "In place of a target: the loss that the law gives a model of this size after so many "
        "tokens a parameter, trained by one learner in small batches.",
        otherwise="no target",
    )
    start: Annotated[float, _ABOVE] = described(
        10.4, "Loss at which training begins; by default of one who guesses among 32,000 tokens."
    )
    penalty: Annotated[str | tuple[float, float], Span(Range(0.0, above=True), PENALTIES)] = (
        described(
            "published",
            "What the loss is multiplied by for several learners: from 1 to what published fits "
            "say, the worse of both (`published`) or one of them; or one's own number or two ends. "
            f"One of {listed(PENALTIES)}, or numbers.",
        )
    )
    overwritten: Annotated[tuple[float, float], Span(Range(0.0, 1.0))] = described(
        (1.0, 0.0),
        "What a token that was overwritten counts, of one that was merged: its two ends.",
    )
    batch_efficiency: Annotated[bool, Flag()] = described(
        True, "Whether a batch costs tokens: 1 + B / the critical batch times those of small ones."
    )
    critical_batch: Annotated[float | None, _ABOVE] = described(
        None, "Critical batch, in tokens.", otherwise="published, by the loss"
    )
