"""surefoot itself: Bayesian optimization by ask and tell, with a counter in between."""

from __future__ import annotations

import warnings
from typing import Any

from surefoot.engine.searches import PAPER_MODEL
from surefoot.errors import NumericalWarning
from surefoot.optimize.optimizer import Optimizer
from surefoot.paper.solvers.counter import Counter


def bayesian(counter: Counter, seed: int, **settings: Any) -> None:
    """Ask, evaluate, tell, until the counter stops it. It never ends by itself."""
    optimizer = Optimizer(counter.bounds, seed=seed, **settings)
    with warnings.catch_warnings():
        # expected here: a run that has converged to 1e-6 has points too close together to tell apart
        warnings.simplefilter("ignore", NumericalWarning)
        while True:
            x = optimizer.ask()
            optimizer.tell(x, counter(x))


def scaled_ei(counter: Counter, seed: int) -> None:
    """The paper's: ScaledEI, squared exponential, its own search, a Latin hypercube of 10 points per input."""
    bayesian(counter, seed, policy="ScaledEI", search="paper", n_init=10 * counter.d, **PAPER_MODEL)


def expected_improvement(counter: Counter, seed: int) -> None:
    """EI with surefoot's exact search."""
    bayesian(counter, seed, policy="EI")
