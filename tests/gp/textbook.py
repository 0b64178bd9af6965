"""Kernels as their definitions have them, point by point of an array."""

import numpy as np

from surefoot.gp.kernels import STRETCH, Kernel


def correlations(kernel: Kernel, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """k (m, n) between scaled points (m, d) and (n, d)."""
    squares = (one[:, None] - other[None]) ** 2
    d = squares.shape[-1]
    k = (1.0 - kernel.sums) * kernel.value(squares.sum(axis=-1))
    for i in range(d):
        k = k + kernel.sums / d * kernel.value(STRETCH * d * squares[..., i])
    return k
