"""What a preset says of a file: its shape, which fields hold what, how it is recognised."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ddsim.logs.instants import UNITS

Shape = Literal["table", "records", "nested", "text"]
Kind = Literal["text", "number", "instant", "duration"]


def _several(value: Any) -> Any:
    return value if value is None or isinstance(value, list | tuple | dict) else (value,)


def _pattern(value: Any) -> Any:
    if isinstance(value, str):
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"no regular expression: {error}") from None
    return value


Names = Annotated[tuple[str, ...], BeforeValidator(_several)]
Pattern = Annotated[str, BeforeValidator(_pattern)]
Unit = Literal["s", "ms", "us", "ns", "min", "h", "d"]
assert set(UNITS) == {"s", "ms", "us", "ns", "min", "h", "d"}


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Column(_Said):
    """One column of a log's frame.

    `fields` (`from` in YAML): the names that it has in files, the first that is there counts; in
    JSON dotted. `kind` (`is`): text, number, an instant or a duration; both of these are seconds in
    the frame, instants since 1970. `unit` of a number that is one of these, where size cannot tell.
    `times`: forms of dates beside ISO 8601, as strptime has them. `take`: a regular expression
    whose first group is what counts. `empty`: what stands for nothing. Where a row has nothing that
    is NaN or None; without `optional` it is an error that the file has no such column.
    """

    fields: Names = Field(alias="from")
    kind: Kind = Field("text", alias="is")
    unit: Unit | None = None
    times: Names = ()
    take: Pattern | None = None
    empty: Names = ()
    optional: bool = False

    @classmethod
    def of(cls, field: str) -> Column:
        """A column of text."""
        return cls.model_validate({"from": field})


class Form(_Said):
    """One form in which a log of its kind is written.

    `shape`: a `table` of delimited text, `records` (a JSON object a line), `nested` (one JSON
    document; `rows` says where its rows are, lists inside lists one after the other; with
    `beside` what stands beside the rows counts for each of them), or `text` whose lines match a
    regular expression of `patterns`, its groups being the fields. `delimiters`: those that a table
    may have, the one that gives most columns is taken; `blanks` for columns that are two blanks or
    more apart. `names`: the columns of a table without a header. `needs`: fields that a file must
    have to be taken for one of this form, `a|b` if one of them is enough; `begins`: what its first
    line must look like then, a regular expression; of a table without a header, `shows`: what its
    first row must look like, field by field. `others`: columns that are not named are kept, as
    text, under their own names.
    """

    shape: Shape
    delimiters: Names = (",", ";", "|", "\t")
    names: Names = ()
    rows: Names = ()
    beside: bool = False
    patterns: dict[str, Pattern] = {}
    needs: Names = ()
    begins: Pattern | None = None
    shows: dict[str, Pattern] = {}
    columns: dict[str, Column]
    others: bool = False

    @model_validator(mode="after")
    def _whole(self) -> Form:
        if (self.shape == "text") != bool(self.patterns):
            raise ValueError("`patterns` are what the shape `text` has, and it alone")
        if self.rows and self.shape != "nested":
            raise ValueError("`rows` are what the shape `nested` has")
        return self


class Preset(_Said):
    """A format of logs: what it `holds`, its forms, and what its words mean.

    `holds` names the reader that makes something of the rows; `settings` are for that reader, which
    checks them. `source` is where the format is described. `instead`: what a first line looks like
    that says too little, a regular expression, and what to ask for instead.
    """

    name: str = ""
    about: str
    source: str = ""
    holds: str
    forms: tuple[Form, ...] = Field(min_length=1)
    settings: dict[str, Any] = {}
    instead: dict[Pattern, str] = {}
