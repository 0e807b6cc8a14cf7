"""How much compute a small change of the loss is worth, where models grow with their tokens."""

from __future__ import annotations

from math import exp, log

from ddsim.quality.laws import Law

OPTIMAL = 20.0
"""Tokens a parameter that are near the best use of compute (arXiv 2203.15556)."""
_LARGEST = log(1e40)


def loss_along(law: Law, parameters: float, tokens_a_parameter: float = OPTIMAL) -> float:
    """Return the loss of a model that is trained on so many tokens a parameter."""
    return law.loss(parameters, tokens_a_parameter * parameters)


def size_for(law: Law, loss: float, tokens_a_parameter: float = OPTIMAL) -> float:
    """Return the parameters of the model that comes to that loss with so many tokens a parameter.

    Raises ValueError for a loss that no model comes to.
    """
    from scipy.optimize import brentq

    def over(logarithm: float) -> float:
        return loss_along(law, exp(logarithm), tokens_a_parameter) - loss

    if not over(0.0) >= 0.0 >= over(_LARGEST):
        raise ValueError(f"no model comes to a loss of {loss:g} nats by {law.name}")
    return exp(float(brentq(over, 0.0, _LARGEST, xtol=1e-13, rtol=1e-14)))


def compute_ratio(
    law: Law, parameters: float, loss_ratio: float, tokens_a_parameter: float = OPTIMAL
) -> float:
    """Return the compute of a loss so many times a model's, over the model's own.

    Compute is 6 N D, which grows with the square of the size along D = `tokens_a_parameter` N. A
    `loss_ratio` of 1.01 accepts a loss 1% higher; one of 1 / 1.01 makes up for 1%.
    """
    loss = loss_along(law, parameters, tokens_a_parameter) * loss_ratio
    return (size_for(law, loss, tokens_a_parameter) / parameters) ** 2
