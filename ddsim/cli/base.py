"""What all commands share: lazy loading, how much they say, an example in the help."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

import click

from ddsim.cli.folding import fold

F = TypeVar("F", bound=Callable[..., Any])


def say_error(message: str) -> None:
    """Print a message to stderr, folded to its width where it has one.

    Where nobody can have it, the command goes on without.
    """
    with suppress(OSError, ValueError):
        click.echo(fold(message, sys.stderr), err=True)


@dataclass
class Talk:
    """How much is said on stderr: nothing but errors, the usual, or everything."""

    quiet: bool = False
    verbose: bool = False

    def say(self, message: str) -> None:
        """Print a message to stderr, unless quiet."""
        if not self.quiet:
            say_error(message)


@contextmanager
def prints_aside() -> Iterator[None]:
    """Send to stderr what is printed within: stdout is for what the command itself has to say."""
    with redirect_stdout(sys.stderr):
        yield


def talk() -> Talk:
    """Return the running command's `Talk`."""
    return click.get_current_context().ensure_object(Talk)


def _set(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value:
        setattr(context.ensure_object(Talk), str(option.name), True)


def talk_options(command: F) -> F:
    """Give a command `-q` and `-v`, which mean the same before and after its name."""
    for flag, name, text in (
        ("-v", "verbose", "Say more; a traceback with an error."),
        ("-q", "quiet", "No progress and no messages."),
    ):
        add = click.option(
            flag, f"--{name}", is_flag=True, expose_value=False, callback=_set, help=text
        )
        command = add(command)
    return command


class LazyGroup(click.Group):
    """A group whose command `x` is the object `command` of the module `<commands_in>.x`."""

    def __init__(self, *args: Any, commands_in: str, names: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._commands_in = commands_in
        self._names = tuple(names)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order in which a user meets them."""
        return list(self._names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module; None when there is no such command."""
        if cmd_name not in self._names:
            return None
        command = import_module(f"{self._commands_in}.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command
