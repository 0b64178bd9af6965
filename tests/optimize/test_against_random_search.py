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
@pytest.mark.filterwarnings("ignore::surefoot.errors.NumericalWarning")
def test_100_evaluations_are_never_worse_than_1000_random_ones(problem: problems.Problem) -> None:
    ours = [minimize(problem, problem.bounds, n_evals=100, seed=s).fun for s in SEEDS]
    random = [random_search(problem, s, 1000) for s in SEEDS]
    columns = []
    for values in (ours, random):
        mean_log = float(np.mean(problem.log10_distance(np.asarray(values))))  # the paper's measure
        columns.append((mean_log, float(np.median(values)) - problem.f_star))
    sys.stdout.write(
        f"\n{problem.abbreviation:5} mean log10 distance {columns[0][0]:6.2f}, random {columns[1][0]:6.2f}; "
        f"median distance {columns[0][1]:.2e}, random {columns[1][1]:.2e}"
    )
    assert columns[0][0] <= columns[1][0]
