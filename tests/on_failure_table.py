"""The table in docs/failures.md of what each rule costs: `--write` writes it anew."""

from __future__ import annotations

import sys
from pathlib import Path

import ddsim

PAGE = Path(__file__).parent.parent / "docs" / "failures.md"
BEGIN = "| method | `training.on_failure` |"
METHODS = ("diloco", "streaming_diloco")
RULES = ("wait", "drop", "rollback", "leave")


def rows() -> list[str]:
    """Run `chaos_drill`, without jitter, under every rule; return the lines of the table."""
    lines = [
        f"{BEGIN} goodput | waiting | wasted | participation | merged share |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for method in METHODS:
        for rule in RULES:
            changes = {"training.on_failure": rule, "cluster.jitter": 0}
            scenario = ddsim.load("chaos_drill", changes)
            (result,) = ddsim.run(scenario, [method]).results
            shares = (
                result.goodput,
                result.accounts["waiting_on_peers"],
                result.accounts["wasted_progress"],
                result.participation or 0.0,
                result.merged_share or 0.0,
            )
            cells = " | ".join(f"{share:.4f}" for share in shares)
            lines.append(f"| `{method}` | `{rule}` | {cells} |")
    return lines


def written() -> list[str]:
    """The table as it stands on the page."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(BEGIN))
    return lines[start : start + 2 + len(METHODS) * len(RULES)]


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text.replace("\n".join(written()), "\n".join(rows())), encoding="utf-8")
