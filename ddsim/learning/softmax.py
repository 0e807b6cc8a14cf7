"""Cross-entropy of logits."""

from __future__ import annotations

import numpy as np

from ddsim.learning.problem import Array


def cross_entropy(logits: Array, labels: Array) -> tuple[Array, Array]:
    """Return the mean cross-entropy of each stack, in nats, and its gradient in the logits.

    `logits` are (stacks, examples, classes) and are used up; `labels` (stacks, examples).
    """
    logits -= logits.max(axis=-1, keepdims=True)
    picked = np.take_along_axis(logits, labels[..., None], axis=-1)
    np.exp(logits, out=logits)
    total = logits.sum(axis=-1, keepdims=True)
    losses = (np.log(total) - picked)[..., 0].mean(axis=-1)
    logits /= total
    here = np.take_along_axis(logits, labels[..., None], axis=-1) - 1.0
    np.put_along_axis(logits, labels[..., None], here, axis=-1)
    logits /= labels.shape[-1]
    return losses, logits
