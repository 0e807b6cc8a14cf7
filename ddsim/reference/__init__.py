"""Published and measured figures, each with its source, as small tables.

`names` lists them, `rows` reads one, `numbers` takes figures out of a row. The values are facts as
printed; where the simulator's own figure is laid beside them, the source column says whose they
are.
"""

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

Row = Mapping[str, str]


def names() -> tuple[str, ...]:
    """Names of the tables, sorted."""
    found = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".csv") for name in found if name.endswith(".csv")))


@cache
def rows(name: str) -> tuple[Row, ...]:
    """The rows of a table, in its order; cells are text, empty where nothing is known.

    Raises KeyError for a name that `names` does not list.
    """
    if name not in names():
        raise KeyError(f"no reference table {name!r}; there are: {', '.join(names())}")
    text = (files(__name__) / f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def numbers(row: Row, *columns: str) -> tuple[float, ...]:
    """Figures of a row. Raises ValueError where a cell holds no number."""
    return tuple(float(row[column]) for column in columns)
