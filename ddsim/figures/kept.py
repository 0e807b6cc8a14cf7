"""Figures kept as what they were drawn from, to be drawn again without simulating."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from math import nan
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from ddsim.figures import bars, dots, learning, timeline  # noqa: F401  (they register themselves)
from ddsim.figures.beside import Curve
from ddsim.figures.drawing import DRAWINGS, drawn_from
from ddsim.files import write_whole
from ddsim.results import Results
from ddsim.results.document import plain
from ddsim.results.reading import named, read_json

KEPT = "figures.json"
"""The file that says what the figures of a folder are drawn from."""


def keep(figures: Mapping[str, Axes], folder: Path) -> list[Path]:
    """Write what figures, by name, were drawn from into `folder`; return what was written.

    Results that a figure shows are saved in a folder of its name. Raises OSError.
    """
    written, document = [folder / KEPT], {}
    for name, ax in figures.items():
        drawn = drawn_from(ax)
        if drawn is None:
            continue
        given = dict(drawn.given)
        results = given.pop("results", None)
        if isinstance(results, Results):
            results.save(folder / name)
            written.append(folder / name)
        if "curves" in given:
            given["curves"] = [asdict(curve) for curve in given["curves"]]
        document[name] = {
            "drawn_by": drawn.by,
            "results": name if results is not None else None,
            "given": plain(given),
        }
    write_whole(folder / KEPT, (json.dumps(document, indent=1) + "\n").encode())
    return written


def redraw(folder: str | Path) -> dict[str, Axes]:
    """Draw the figures that `ddsim reproduce` left in a folder again; return their axes by name.

    Raises FileNotFoundError where it left none, ValueError for what is damaged.
    """
    folder = Path(folder)
    path = folder / KEPT
    if not path.is_file():
        raise FileNotFoundError(f"{folder}: no {KEPT} there; `ddsim reproduce --out` writes one")
    with named(path, "what figures are drawn from"):
        document = read_json(path.read_bytes())
        return {name: _draw(folder, item) for name, item in dict(document).items()}


def _draw(folder: Path, item: Mapping[str, Any]) -> Axes:
    given = {name: _numbers(value) for name, value in dict(item["given"]).items()}
    if "curves" in given:
        given["curves"] = [Curve(**curve) for curve in given["curves"]]
    if item["results"] is not None:
        given["results"] = Results.load(folder / item["results"])
    return DRAWINGS.get(item["drawn_by"])(**given)


def _numbers(value: Any) -> Any:
    """Put back what JSON has no number for."""
    if isinstance(value, list):
        return [nan if item is None else _numbers(item) for item in value]
    if isinstance(value, dict):
        return {name: _numbers(item) for name, item in value.items()}
    return value
