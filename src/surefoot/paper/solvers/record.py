"""What a solver is, and how one is run until it reaches a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.paper.problems import Problem
from surefoot.paper.solvers.counter import Counter, Stopped


@dataclass(frozen=True)
class Solver:
    """A solver with its settings. `run(counter, seed)` is one run that ends by the solver's own criteria, if ever."""

    name: str
    library: str  # name of its distribution, whose version is published beside the results
    options: str  # settings in words; what is not named is the library's default
    run: Callable[[Counter, int], None] = field(repr=False)
    fits_a_model: bool = False  # its own work grows with the evaluations: it gets the smaller budget


@dataclass(frozen=True)
class Outcome:
    """One attempt to reach the target."""

    hit: bool
    n: int  # evaluations until the target, or all that were allowed
    n_runs: int  # 1: the solver was not restarted
    trace: np.ndarray  # (n,) best value after each evaluation


def solve(solver: Solver, problem: Problem, seed: int, *, log10_target: float, budget: int) -> Outcome:
    """Run a solver until log10 |f - f_star| <= log10_target or the budget is spent.

    A solver that ends before, in a local minimum or by its own limits, starts again from another seed; the evaluations
    go on counting. So none profits from giving up early, and none is charged for not being a restarting one.
    """
    if problem.f_star is None:
        raise InvalidInputError(
            f"expected a problem whose least value is known; {problem.name} has none; try one with f_star"
        )
    # f_star is the least value on the box: the distance needs no absolute value
    counter = Counter(
        lambda x: float(problem(x)), problem.bounds, budget=budget, target=problem.f_star + 10.0**log10_target
    )
    n_runs = 0
    try:
        for restart in count():
            before, n_runs = counter.n, restart + 1
            solver.run(counter, _seed(seed, restart))
            if counter.n == before:
                raise InvalidInputError(
                    f"expected {solver.name} to evaluate the function; it ended without; try other options"
                )
    except Stopped:
        pass
    return Outcome(counter.hit, counter.n, n_runs, counter.trace)


def _seed(seed: int, restart: int) -> int:
    """A seed that every library takes: 32 bits, without relation between runs and restarts."""
    return int(np.random.SeedSequence((seed, restart)).generate_state(1)[0])
