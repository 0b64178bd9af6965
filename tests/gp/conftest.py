"""Data sets and the order of a Taylor remainder, for the tests of the Gaussian process."""

import numpy as np
import pytest


def _smooth(x: np.ndarray) -> np.ndarray:
    """A smooth function of x (..., d) with unequal length scales."""
    d = x.shape[-1]
    weights = 1.0 / (1.0 + np.arange(d))
    return np.sin(6.0 * (x @ weights)) + np.sum(weights * (x - 0.3) ** 2, axis=-1)


def _taylor_order(function, slope: float, steps: np.ndarray) -> float:
    """Fitted order of f(h) - f(0) - h f'(0); inf where the remainder is nothing but rounding."""
    start = function(0.0)
    values = np.array([function(h) for h in steps])
    remainders = np.abs(values - start - steps * slope)
    floor = 100.0 * np.finfo(float).eps * (abs(start) + np.abs(values).max())
    if (remainders <= floor).all():
        return np.inf
    kept = remainders > floor
    return float(np.polyfit(np.log(steps[kept]), np.log(remainders[kept]), 1)[0])


@pytest.fixture
def taylor_order():
    return _taylor_order


@pytest.fixture
def make_set():
    """(R, n, d, seed) -> X (R, n, d) uniform, y (R, n) standardized."""

    def make(R, n, d, seed=0):
        X = np.random.default_rng(seed).random((R, n, d))
        y = _smooth(X)
        return X, (y - y.mean(axis=1, keepdims=True)) / np.maximum(y.std(axis=1, keepdims=True), 1e-12)

    return make
