"""The scenario reference, made from the schema: `python tests/scenario_reference.py --write`."""

from __future__ import annotations

import sys
from pathlib import Path

from ddsim.scenario.describe import FieldRow, describe_fields

DOCUMENT = Path(__file__).parent.parent / "docs" / "scenario-reference.md"
HEAD = """\
# Scenario reference

Every path that a scenario may give. `--set PATH=VALUE` changes it, `--vary PATH=V1,V2` varies it,
`ddsim check SCENARIO --resolved` shows what it is in a scenario, and the JSON Schema of
`ddsim check SCENARIO --schema` lets an editor complete it.

`N` in a path is the number of an item, from 0; `NAME` the name of a region. The unit is that of the
dimension: any unit of the same kind will do (`20 min` where `s` stands), a bare number will not.
Where no unit stands, a value is a count, a share, a name or a list. `unlimited` and `never` are
infinite. A default in words says where the value comes from when it is not given; `required` has
none.

This page is made from the schema by `python tests/scenario_reference.py --write`.
"""


def cell(text: str) -> str:
    """Text as a table's cell."""
    return text.replace("|", "\\|").replace("\n", " ")


def section(row: FieldRow) -> str:
    """The part of the scenario that a path belongs to; the top level's own paths have none."""
    return row.path.split(".")[0]


def document() -> str:
    """The page."""
    rows = list(describe_fields())
    nested = {section(row) for row in rows if "." in row.path}
    sections: dict[str, list[FieldRow]] = {"": []}
    for row in rows:
        sections.setdefault(section(row) if section(row) in nested else "", []).append(row)
    lines = [HEAD]
    for heading, within in sections.items():
        lines.append(f"## {heading or 'The scenario itself'}\n")
        if heading:
            lines.append(f"{within[0].meaning}\n")
        lines.append("| path | unit | default | meaning |\n| --- | --- | --- | --- |")
        lines += [
            f"| `{row.path}` | {cell(row.unit)} | {cell(row.default)} | {cell(row.meaning)} |"
            for row in within
        ]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        raise SystemExit(__doc__)
    DOCUMENT.write_text(document(), encoding="utf-8")
