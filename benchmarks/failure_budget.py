"""Does a budget of failures last longer where it steers? `python -m benchmarks.failure_budget`

A run ends at its n-th failure (`stop = {failures = n}`), or after 60 evaluations. Each problem and seed is run with and
without `failure_budget = n`, which raises min_success from 0.7 to 0.95 as failures are used up. The table counts runs
that were ended, and compares the best values at the end: the difference of log10 of (best − f*) / |f*|, negative where
steering is better, its mean over seeds, and Wilcoxon's p over all.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import argparse
import math
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import wilcoxon

from surefoot import minimize
from surefoot.paper.markdown import markdown
from surefoot.paper.resumable import write_whole
from surefoot.paper.studies.failures.constrained import get_constrained

PROBLEMS = (
    "BRA discs", "HM3 half-space 30 %", "HM3 half-space 50 %", "HM3 half-space 80 %", "ROS valley",
    "CAM hidden optimum", "HM3 random 50 %", "three-bar truss", "cantilever", "g04", "g24", "Gramacy",
    "pressure vessel", "duct, two causes", "HM6, two causes", "tube, a diagonal",
)  # fmt: skip
BUDGETS, N_EVALS = (10, 20), 60


def end_of(name: str, budget: int, seed: int, steers: bool) -> tuple[bool, int, float]:
    """Whether the budget ended the run, evaluations, log10 of the distance to the least value (3: no success)."""
    problem = get_constrained(name)
    causes = problem.causes

    def f(x: np.ndarray) -> float:
        cause = int(problem.cause(x))
        if cause >= 0:
            raise ArithmeticError(causes[cause])
        return float(problem.base(x))

    stop, more = {"failures": budget}, budget if steers else 0
    result = minimize(
        f, problem.base.bounds, n_evals=N_EVALS, seed=seed, stop=stop, max_failures=None, failure_budget=more
    )
    scale = max(abs(problem.f_star), 1e-3)
    distance = math.log10(max((result.fun - problem.f_star) / scale, 1e-6)) if result.success else 3.0
    return result.nfev < N_EVALS, result.nfev, distance


def main(argv: Sequence[str] | None = None) -> None:
    """Run what is missing, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("results/failure_budget/raw"))
    options = parser.parse_args(argv)
    options.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for budget in BUDGETS:
        table = [["problem", "ended early: plain", "steered", "evaluations: plain", "steered", "log10 distance"]]
        every: list[float] = []
        ended = np.zeros(2, int)
        for name in PROBLEMS:
            ends = [
                [_kept(options.out, name, budget, seed, on) for seed in range(options.seeds)] for on in (False, True)
            ]
            early, n, distance = (np.asarray([[end[k] for end in side] for side in ends]) for k in range(3))
            difference = distance[1] - distance[0]
            every += difference.tolist()
            ended += early.sum(axis=1)
            table.append([name, *map(str, early.sum(axis=1)), *(f"{m:.0f}" for m in n.mean(axis=1)),
                          f"{difference.mean():+.2f}"])  # fmt: skip
        p = wilcoxon(every).pvalue if any(every) else 1.0
        better, worse = sum(d < -1e-3 for d in every), sum(d > 1e-3 for d in every)
        print(f"budget of {budget} failures, {options.seeds} seeds\n\n{markdown(table)}\n")
        print(f"ended early {ended[0]} and {ended[1]} of {len(every)}; better {better}, worse {worse}, p = {p:.3f}; "
              f"mean {np.mean(every):+.3f}\n")  # fmt: skip


def _kept(folder: Path, name: str, budget: int, seed: int, steers: bool) -> tuple[bool, int, float]:
    path = folder / f"{name.replace(' ', '-').replace('%', 'percent')}-{budget}-{seed}-{int(steers)}.csv"
    if not path.exists():
        write_whole(path, ",".join(map(str, end_of(name, budget, seed, steers))))
    early, n, distance = path.read_text().strip().split(",")
    return early == "True", int(n), float(distance)


if __name__ == "__main__":
    main()
