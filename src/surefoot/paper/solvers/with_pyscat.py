"""pyscat (formerly part of pyPESTO): scatter search with a local solver, the family of Ugray et al.'s global search."""

from __future__ import annotations

import logging
import math

import numpy as np

from surefoot.errors import MissingExtraError
from surefoot.paper.solvers.counter import Counter


def scatter_search(counter: Counter, seed: int) -> None:
    """Enhanced scatter search, with L-BFGS-B from promising members of the reference set."""
    try:
        import pypesto
        from pypesto.optimize import ScipyOptimizer
        from pyscat import ESSOptimizer
    except ImportError as error:
        raise MissingExtraError(
            "expected pyscat for this solver; it is not installed; try pip install 'surefoot[studies]'"
        ) from error

    problem = pypesto.Problem(pypesto.Objective(fun=counter), counter.lower, counter.upper)
    optimizer = ESSOptimizer(
        dim_refset=reference_set_size(counter.d), local_optimizer=ScipyOptimizer(), max_eval=counter.budget
    )
    optimizer.logger.setLevel(logging.ERROR)
    state = np.random.get_state()  # pyscat and pyPESTO draw from NumPy's global generator; the caller's is put back
    np.random.seed(seed)
    try:
        optimizer.minimize(problem)
    finally:
        np.random.set_state(state)


def reference_set_size(d: int) -> int:
    """The least b with b² − b >= 10 d, made even, as the authors of the method advise (Egea et al. 2009)."""
    b = math.ceil((1.0 + math.sqrt(1.0 + 40.0 * d)) / 2.0)
    return b + b % 2
