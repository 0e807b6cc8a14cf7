"""The command line: one file a command, imported when it is asked for."""

from collections.abc import Sequence
from typing import NoReturn

import click

import ddsim
from ddsim.cli.base import LazyGroup, talk_options

EXAMPLE = """Example:

\b
  ddsim init my_run.yaml
  ddsim run my_run.yaml --set "network.bandwidth=2 Gbit/s" --out out/my_run
"""


@click.group(
    cls=LazyGroup,
    commands_in="ddsim.cli",
    names=(
        "init",
        "run",
        "replay",
        "rates",
        "sweep",
        "plan",
        "compare",
        "bandwidth",
        "reproduce",
        "plot",
        "report",
        "check",
        "trace",
        "calibrate",
        "list",
    ),
    epilog=EXAMPLE,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(ddsim.__version__, prog_name="ddsim")
@talk_options
def cli() -> None:
    """Simulate distributed training under failures and thin links.

    SCENARIO is a YAML file or the name of a shipped scenario (`ddsim list scenarios`).
    """


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code.

    0 done; 2 the user's input is wrong; 1 anything else; 130 interrupted.
    """
    from ddsim.cli.process import INTERRUPTED, leave, prepare

    prepare()
    try:
        from ddsim.cli.errors import guarded

        code = guarded(cli, args)
    except KeyboardInterrupt:  # outside of the command
        code = INTERRUPTED
    leave(code)
