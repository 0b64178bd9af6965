"""The solvers by name, with the settings that are published beside the results."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from surefoot.errors import UnknownNameError
from surefoot.paper.solvers import with_pymoo, with_pyscat, with_scipy, with_surefoot
from surefoot.paper.solvers.record import Solver

ALL: tuple[Solver, ...] = (
    Solver(
        "ScaledEI",
        "surefoot",
        options="policy ScaledEI, squared exponential, search paper, n_init 10 per input",
        run=with_surefoot.scaled_ei,
        fits_a_model=True,
    ),
    Solver(
        "surefoot",
        "surefoot",
        options="the defaults: policy alternate, exact search",
        run=with_surefoot.bayesian,
        fits_a_model=True,
    ),
    Solver(
        "EI",
        "surefoot",
        options="policy EI, exact search",
        run=with_surefoot.expected_improvement,
        fits_a_model=True,
    ),
    Solver(
        "genetic algorithm",
        "pymoo",
        options="GA: population 100, tournaments, simulated binary crossover, polynomial mutation",
        run=with_pymoo.genetic_algorithm,
    ),
    Solver(
        "global search",
        "pyscat",
        options=(
            "ESSOptimizer (enhanced scatter search): 10 d diverse points, reference set of b with b² − b >= 10 d, made "
            "even; local solver L-BFGS-B of SciPy, finite differences"
        ),
        run=with_pyscat.scatter_search,
    ),
    Solver(
        "simulated annealing",
        "scipy",
        options="dual_annealing, no_local_search=True",
        run=with_scipy.simulated_annealing,
    ),
    Solver(
        "dual annealing",
        "scipy",
        options="dual_annealing, local searches by L-BFGS-B with finite differences",
        run=with_scipy.dual_annealing,
    ),
    Solver(
        "particle swarm",
        "pymoo",
        options="PSO: 25 particles, adaptive weights",
        run=with_pymoo.particle_swarm,
    ),
    Solver(
        "multi start",
        "scipy",
        options="minimize, L-BFGS-B with finite differences, from 10 uniform points",
        run=with_scipy.multi_start,
    ),
    Solver(
        "pattern search",
        "pymoo",
        options="PatternSearch (Hooke and Jeeves) from the best of 20 points of a Latin hypercube",
        run=with_pymoo.pattern_search,
    ),
)

_BY_NAME = {solver.name.casefold(): solver for solver in ALL}


def get_solver(name: str) -> Solver:
    """The solver of that name; case does not matter."""
    found = _BY_NAME.get(name.casefold())
    if found is None:
        names = ", ".join(repr(solver.name) for solver in ALL)
        raise UnknownNameError(f"expected a solver among {names}; got {name!r}; try 'multi start'")
    return found


def library_version(solver: Solver) -> str:
    """The version of the library that is installed."""
    try:
        return version(solver.library)
    except PackageNotFoundError:
        return "not installed"
