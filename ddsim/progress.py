"""How a long run or training says how far it is."""

from collections.abc import Callable

Progress = Callable[[int, int, str], None]
"""Is called with what is done, out of how much, and what is under way."""


def of_training(progress: Progress | None, done: int, total: int, method: str) -> Progress | None:
    """Return what the training of a method's model reports to, None where nobody listens.

    The count stays one of methods, `done` of `total`; how far the training is stands in the label.
    """
    if progress is None:
        return None

    def tell(part: int, parts: int, what: str) -> None:
        progress(done, total, f"{method}, training {what}: {part / parts:.0%}")

    return tell
