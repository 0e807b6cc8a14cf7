"""Whether each commit that the validation names held the prediction before its value was there."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from ddsim.reproduce.blind_tables import (
    PREDICTIONS,
    VALUES,
    Key,
    Prediction,
    Value,
    predictions,
    values,
)

FOLDER = "ddsim/reproduce"
KEPT = ("system", "unit", "guess", "guessed")
"""What of a prediction stays as it was committed, besides its number."""


def git(root: Path, *words: str) -> str | None:
    """What git prints in that folder; None where it fails or is not there."""
    command = ["git", "-C", str(root), *words]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return ran.stdout if ran.returncode == 0 else None


def without_history(root: Path) -> str:
    """Why the history of that tree cannot be asked; nothing where it can."""
    top = git(root, "rev-parse", "--show-toplevel")
    if top is None or Path(top.strip()).resolve() != root.resolve():
        return f"{root.name} is no git repository of its own, such as an archive"
    if (git(root, "rev-parse", "--is-shallow-repository") or "").strip() == "true":
        return f"{root.name} is a shallow clone: commits of predictions may be missing"
    return ""


def complaints(root: Path) -> list[str]:
    """What is wrong with the commits that `blind_values.csv` of that tree names, in words."""
    made = predictions((root / FOLDER / PREDICTIONS).read_text(encoding="utf-8"))
    known = values((root / FOLDER / VALUES).read_text(encoding="utf-8"), made)
    said = []
    for key, value in known.items():
        where = f"{VALUES}, line {value.line}, commit {value.commit}"
        said += [f"{where}: {wrong}" for wrong in _of_commit(root, key, made[key], value)]
    return said


def _of_commit(root: Path, key: Key, made: Prediction, value: Value) -> list[str]:
    name = ", ".join(key)
    if git(root, "merge-base", "--is-ancestor", value.commit, "HEAD") is None:
        return ["no commit that this history holds"]
    then = predictions(_at(root, value.commit, PREDICTIONS)).get(key)
    if then is None:
        return [f"it holds no prediction of {name}"]
    said = [
        f"{field} of {name} was {getattr(then, field)} there, and is {getattr(made, field)} now"
        for field in KEPT
        if getattr(then, field) != getattr(made, field)
    ]
    if _printed(then) != _printed(made):
        said.append(f"{name} was predicted as {_printed(then)} there, and is {_printed(made)} now")
    revisions = (git(root, "rev-list", value.commit, "--", f"{FOLDER}/{VALUES}") or "").split()
    for revision in revisions:
        if key in _values(root, revision):
            said.append(f"the value of {name} was there before, in commit {revision[:12]}")
            break
    return said


def _printed(made: Prediction) -> str:
    return "nothing" if made.predicted is None else f"{made.predicted:.4g}"


def _values(root: Path, commit: str) -> Mapping[Key, Value]:
    read = partial(_at, root, commit)
    return values(read(VALUES), predictions(read(PREDICTIONS)))


def _at(root: Path, commit: str, file: str) -> str:
    """The text of a table in a commit; that of an empty one where the commit has none."""
    text = git(root, "show", f"{commit}:{FOLDER}/{file}")
    if text is None:
        text = (root / FOLDER / file).read_text(encoding="utf-8").splitlines()[0]
    return text
