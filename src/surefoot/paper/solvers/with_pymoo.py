"""pymoo: genetic algorithm, particle swarm and pattern search (Hooke and Jeeves), with pymoo's own stopping rules."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from surefoot.errors import MissingExtraError
from surefoot.paper.solvers.counter import Counter


def genetic_algorithm(counter: Counter, seed: int) -> None:
    """Tournament selection, simulated binary crossover, polynomial mutation."""
    _check()
    from pymoo.algorithms.soo.nonconvex.ga import GA

    _run(GA(), counter, seed)


def particle_swarm(counter: Counter, seed: int) -> None:
    """A swarm whose weights adapt to its spread."""
    _check()
    from pymoo.algorithms.soo.nonconvex.pso import PSO

    _run(PSO(), counter, seed)


def pattern_search(counter: Counter, seed: int) -> None:
    """Hooke and Jeeves from the best of a small Latin hypercube."""
    _check()
    from pymoo.algorithms.soo.nonconvex import pattern

    # pymoo draws the order of the coordinates without its seed: given one here, or no run could be repeated
    move = pattern.exploration_move
    pattern.exploration_move = partial(move, random_state=np.random.default_rng(seed))
    try:
        _run(pattern.PatternSearch(), counter, seed)
    finally:
        pattern.exploration_move = move


def _run(algorithm: Any, counter: Counter, seed: int) -> None:
    from pymoo.core.problem import Problem
    from pymoo.optimize import minimize

    class Counted(Problem):  # type: ignore[misc]
        def _evaluate(self, X: np.ndarray, out: dict[str, Any], *_: Any, **__: Any) -> None:
            out["F"] = np.asarray([[counter(x)] for x in X])  # one by one: the target may be met inside a population

    minimize(Counted(n_var=counter.d, n_obj=1, xl=counter.lower, xu=counter.upper), algorithm, seed=seed)


def _check() -> None:
    try:
        import pymoo  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "expected pymoo for this solver; it is not installed; try pip install 'surefoot[studies]'"
        ) from error
