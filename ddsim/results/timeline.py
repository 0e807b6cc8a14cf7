"""The states of units over time, worked out when somebody looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from ddsim.results.record import Span

if TYPE_CHECKING:
    from ddsim.engine.recorder import States


class Timeline(Sequence[Span]):
    """The spans of what a run has kept of its units' states; equal to any sequence of the same."""

    def __init__(self, kept: States) -> None:
        self._kept: States | None = kept
        self._spans: list[Span] = []

    @property
    def _all(self) -> list[Span]:
        if self._kept is not None:
            self._spans = [Span(*span) for span in self._kept.spans(self._kept.shown_from)]
            self._kept = None
        return self._spans

    def __len__(self) -> int:
        return len(self._all)

    @overload
    def __getitem__(self, index: int) -> Span: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Span]: ...

    def __getitem__(self, index: int | slice) -> Span | Sequence[Span]:
        return self._all[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._all == list(other)

    __hash__ = None  # type: ignore[assignment]  # as a list has none

    def __repr__(self) -> str:
        return repr(self._all)
