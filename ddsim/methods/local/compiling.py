"""The protocol as machine code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ddsim.methods.local import protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from ddsim.methods.local.protocol import State

    Advance = Callable[[State, int, int], int]

_COMPILED: list[Advance] = []


def compiled(state: State) -> Advance:
    """Return `protocol.advance` as machine code, for arrays of these types: all have the same."""
    if not _COMPILED:
        _COMPILED.append(compile_advance(state))
    return _COMPILED[0]


def allowed() -> bool:
    """Whether numba is to compile anything: NUMBA_DISABLE_JIT says that it is not."""
    import numba

    return not numba.config.DISABLE_JIT  # type: ignore[attr-defined]


def compile_advance(state: State, **options: Any) -> Advance:
    """Compile `protocol.advance`; the code is kept on disk where there is a place for it.

    Nothing in the protocol makes an array or keeps one. That allows to leave out the counting of
    references, which would take most of the time; where numba knows no such option, it stays in.
    """
    import numba  # takes half a second: short runs do without
    from numba.extending import register_jitable

    for rule in protocol.RULES:
        register_jitable(forceinline=True)(rule)
    for rule in protocol.CALLED:
        register_jitable(_nrt=False)(rule)
    types = (numba.typeof(state), numba.int64, numba.int64)  # type: ignore[no-untyped-call]
    uncounted: dict[str, Any] = {"_nrt": False}
    for ways in ({"cache": True, **uncounted}, uncounted, {"cache": True}, {}):
        try:
            code = numba.njit(**ways, **options)(protocol.advance)
            code.compile(types)
        except Exception as error:  # a full disk, a damaged file, no such option
            reason = error
        else:
            return cast("Advance", code)
    raise reason
