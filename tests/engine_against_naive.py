"""Hold the engine to the naive model on many random cases: more of them than CI has time for.

    python tests/engine_against_naive.py --cases 1000 --method streaming_diloco

Half of the cases of a method are eventful. Whatever differs is printed, by case.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction

from naive.model import simulate
from naive.random_cases import METHOD_NAMES, numbered_case
from naive.reckoning import NANOSECONDS
from naive_cases import run_engine
from naive_ties import course_of_engine, course_of_naive, differences, is_settled

OF_FLOATS = Fraction(1, 10**6)
"""How near halfway between two nanoseconds a float may round either way: no case to compare."""


def said(method: str, number: int) -> list[str]:
    """Where the engine departs from the naive model on the case of that number, in words."""
    case = numbered_case(number, method)
    expected = course_of_naive(case, simulate(case, NANOSECONDS))
    lines = differences(case, expected, course_of_engine(case, run_engine(case)))
    return lines if not lines or is_settled(case, OF_FLOATS) else []


def main(arguments: list[str] | None = None) -> int:
    """Compare, print, and return how many methods have a case that differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000, help="how many of each method")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--method", action="append", choices=METHOD_NAMES)
    options = parser.parse_args(arguments)
    wrong = 0
    for method in options.method or METHOD_NAMES:
        differing = 0
        for number in range(options.first, options.first + options.cases):
            lines = said(method, number)
            differing += bool(lines)
            for line in lines:
                sys.stdout.write(f"{method} {number}: {line}\n")
        sys.stdout.write(f"{method}: {differing} of {options.cases} cases differ\n")
        wrong += differing > 0
    return wrong


if __name__ == "__main__":
    sys.exit(main())
