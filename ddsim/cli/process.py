"""The process that a command runs in: its signals, and the streams that it was given."""

import os
import signal
import sys
import threading
from time import sleep
from types import FrameType
from typing import NoReturn, TextIO

from ddsim.files import discard_drafts

INTERRUPTED = 130
GRACE = 1.0
"""Seconds from a signal until the process ends whatever it is at."""
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")


def prepare() -> None:
    """Make the process end soon after a signal, and write to whatever streams there are."""
    _open_streams()
    # figures are drawn into files: a name of a window system, known or not, is of no use here
    os.environ["MPLBACKEND"] = "agg"
    _heed_signals()


def leave(code: int) -> NoReturn:
    """End the process with an exit code that no signal changes any more."""
    _heed_no_more()
    flushed()
    raise SystemExit(code)


def _open_streams() -> None:
    """Let a stream that was closed take what is printed to nowhere, not into the next file."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # the name of a file need not be text
            stream.reconfigure(errors="surrogateescape" if _is_utf8(stream) else "backslashreplace")


def flushed() -> bool:
    """Whether all that was printed has left; where it cannot leave it is given up."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        # without this the interpreter complains once more when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def _is_utf8(stream: TextIO) -> bool:
    return (stream.encoding or "").lower().replace("-", "") == "utf8"


def _heed_signals() -> None:
    """Let signals that ask for the end interrupt like Ctrl-C, and see that it comes.

    Python acts on a signal between two steps of its own. A library may be at one for long, or
    swallow what a signal raises: a thread waits beside it and ends the process after `GRACE`.
    What the caller chose to ignore (nohup) stays ignored.
    """
    heeded = [
        number
        for name in _ENDING
        if (number := getattr(signal, name, None)) is not None
        and signal.getsignal(number) not in (signal.SIG_IGN, None)
    ]
    if os.name == "nt" or not heeded:
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in heeded:
        signal.signal(number, _interrupt)
    threading.Thread(target=_see_to_it, args=(reader, set(heeded)), daemon=True).start()


def _interrupt(number: int, frame: FrameType | None) -> None:
    _heed_no_more()  # the second one would interrupt the clearing up
    raise KeyboardInterrupt


def _heed_no_more() -> None:
    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is _interrupt:
            signal.signal(number, _nothing)


def _nothing(number: int, frame: FrameType | None) -> None:
    """Heed a signal no more, but let processes begun from now on have it as it was."""


def _see_to_it(reader: int, heeded: set[int]) -> None:
    while not heeded & set(os.read(reader, 64)):
        pass
    sleep(GRACE)
    discard_drafts()
    lanes = sys.modules.get("ddsim.workers.lanes")  # an import could wait for the one that hangs
    if lanes is not None:
        lanes.end_server()
    os._exit(INTERRUPTED)
