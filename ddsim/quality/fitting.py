"""A law of one model fitted to what was trained: how its loss falls with tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ddsim.quality.laws import PowerLaw


def fit_tokens(tokens: Sequence[float], losses: Sequence[float]) -> PowerLaw:
    """Fit E + B / D^beta to the losses of one model after several numbers of tokens.

    Least squares of the losses, with a floor of at least 0. The size of the model is in the floor.
    Raises ValueError for fewer than four points, which three constants would always meet.
    """
    import numpy as np
    from scipy.optimize import curve_fit

    if len(tokens) != len(losses) or len(tokens) < 4:
        raise ValueError("a fit of three constants wants at least four points")
    counted, found = np.asarray(tokens, float), np.asarray(losses, float)
    scale = float(np.exp(np.log(counted).mean()))  # of tokens, so that B is of the losses' size

    def law(tokens: Any, /, floor: float, size: float, beta: float) -> Any:
        return floor + size * (tokens / scale) ** -beta

    least = float(found.min())
    first = (0.9 * least, float(found.max()) - 0.9 * least, 0.3)
    bounds = ([0.0, 1e-12, 1e-3], [least, np.inf, 5.0])
    (floor, size, beta), _ = curve_fit(law, counted, found, p0=first, bounds=bounds, maxfev=20000)
    return PowerLaw(E=float(floor), A=0.0, alpha=1.0, B=float(size * scale**beta), beta=float(beta))
