"""The README's blocks: outputs that must be real, and files and code that must work.

A block is fenced and stands below a comment that says what it is:
`output: COMMAND`, `scenario`, `python`, `file: NAME`, or, on pages that show some, `error: CODE`.
`python tests/readme.py --write` runs the commands and writes their outputs into the README.
"""

import os
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from command_line import ddsim

README = Path(__file__).parent.parent / "README.md"
_BLOCK = re.compile(
    r"<!-- (?P<kind>output|scenario|python|file|error)(?:: (?P<what>[^\n]*?))? -->\n"
    r"```\w*\n(?P<text>.*?)```",
    re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A marked block: its kind, what the mark says, its text, and where the text stands."""

    kind: str
    what: str
    text: str
    span: tuple[int, int]


def blocks(kind: str, page: Path = README) -> list[Block]:
    """Return a page's blocks of one kind."""
    content = page.read_text(encoding="utf-8")
    return [
        Block(match["kind"], match["what"] or "", match["text"], match.span("text"))
        for match in _BLOCK.finditer(content)
        if match["kind"] == kind
    ]


def real_output(command: str) -> str:
    """Run `ddsim ...` and return what it prints in 80 columns."""
    program, *arguments = shlex.split(command)
    assert program == "ddsim", command
    with mock.patch.dict(os.environ, COLUMNS="80"):
        ran = ddsim(*arguments)
    assert ran.code == 0, ran.err
    return ran.out


def write() -> None:
    """Put the real outputs into the README."""
    content = README.read_text(encoding="utf-8")
    for block in reversed(blocks("output")):
        start, end = block.span
        content = content[:start] + real_output(block.what) + content[end:]
    README.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        raise SystemExit(__doc__)
    write()
