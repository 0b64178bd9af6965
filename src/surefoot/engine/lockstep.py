"""Many optimizations of one problem at once: every run advances by one evaluation per step of the batched engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surefoot.backend import Array, engine
from surefoot.engine.batch import HOST, Batch
from surefoot.engine.model import Model, fit_model
from surefoot.engine.suggest import suggest
from surefoot.engine.warmth import Warmth
from surefoot.numerics.designs import generator
from surefoot.optimize.settings import Settings
from surefoot.optimize.space import Space

Objective = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""points in the user's units (R, d) -> values (R,), succeeded (R,)."""


@dataclass(frozen=True)
class Trace:
    """What R runs evaluated, in order."""

    X: np.ndarray  # (R, n, d) in the unit cube
    y: np.ndarray  # (R, n), NaN where it failed
    ok: np.ndarray  # (R, n)
    warmth: Warmth

    def runs(self) -> Batch:
        """The histories, as the engine takes them."""
        R, _, d = self.X.shape
        return Batch(self.X, self.y, self.ok, np.zeros((R, 0, d)), tuple(range(R)))


def run_in_lockstep(
    bounds: list[tuple[float, float]],
    objective: Objective,
    settings: Settings,
    n_runs: int,
    n_evals: int,
    reference: Array = HOST,
) -> Trace:
    """n_runs optimizations of n_evals evaluations; run r draws from generator(settings.seed, r, number)."""
    space = Space.of(bounds)
    low, high = (np.asarray(side) for side in zip(*bounds, strict=True))
    X, y = np.zeros((n_runs, 0, space.d)), np.zeros((n_runs, 0))
    trace = Trace(X, y, y.astype(bool), Warmth())
    for number in range(n_evals):
        suggestion = suggest(space, trace.runs(), number, settings, trace.warmth, reference)
        values, succeeded = objective(low + suggestion.x * (high - low))
        trace = Trace(
            np.concatenate([trace.X, suggestion.x[:, None]], axis=1),
            np.concatenate([trace.y, np.where(succeeded, values, np.nan)[:, None]], axis=1),
            np.concatenate([trace.ok, succeeded[:, None]], axis=1),
            suggestion.warmth,
        )
    return trace


def final_model(trace: Trace, settings: Settings) -> Model:
    """The models fitted to all that the runs evaluated."""
    n_runs, n, _ = trace.X.shape
    with engine(n):
        generators = tuple(generator(settings.seed, r, n) for r in range(n_runs))
        return fit_model(trace.runs(), settings, trace.warmth, generators)
