"""P(success) of R runs, from where evaluations succeeded and where they failed: no value of y is asked.

Shapes    host arrays X (R, n, D) in the unit cube, failed and seen (R, n).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.acquisition.weight import Weight
from surefoot.backend import Array, like, to_host
from surefoot.engine.thinning import informative
from surefoot.failures.classification import label_data
from surefoot.failures.registry import MAX_LABELS, FailureModel
from surefoot.gp.hyperparameters import FitState


@dataclass(frozen=True)
class Labels:
    """Where evaluations failed."""

    X: np.ndarray  # (R, n, D)
    failed: np.ndarray  # (R, n)
    seen: np.ndarray | None = None  # (R, n) False: says nothing; None: all say something

    def take(self, columns: np.ndarray) -> Labels:
        """Some of them, (R, k)."""
        seen = None if self.seen is None else np.take_along_axis(self.seen, columns, axis=1)
        X = np.take_along_axis(self.X, columns[..., None], axis=1)
        return Labels(X, np.take_along_axis(self.failed, columns, axis=1), seen)


def fit_success(
    labels: Labels, model: FailureModel, state: FitState | None, uniforms: Array, least: float = 0.0
) -> tuple[Weight, FitState]:
    """The weight P(success), from all labels or from those that say something new, and the state of its fit.

    uniforms (R, k, p): draws for the starts of a cold search. `state`: the last fit's. `least`: see Weight.
    """
    n, D = labels.X.shape[1:]
    where = like(labels.failed.any(axis=1, keepdims=True), uniforms)
    if n > MAX_LABELS:
        inv_ell = None
        if state is not None and model.begins_with_scales:
            inv_ell = np.exp(-to_host(state.theta)[:, :D])
        labels = labels.take(informative(labels.X, labels.failed, labels.seen, inv_ell, model.keeps(n)))
    mask = None if labels.seen is None else like(labels.seen.astype(float), uniforms)
    data = label_data(like(labels.X, uniforms), like(labels.failed.astype(float), uniforms), mask)
    probability, found = model.fit(data, uniforms, state, n)
    return Weight(probability, least, where), found.state
