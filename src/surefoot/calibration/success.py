"""P(success) from labels alone: where a simulator has run, and where it has failed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefoot.backend import engine, to_host
from surefoot.calibration.box import Floats
from surefoot.engine.batch import HOST
from surefoot.engine.success import Labels, fit_success
from surefoot.engine.warmth import Warmth, on_device
from surefoot.failures.registry import FAILURE_MODELS
from surefoot.gp.hyperparameters import N_RANDOM_STARTS
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
    p = chosen.n_hyperparameters(d)
    last = None if warmth is None or warmth.failures_by != model else warmth.failures
    # as the engine draws them: the first of the two is for the objective
    uniforms = generator(seed, 0, n).random((2, N_RANDOM_STARTS, p))[1:]
    with engine(n):
        success, _ = fit_success(Labels(units[None], failed[None]), chosen, on_device(last, (1, p), HOST), uniforms)

    def probability(points: Floats) -> Floats:
        with engine(n):
            return np.asarray(to_host(success.probability(points[None]))[0])

    return probability
