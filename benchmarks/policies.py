"""Policies and searches on the paper's 12 problems: mean log10 distance to the minimum, beside random search.

    python -m benchmarks.policies --out results/policies.md

Every row starts from the same Latin hypercubes (the default n_init); random search has ten times the evaluations.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import argparse
import platform
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import surefoot
from surefoot import problems
from surefoot.errors import NumericalWarning

ROWS: dict[str, dict[str, Any]] = {
    "default (2 EI, 1 ScaledEI)": {},
    "default, values not warped": {"warp": "none"},
    "EI, exact search": {"policy": "EI"},
    "ScaledEI, exact search": {"policy": "ScaledEI"},
    "PI, exact search": {"policy": "PI"},
    "ScaledEI, the paper's search": {"policy": "ScaledEI", "search": "paper"},
    "default, Matern 5/2": {"kernel": "matern52"},
}


def one_run(problem: str, row: str, seed: int, n: int) -> tuple[str, str, int, float, float]:
    """log10 distance after n evaluations, and seconds spent."""
    warnings.simplefilter("ignore", NumericalWarning)
    f = problems.get(problem)
    start = time.perf_counter()
    result = surefoot.minimize(f, f.bounds, n_evals=n, seed=seed, **ROWS[row])
    return problem, row, seed, float(f.log10_distance(result.fun)), time.perf_counter() - start


def random_search(problem: str, seed: int, n: int) -> float:
    """log10 distance of the best of n uniform points."""
    f = problems.get(problem)
    rng = np.random.default_rng((seed, n))
    low, high = np.asarray(f.lower), np.asarray(f.upper)
    return float(f.log10_distance(np.min(f(low + rng.random((n, f.d)) * (high - low)))))


def main() -> None:
    """Run all and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--problems", nargs="*", default=[p.abbreviation for p in problems.ALL])
    parser.add_argument("--rows", nargs="*", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    jobs = [(p, r, s, options.n) for r in options.rows for p in options.problems for s in range(options.seeds)]
    distance: dict[tuple[str, str], list[float]] = {}
    seconds: dict[str, float] = {}
    with ProcessPoolExecutor(options.workers) as pool:
        for problem, row, _, value, spent in pool.map(one_run, *zip(*jobs, strict=True)):
            distance.setdefault((problem, row), []).append(value)
            seconds[row] = seconds.get(row, 0.0) + spent
    lines = [
        f"surefoot {surefoot.__version__}, Python {platform.python_version()}, NumPy {np.__version__}; "
        f"`python -m benchmarks.policies --n {options.n} --seeds {options.seeds}`; "
        f"mean log10 distance over {options.seeds} seeds after {options.n} evaluations.",
        "",
        "| | " + " | ".join(options.problems) + " | ms per evaluation |",
        "|---|" + "---|" * (len(options.problems) + 1),
    ]
    for row in options.rows:
        cells = " | ".join(f"{np.mean(distance[p, row]):.1f}" for p in options.problems)
        per_evaluation = 1000.0 * seconds[row] / (len(options.problems) * options.seeds * options.n)
        lines.append(f"| {row} | {cells} | {per_evaluation:.0f} |")
    random_cells = [
        np.mean([random_search(p, s, 10 * options.n) for s in range(options.seeds)]) for p in options.problems
    ]
    lines.append(f"| random, {10 * options.n} evaluations | " + " | ".join(f"{v:.1f}" for v in random_cells) + " | |")
    text = "\n".join(lines) + "\n"
    print(text)
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text)


if __name__ == "__main__":
    main()
