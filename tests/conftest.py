"""What holds in every test that runs anything."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from math import fsum
from typing import Any

import pytest

CLOSED = 1e-9
os.environ.pop("COLUMNS", None)  # what is printed is read in whole lines
# All tests stay in memory from collection on, and looking through them for garbage takes a tenth
# of the time of what they do.
gc.set_threshold(100_000, 50, 100)


@pytest.fixture(autouse=True, scope="session")
def accounts_close_in_every_run() -> Iterator[None]:
    """Whatever a test simulates: its accounts add up to 1, and none is less than nothing."""
    from ddsim.results import books

    make = books.result_of

    def checked(*args: Any, **options: Any) -> Any:
        result = make(*args, **options)
        assert abs(fsum(result.accounts.values()) - 1.0) <= CLOSED, result.accounts
        assert min(result.accounts.values()) >= -CLOSED, result.accounts
        assert -CLOSED <= result.goodput <= 1.0 + CLOSED, result.goodput
        return result

    books.result_of = checked
    yield
    books.result_of = make
