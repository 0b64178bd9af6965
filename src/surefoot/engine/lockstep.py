"""Many optimizations of one problem at once: every run advances by one evaluation per step of the batched engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surefoot.backend import Array, engine
from surefoot.engine.batch import HOST, Batch
from surefoot.engine.domain import Domain
from surefoot.engine.model import Model, fit_model
from surefoot.engine.spec import ModelSpec
from surefoot.engine.suggest import suggest
from surefoot.engine.warmth import Warmth
from surefoot.numerics.designs import generator

Evaluate = Callable[[np.ndarray], tuple[np.ndarray, ...]]
"""points of the unit cube (R, D), one of each run -> values, succeeded and, if known, kinds of the failures, (R,)."""


@dataclass(frozen=True)
class Trace:
    """What R runs evaluated, in order."""

    X: np.ndarray  # (R, n, D) in the unit cube
    y: np.ndarray  # (R, n), NaN where it failed
    ok: np.ndarray  # (R, n)
    warmth: Warmth
    kinds: np.ndarray | None = None  # (R, n) of the failures; None: not known
    pools: np.ndarray | None = None  # of the domain's categories

    def batch(self) -> Batch:
        """The histories, as the engine takes them."""
        R, _, D = self.X.shape
        return Batch(self.X, self.y, self.ok, np.zeros((R, 0, D)), tuple(range(R)), kinds=self.kinds, pools=self.pools)


def run_in_lockstep(
    domain: Domain, evaluate: Evaluate, spec: ModelSpec, n_runs: int, n_evals: int, reference: Array = HOST
) -> Trace:
    """n_runs optimizations of n_evals evaluations [NH18, Algorithms 1 and 2].

    Run r draws from generator(spec.seed, r, number).
    """
    X, y = np.zeros((n_runs, 0, domain.n_inputs)), np.zeros((n_runs, 0))
    trace = Trace(X, y, y.astype(bool), Warmth(), pools=domain.pools)
    for number in range(n_evals):
        suggestion = suggest(domain, trace.batch(), number, spec, trace.warmth, reference)
        values, succeeded, *known = evaluate(suggestion.x)
        kinds = None
        if known:
            before = np.zeros((n_runs, 0), int) if trace.kinds is None else trace.kinds
            kinds = np.concatenate([before, np.where(succeeded, -1, known[0])[:, None]], axis=1)
        trace = Trace(
            np.concatenate([trace.X, suggestion.x[:, None]], axis=1),
            np.concatenate([trace.y, np.where(succeeded, values, np.nan)[:, None]], axis=1),
            np.concatenate([trace.ok, succeeded[:, None]], axis=1),
            suggestion.warmth,
            kinds,
            domain.pools,
        )
    return trace


def final_model(trace: Trace, spec: ModelSpec, run: int) -> Model:
    """The model fitted to all that one run evaluated."""
    rows, n = np.asarray([run]), trace.X.shape[1]
    with engine(n):
        return fit_model(
            trace.batch().part(rows), spec, trace.warmth.part(rows).of_all, (generator(spec.seed, run, n),)
        )
