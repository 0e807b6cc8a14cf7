"""Running reproductions."""

from collections.abc import Callable, Iterable

from ddsim.reproduce.registry import Found, Pace, every, get


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
    Raises UnknownNameError for a name that there is not.
    """
    wanted = {name: get(name) for name in names} or every()
    found = {}
    for name in every():
        if name in wanted:
            say(name)
            found[name] = wanted[name].make(Pace(quick, jobs))
    return found
