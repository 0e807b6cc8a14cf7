"""Running reproductions."""

from collections.abc import Callable, Iterable

from ddsim.reproduce.registry import Found, Pace, every


class UnknownReproductionError(ValueError):
    """There is no reproduction of that name."""


def reproduce(
    names: Iterable[str] = (),
    *,
    quick: bool = False,
    jobs: int = 1,
    say: Callable[[str], None] = lambda name: None,
) -> dict[str, Found]:
    """Run reproductions, all of them unless `names` are given; what each found by its name.

    quick: a coarse pass, with fewer and shorter histories.
    say: is called with the name of each before it runs.
    Raises UnknownReproductionError for a name that there is not.
    """
    known = every()
    wanted = list(dict.fromkeys(names)) or list(known)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UnknownReproductionError(
            f"no reproduction {unknown[0]!r}; there are: {', '.join(known)}"
        )
    found = {}
    for name in known:
        if name in wanted:
            say(name)
            found[name] = known[name].make(Pace(quick, jobs))
    return found
