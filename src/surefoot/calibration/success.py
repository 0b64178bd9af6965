"""P(success) from labels alone: where a simulator has run, and where it has failed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefoot.backend import engine, to_host
from surefoot.calibration.box import Floats
from surefoot.engine.thinning import informative
from surefoot.engine.warmth import Warmth
from surefoot.failures.classification import label_data
from surefoot.failures.registry import FAILURE_MODELS, MAX_LABELS
from surefoot.gp.fit import N_RANDOM_STARTS, FitState, is_healthy
from surefoot.gp.kernels import SE
from surefoot.gp.posterior import moments
from surefoot.numerics.designs import generator


def learn_success(
    units: Floats, failed: np.ndarray, *, model: str = "ep", seed: int = 0, warmth: Warmth | None = None
) -> Callable[[Floats], Floats] | None:
    """P(success) (m,) as a function of units (m, d), from points (n, d) and which failed; None if none did.

    warmth: of an optimization of the same parameters: its search for hyperparameters is gone on with.
    """
    n, d = units.shape
    if not failed.any():
        return None
    chosen = FAILURE_MODELS[model]
    state = _state(warmth, model, d)
    X, labels = units[None], failed[None]
    if n > MAX_LABELS:
        inv_ell = None if state is None else np.exp(-state.theta[:, :d])
        kept = informative(X, labels, None, inv_ell, chosen.keeps(n))[0]
        X, labels = X[:, kept], labels[:, kept]
    # as the engine draws them: the first of the two is for the objective
    uniforms = generator(seed, 0, n).random((2, N_RANDOM_STARTS, d + 1))[1:]
    with engine(n):
        posterior, _ = chosen.fit(label_data(X, labels.astype(float), None), SE, uniforms, state, n_history=n)

    def probability(points: Floats) -> Floats:
        with engine(n):
            return np.asarray(np.exp(to_host(chosen.link(*moments(posterior, points[None]))[0])[0]))

    return probability


def _state(warmth: Warmth | None, model: str, d: int) -> FitState | None:
    """Where the search for this model's hyperparameters ended, if there was one that can be gone on with."""
    state = None if warmth is None or warmth.failures_by != model else warmth.failures
    return state if state is not None and state.theta.shape == (1, d + 1) and is_healthy(state) else None
