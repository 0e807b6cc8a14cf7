"""The command line, run inside the test's process."""

import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from ddsim.cli import cli
from ddsim.cli.errors import guarded


@dataclass(frozen=True)
class Ran:
    """What a command left: its exit code, and what it printed where."""

    code: int
    out: str
    err: str


def ddsim(*arguments: object) -> Ran:
    """Run `ddsim ARGUMENTS` and return what it left."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = guarded(cli, [str(item) for item in arguments])
    return Ran(code, out.getvalue(), err.getvalue())
