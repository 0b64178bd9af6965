"""`python -m benchmarks.walls`: objectives with penalties and blow-ups, whose largest values hide all others.

Three functions, each with five kinds of walls that leave its minimum free, and without one. Compared are surefoot,
surefoot that takes every value as it is, Optuna's TPE and random search. The score is log10 of the distance to the
least value.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import surefoot
from benchmarks.regret.adapters import constants
from benchmarks.regret.suites import Objective, Task, make_task
from surefoot.paper.resumable import write_whole
from surefoot.paper.studies.failures import peers

FUNCTIONS = ("HM3", "Rosenbrock 6", "robot arm 8")
WALLS: dict[str, Callable[[np.ndarray], float]] = {
    "none": lambda u: 0.0,
    "penalty 1e6": lambda u: 1e6 * max(0.0, u[0] - 0.75),
    "penalty 1e10, squared": lambda u: 1e10 * max(0.0, u[0] + u[1] - 1.5) ** 2,
    "1e9 beyond a plane": lambda u: 1e9 if u[0] + u[2] > 1.5 else 0.0,
    "1e12 in a corner": lambda u: 1e12 * (1.0 + u[1]) if max(u[0], u[1]) > 0.85 else 0.0,
    "blow-up": lambda u: 10.0 ** min(100.0 * (u[0] - 0.8), 300.0) if u[0] > 0.8 else 0.0,
}
SOLVERS = ("surefoot", "surefoot, values as they are", "tpe", "random")


def walled(name: str, wall: Callable[[np.ndarray], float]) -> Task:
    """A function with a wall."""
    base = make_task("small", name, 1)
    low, high = np.asarray(base.bounds).T

    def function(x: np.ndarray) -> float:
        return base.function(x) + wall((x - low) / (high - low))

    return Task(name, base.bounds, function, base.f_star, base.floor)


def solve(solver: str, f: Objective, n: int, seed: int) -> None:
    """Evaluate f n times."""
    design = np.empty((0, f.d))
    if solver == "random":
        peers.random(f, design, n, seed)
    elif solver == "tpe":
        peers.tpe(f, design, n, seed)
    else:
        with constants({} if solver == "surefoot" else {"engine.walls.FAR": np.inf}):
            surefoot.minimize(f, f.bounds, n_evals=n, seed=seed)


def rows(n: int, n_seeds: int) -> Iterator[str]:
    """The table, line by line."""
    yield f"Median log10 distance after {n} evaluations, {n_seeds} seeds; the least is bold."
    yield ""
    yield "| function | wall | " + " | ".join(SOLVERS) + " |"
    yield "|" + "---|" * (2 + len(SOLVERS))
    for name in FUNCTIONS:
        for label, wall in WALLS.items():
            task = walled(name, wall)
            medians = []
            for solver in SOLVERS:
                found = []
                for seed in range(n_seeds):
                    f = Objective(task, seed)
                    solve(solver, f, n, seed)
                    found.append(float(task.log10_distance(np.asarray([np.min(f.y)]))[0]))
                medians.append(round(float(np.median(found)), 1))
            cells = [f"**{m:.1f}**" if m == min(medians) else f"{m:.1f}" for m in medians]
            yield f"| {name} | {label} | " + " | ".join(cells) + " |"


def main(words: list[str] | None = None) -> int:
    """Print the table, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=60, help="evaluations a run")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("results/walls.md"))
    asked = parser.parse_args(words)
    lines = ["Made by `python -m benchmarks.walls`.", ""]
    for line in rows(asked.n, asked.seeds):
        print(line, flush=True)
        lines.append(line)
    write_whole(asked.out, "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
