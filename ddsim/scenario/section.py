"""The base of every mapping in a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

REQUIRED = {"required": True}
"""Marks a field that has to be given; `missing` reads it."""


class Section(BaseModel):
    """A mapping with known keys. Frozen; a key that says nothing (``key:``) is a key not given."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=False)
    title: ClassVar[str] = ""

    @model_validator(mode="before")
    @classmethod
    def _leave_out_nothing(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return raw
        known = cls.keys()
        return {key: value for key, value in raw.items() if value is not None or key not in known}

    @classmethod
    @cache
    def keys(cls) -> Mapping[str, str]:
        """Every key as files spell it, and the name of its field."""
        fields = {field.alias or name: name for name, field in cls.model_fields.items()}
        return MappingProxyType(fields)

    def given(self, name: str) -> bool:
        """Whether the field was given, rather than left to its default."""
        return name in self.model_fields_set

    def missing(self) -> list[str]:
        """Keys that have to be given and were not."""
        return [
            key
            for key, name in type(self).keys().items()
            if is_required(type(self), name) and not self.given(name)
        ]

    def replaced(self, **values: Any) -> Any:
        """A copy with resolved values."""
        if self.__pydantic_private__ is not None:
            return self.model_copy(update=values)
        # As model_copy, in a tenth of the time: there may be 100,000 units.
        copy = object.__new__(type(self))
        given = self.__pydantic_fields_set__ | values.keys()
        object.__setattr__(copy, "__dict__", {**self.__dict__, **values})
        object.__setattr__(copy, "__pydantic_fields_set__", given)
        object.__setattr__(copy, "__pydantic_extra__", self.__pydantic_extra__)
        object.__setattr__(copy, "__pydantic_private__", None)
        return copy


def is_required(section: type[Section], name: str) -> bool:
    """Whether the field has to be given."""
    extra = section.model_fields[name].json_schema_extra
    return isinstance(extra, dict) and bool(extra.get("required"))


def described(default: Any, meaning: str, *, otherwise: str = "", **options: Any) -> Any:
    """A field with a default and its meaning.

    ``otherwise`` says in words what holds when the field is not given, where the default's own
    value would not.
    """
    extra: Any = {"otherwise": otherwise} if otherwise else None
    return Field(default=default, description=meaning, json_schema_extra=extra, **options)


def required(default: Any, meaning: str, **options: Any) -> Any:
    """A field that has to be given; ``default`` only stands in while errors are collected."""
    return Field(default=default, description=meaning, json_schema_extra={**REQUIRED}, **options)
