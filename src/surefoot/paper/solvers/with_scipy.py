"""SciPy: simulated annealing, and local searches from many starts."""

from __future__ import annotations

import numpy as np

from surefoot.paper.solvers.counter import Counter

N_STARTS = 10  # of a multi start [NH18, Sec. 6]


def simulated_annealing(counter: Counter, seed: int) -> None:
    """Generalized simulated annealing without local searches."""
    _dual_annealing(counter, seed, no_local_search=True)


def dual_annealing(counter: Counter, seed: int) -> None:
    """Generalized simulated annealing with local searches at new minima, SciPy's default."""
    _dual_annealing(counter, seed, no_local_search=False)


def _dual_annealing(counter: Counter, seed: int, no_local_search: bool) -> None:
    from scipy.optimize import dual_annealing as run

    run(counter, counter.bounds, rng=np.random.default_rng(seed), no_local_search=no_local_search)


def multi_start(counter: Counter, seed: int) -> None:
    """Ten quasi-Newton searches from uniform points; gradients by finite differences, which the counter sees."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    for x0 in rng.uniform(counter.lower, counter.upper, (N_STARTS, counter.d)):
        minimize(counter, x0, method="L-BFGS-B", bounds=counter.bounds)
