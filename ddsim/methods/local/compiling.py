"""The protocol as machine code."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ddsim.methods.local.flattening import Layout, flat_protocol
from ddsim.methods.local.protocol import State

if TYPE_CHECKING:
    from collections.abc import Callable

    Advance = Callable[[Any, Any, int, int], int]


class MachineCode:
    """`protocol.advance` over the two arrays that `pack` makes of a state."""

    def __init__(self, state: State) -> None:
        self._layout = Layout(state)
        self.pack = self._layout.pack
        self.advance = _compile(self._layout)


_COMPILED: list[MachineCode] = []
_ELSEWHERE: list[subprocess.Popen[bytes]] = []
_APART = "import sys; from ddsim.methods.local.compiling import apart; apart(sys.argv[1])"


def compiled(state: State) -> MachineCode:
    """Return the machine code, for arrays of these types: all have the same."""
    if not _COMPILED:
        _COMPILED.append(MachineCode(state))
    return _COMPILED[0]


def here() -> bool:
    """Whether there is machine code in this process."""
    return bool(_COMPILED)


def at_hand(state: State) -> MachineCode | None:
    """Return the machine code if that takes no long; None while another process compiles it.

    That is begun where none is kept on disk, and ends with this process. Where it fails, or what it
    compiles can be kept nowhere, the machine code is compiled here and now.
    """
    if not _COMPILED:
        if not _ELSEWHERE and not _kept(Layout(state)):
            with suppress(OSError):  # no other process can be had
                _ELSEWHERE.append(_begin_apart(state))
        if _ELSEWHERE and _ELSEWHERE[0].poll() is None:
            return None
    return compiled(state)


def _begin_apart(state: State) -> subprocess.Popen[bytes]:
    kinds = "".join("i" if np.asarray(array).dtype == np.int64 else "r" for array in state)
    words = [sys.executable, "-P", "-c", _APART, kinds]
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere)
    atexit.register(_end, process)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def apart(kinds: str) -> None:
    """Compile for arrays of these types, `i` and `r`, while the process that asked for it lives."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    arrays: list[Any] = [np.empty(0, np.int64 if kind == "i" else np.float64) for kind in kinds]
    compiled(State(*arrays))


def _end_with_input() -> None:
    while os.read(0, 1):  # not by way of sys.stdin, which nobody could close meanwhile
        pass
    os._exit(1)


def allowed() -> bool:
    """Whether numba is to compile anything: NUMBA_DISABLE_JIT says that it is not."""
    import numba

    return not numba.config.DISABLE_JIT  # type: ignore[attr-defined]


def _types() -> tuple[Any, ...]:
    import numba

    whole, real = numba.int64, numba.float64
    return whole[::1], real[::1], whole, whole


def _kept(layout: Layout) -> bool:
    """Whether the machine code is on disk, or nobody can tell."""
    import numba

    uncounted: dict[str, Any] = {"cache": True, "_nrt": False}
    try:
        code: Any = numba.njit(**uncounted)(flat_protocol(layout).advance)
        return code._cache.load_overload(_types(), code.targetctx) is not None
    except Exception:  # numba has no public way to ask
        return True


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
    types = _types()
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
