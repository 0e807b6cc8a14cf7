"""The protocol as machine code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ddsim.methods.local.flattening import Layout, flat_protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from ddsim.methods.local.protocol import State

    Advance = Callable[[Any, Any, int, int], int]


class MachineCode:
    """`protocol.advance` over the two arrays that `pack` makes of a state."""

    def __init__(self, state: State) -> None:
        self._layout = Layout(state)
        self.pack = self._layout.pack
        self.advance = _compile(self._layout)


_COMPILED: list[MachineCode] = []


def compiled(state: State) -> MachineCode:
    """Return the machine code, for arrays of these types: all have the same."""
    if not _COMPILED:
        _COMPILED.append(MachineCode(state))
    return _COMPILED[0]


def allowed() -> bool:
    """Whether numba is to compile anything: NUMBA_DISABLE_JIT says that it is not."""
    import numba

    return not numba.config.DISABLE_JIT  # type: ignore[attr-defined]


def _compile(layout: Layout) -> Advance:
    """Compile `protocol.advance`; the code is kept on disk where there is a place for it.

    Nothing in the protocol makes an array or keeps one. That allows to leave out the counting of
    references, which would take most of the time; where numba knows no such option, it stays in.
    """
    import numba  # takes half a second: short runs do without
    from numba.extending import register_jitable

    protocol = flat_protocol(layout)
    for rule in protocol.RULES:
        register_jitable(_nrt=False)(rule)
    whole, real = numba.int64, numba.float64
    types = (whole[::1], real[::1], whole, whole)
    uncounted: dict[str, Any] = {"_nrt": False}
    for ways in ({"cache": True, **uncounted}, uncounted, {"cache": True}, {}):
        try:
            code = numba.njit(**ways)(protocol.advance)
            code.compile(types)
        except Exception as error:  # a full disk, a damaged file, no such option
            reason = error
        else:
            return code  # type: ignore[no-any-return]
    raise reason
