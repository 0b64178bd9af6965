"""`minimize` by default against random search with ten times the evaluations; -m slow -s shows the table."""

import sys

import numpy as np
import pytest

from surefoot import minimize, problems

SEEDS = range(5)


def random_search(problem: problems.Problem, seed: int, n: int) -> float:
    x = np.random.default_rng(seed).uniform(problem.lower, problem.upper, (n, problem.d))
    return float(np.min(problem(x)))


@pytest.mark.slow
@pytest.mark.parametrize("problem", [p for p in problems.ALL if p.abbreviation != "RAS"], ids=lambda p: p.abbreviation)
@pytest.mark.filterwarnings("default::surefoot.errors.NumericalWarning")
def test_100_evaluations_are_never_worse_than_1000_random_ones(problem: problems.Problem) -> None:
    ours = np.median([minimize(problem, problem.bounds, n_evals=100, seed=s).fun for s in SEEDS])
    random = np.median([random_search(problem, s, 1000) for s in SEEDS])
    f_star = problem.f_star
    sys.stdout.write(
        f"\n{problem.abbreviation:5} f* {f_star:12.6f}  ours +{ours - f_star:.2e}  random +{random - f_star:.2e}"
    )
    assert ours <= random
