"""What P(success) is compared with: the base rate, and three classifiers of scikit-learn as one would use them.

A reference (X (n, d), failed (n,), points (m, d)) -> P(success) (m,). With labels of one kind all say the base rate.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

Reference = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
TREES = 300
BASE_RATE = "base rate"


def base_rate(X: np.ndarray, failed: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Laplace's rule: (successes + 1) / (n + 2)."""
    return np.full(len(points), (np.sum(~failed) + 1.0) / (len(failed) + 2.0))


def forest(X: np.ndarray, failed: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The forest with its defaults, 300 trees; half a vote is added to each side, so that no logarithm is infinite."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(TREES, random_state=0).fit(X, ~failed)
    return np.asarray((TREES * model.predict_proba(points)[:, 1] + 0.5) / (TREES + 1.0))


def logistic(X: np.ndarray, failed: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Logistic regression on x and x² (inputs scaled to [-1, 1]), with the default ridge C = 1."""
    from sklearn.linear_model import LogisticRegression

    def terms(x: np.ndarray) -> np.ndarray:
        return np.concatenate([2 * x - 1, 3 * (np.square(2 * x - 1) - 1 / 3)], axis=1)

    model = LogisticRegression(C=1.0, max_iter=2000).fit(terms(X), ~failed)
    return np.asarray(model.predict_proba(terms(points))[:, 1])


def gaussian_process(X: np.ndarray, failed: np.ndarray, points: np.ndarray) -> np.ndarray:
    """GaussianProcessClassifier: an amplitude, a length for each input, one start at 1, as by default."""
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    kernel = ConstantKernel(1.0, (1e-2, 1e4)) * RBF(np.ones(X.shape[1]), (1e-2, 1e2))
    model = GaussianProcessClassifier(kernel, n_restarts_optimizer=0, random_state=0).fit(X, ~failed)
    return np.asarray(model.predict_proba(points)[:, 1])


REFERENCES: dict[str, Reference] = {
    BASE_RATE: base_rate,
    "forest": forest,
    "logistic": logistic,
    "sklearn gpc": gaussian_process,
}


def predict(name: str, X: np.ndarray, failed: np.ndarray, points: np.ndarray) -> np.ndarray:
    """P(success) of a reference."""
    one_kind = bool(failed.all()) or not failed.any()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # searches that end at a bound
        return REFERENCES[BASE_RATE if one_kind else name](X, failed, points)
