"""The code and the table of docs/ratio.md.

`python tests/ratio_doc.py --write` runs the code and writes what it prints into the page.
"""

from __future__ import annotations

import io
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "ratio.md"
_CODE = re.compile(r"<!-- python -->\n```python\n(.*?)```", re.DOTALL)
_TABLE = re.compile(r"<!-- output -->\n(.*?)<!-- end -->", re.DOTALL)


def printed() -> str:
    """Run the page's code and return what it prints."""
    code = _CODE.search(PAGE.read_text(encoding="utf-8"))
    assert code is not None
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(code[1], str(PAGE), "exec"), {"__name__": "ratio"})
    return out.getvalue()


def table() -> str:
    """The table that stands in the page."""
    found = _TABLE.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def rows(text: str) -> list[dict[str, float]]:
    """The table's rows by the names of its columns."""
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    return [dict(zip(lines[0], map(float, line), strict=True)) for line in lines[2:]]


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        raise SystemExit(__doc__)
    content = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(content.replace(table(), printed()), encoding="utf-8")
