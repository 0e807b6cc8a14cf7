"""The one place where errors become messages and exit codes."""

import io
import logging
import os
import sys
import traceback
from collections.abc import Iterable, Sequence
from errno import EBADF, EIO, ENOSPC, EPIPE
from pathlib import Path

import click

from ddsim.cli.base import Talk, say_error
from ddsim.cli.process import INTERRUPTED, flushed
from ddsim.errors import DdsimError

DONE, FAILED = 0, DdsimError.exit_code
_OF_PATHS = ("--set", "--vary")
_OF_STREAMS = (EPIPE, ENOSPC, EIO, EBADF)


def guarded(command: click.Command, args: Sequence[str] | None) -> int:
    """Run `command` and return the exit code; what went wrong is said on stderr.

    A traceback is printed only with `-v`.
    """
    talk = Talk()
    log = logging.getLogger("ddsim")
    heard = _Heard(talk)
    log.addHandler(heard)
    log.setLevel(logging.INFO)
    try:
        return _run(command, args, talk)
    finally:
        log.removeHandler(heard)


class _Heard(logging.Handler):
    """Says on stderr what the package has to tell beside results: what it runs, what it reads."""

    def __init__(self, talk: Talk) -> None:
        super().__init__(logging.INFO)
        self._talk = talk

    def emit(self, record: logging.LogRecord) -> None:
        """Say a message."""
        self._talk.say(record.getMessage())


def _run(command: click.Command, args: Sequence[str] | None, talk: Talk) -> int:
    try:
        outcome = command.main(
            args=None if args is None else list(args),
            prog_name="ddsim",
            standalone_mode=False,
            obj=talk,
        )
        sys.stdout.flush()
    except click.Abort as error:
        if isinstance(error.__cause__, EOFError):  # what click makes of any file that ends early
            return _explain(error.__cause__)
        say_error("interrupted")
        return INTERRUPTED
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)
        words = sys.argv[1:] if args is None else list(args)
        say_error(said.getvalue().rstrip("\n") + _quotes(error, words))
        return error.exit_code
    except OSError as error:
        if isinstance(error.__context__, KeyboardInterrupt):  # and there is no stderr to say so
            return INTERRUPTED
        if error.filename is None and _gave_up_stdout(error):
            return FAILED
        return _unexpected(error, talk)
    except Exception as error:
        return _unexpected(error, talk)
    return outcome if isinstance(outcome, int) else DONE


def _quotes(error: click.ClickException, words: Sequence[str]) -> str:
    """Where a value with a blank came as two arguments: how it is written as one."""
    for option, value, extra in zip(words, words[1:], words[2:], strict=False):
        if option in _OF_PATHS and "unexpected" in error.message and f"({extra}" in error.message:
            return f'\nA value with a blank is quoted: {option} "{value} {extra}"'
    return ""


def _unexpected(error: Exception, talk: Talk) -> int:
    if talk.verbose:
        say_error(traceback.format_exc().rstrip())
    return _explain(error)


def _explain(error: Exception) -> int:
    if isinstance(error, DdsimError):
        say_error(str(error))
        return error.exit_code
    if isinstance(error, OSError) and error.filename and error.strerror:
        say_error(f"ddsim: {error.filename}: {error.strerror}")
        return FAILED
    first_line = (str(error).strip() or "no message").splitlines()[0]
    say_error(f"ddsim: {type(error).__name__}: {first_line}")
    return FAILED


def _gave_up_stdout(error: OSError) -> bool:
    """Whether it was stdout that could not be written; it is written no more then.

    Where its reader left there is nothing to say, else why.
    """
    if error.errno not in _OF_STREAMS:
        return False
    flushed()
    if not isinstance(error, BrokenPipeError):
        say_error(f"ddsim: stdout: {error.strerror}")
    return True


def make_folder(folder: Path) -> None:
    """Make the folder that results are to go to; where that fails, the user's input is wrong."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        said = f"{folder}: cannot be made: {error.strerror}; a folder that can be written"
        raise click.BadParameter(said, param_hint="--out") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        said = f"{folder}: cannot be written; a folder that can be"
        raise click.BadParameter(said, param_hint="--out")


def refuse_study(folder: Path) -> None:
    """Refuse to write a result where a study is kept: whoever reads the folder finds the study."""
    if (folder / "manifest.json").exists():
        said = f"{folder} holds a study; a folder of its own, or one with an earlier result"
        raise click.BadParameter(said, param_hint="--out")


def refuse_folders(paths: Iterable[Path]) -> None:
    """Refuse to begin where a folder stands in the place of a file that is to be written."""
    for path in paths:
        if path.is_dir():
            said = f"{path}: a folder, where a file is to be written"
            raise click.BadParameter(said, param_hint="--out")
