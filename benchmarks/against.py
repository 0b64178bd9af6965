"""`python -m benchmarks.against OTHER/src`: has regret changed against another checkout, where evaluations fail?

A change of rounding sends runs other ways, and no run can be compared with itself. This asks whether they end as well:
five functions with failures, the same seeds, surefoot's defaults, each checkout in a process of its own. It prints the
mean difference of log10 regret (this checkout minus the other) and Wilcoxon's p, per function and over all.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

A = np.array([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]])
P = np.array([[0.3689, 0.1170, 0.2673], [0.4699, 0.4387, 0.7470], [0.1091, 0.8732, 0.5547], [0.03815, 0.5743, 0.8828]])


def hartman(x: np.ndarray) -> float:
    return float(-np.array([1.0, 1.2, 3.0, 3.2]) @ np.exp(-np.sum(A * (x - P) ** 2, axis=1)))


def branin(x: np.ndarray) -> float:
    a, b = 15.0 * x[0] - 5.0, 15.0 * x[1]
    return float(
        (b - 5.1 * a**2 / (4 * np.pi**2) + 5 * a / np.pi - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10
    )


def rosenbrock(x: np.ndarray) -> float:
    z = 4.0 * x - 2.0
    return float(100.0 * (z[1] - z[0] ** 2) ** 2 + (1.0 - z[0]) ** 2)


def by_chance(x: np.ndarray, share: float) -> bool:
    """Failures without structure: the digits of the point decide."""
    return float(np.sum(x * 1e7) % 1.0) < share


def in_discs(x: np.ndarray) -> bool:
    return bool(np.sum((x - 0.5) ** 2) < 0.04 or np.sum((x - 0.1) ** 2) < 0.05)


Problem = tuple[int, float, Callable[[np.ndarray], float], Callable[[np.ndarray], bool]]
PROBLEMS: dict[str, Problem] = {  # inputs, least value, function, where it fails
    "Hartman 3, a third fails": (3, -3.8627821, hartman, lambda x: bool(x.sum() > 1.75)),
    "Hartman 3, four fifths fail": (3, -3.8627821, hartman, lambda x: bool(abs(x[0] - 0.1) > 0.1 or x[1] < 0.2)),
    "Branin, discs": (
        2,
        0.3978874,
        branin,
        lambda x: bool(np.sum((x - 0.5) ** 2) < 0.04 or np.sum((x - 0.1) ** 2) < 0.05),
    ),
    "Branin, by chance": (2, 0.3978874, branin, lambda x: by_chance(x, 0.3)),
    "Rosenbrock, beside the valley": (2, 0.0, rosenbrock, lambda x: bool(rosenbrock(x) > 300.0)),
}


def ends(n_seeds: int, n_evals: int) -> dict[str, list[float]]:
    """Final log10 regret of each problem and seed with the surefoot that is imported here."""
    from surefoot import minimize

    found: dict[str, list[float]] = {}
    for name, (d, least, function, fails) in PROBLEMS.items():
        for seed in range(n_seeds):
            result = minimize(
                lambda x, f=function, fails=fails: float("nan") if fails(x) else f(x),
                [(0.0, 1.0)] * d,
                n_evals=n_evals,
                seed=seed,
                max_failures=None,
            )
            found.setdefault(name, []).append(float(np.log10(max(result.fun - least, 1e-7))))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, help="the folder src of another checkout")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--n", type=int, default=60)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(ends(options.seeds, options.n)))
        return
    from scipy.stats import wilcoxon

    here = Path(__file__).parents[1]
    command = [sys.executable, "-m", "benchmarks.against", str(options.other), "--child"]
    command += ["--seeds", str(options.seeds), "--n", str(options.n)]
    results = []
    for source in (here / "src", options.other.resolve()):
        environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, check=True)
        results.append(json.loads(done.stdout))
    every: list[float] = []
    for name in PROBLEMS:
        difference = np.subtract(results[0][name], results[1][name])
        every += difference.tolist()
        p = wilcoxon(difference).pvalue if difference.any() else 1.0
        print(f"{name:32} {difference.mean():+.2f}  p = {p:.2f}")
    print(f"{'all':32} {np.mean(every):+.2f}  p = {wilcoxon(every).pvalue if any(every) else 1.0:.2f}")


if __name__ == "__main__":
    main()
