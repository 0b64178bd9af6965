"""P(success) from labels alone: where a simulator has run, and where it has failed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefoot.backend import engine, to_host
from surefoot.calibration.box import Floats
from surefoot.engine.thinning import informative
from surefoot.failures.classification import label_data
from surefoot.failures.registry import FAILURE_MODELS, MAX_LABELS
from surefoot.gp.fit import N_RANDOM_STARTS, FitState
from surefoot.gp.kernels import SE
from surefoot.gp.posterior import moments
from surefoot.numerics.designs import generator


def learn_success(
    units: Floats, failed: np.ndarray, *, model: str = "ep", seed: int = 0, state: FitState | None = None
) -> Callable[[Floats], Floats] | None:
    """P(success) (m,) as a function of units (m, d), from points (n, d) and which failed; None if none did.

    state: where an earlier search for this model's hyperparameters ended.
    """
    n, d = units.shape
    if not failed.any():
        return None
    chosen = FAILURE_MODELS[model]
    X, labels = units[None], failed[None]
    if n > MAX_LABELS:
        kept = informative(X, labels, None, None, chosen.keeps(n))[0]
        X, labels = X[:, kept], labels[:, kept]
    # as the engine draws them: the first of the two is for the objective
    uniforms = generator(seed, 0, n).random((2, N_RANDOM_STARTS, d + 1))[1:]
    with engine(n):
        posterior, _ = chosen.fit(label_data(X, labels.astype(float), None), SE, uniforms, state, n_history=n)

    def probability(points: Floats) -> Floats:
        with engine(n):
            return np.asarray(np.exp(to_host(chosen.link(*moments(posterior, points[None]))[0])[0]))

    return probability
