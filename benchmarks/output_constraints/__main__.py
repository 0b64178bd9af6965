"""Problems with limits on outputs: run, tabulate, and what a suggestion costs.

python -m benchmarks.output_constraints run [--folder F] [--solvers surefoot,random] [--problems "g06;g24"] [--seeds 5]
    [--cap 60]
python -m benchmarks.output_constraints table [--folder F]
python -m benchmarks.output_constraints cost

`run` writes one file for each case and passes over those that are there: a run that is stopped goes on.
A run that has taken the processor for `--cap` seconds ends with the evaluations that it has made.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

import surefoot
from benchmarks.output_constraints.problems import LOOSE, NAMES, Evaluator, problem
from benchmarks.output_constraints.solvers import SOLVERS, USUAL, chosen, solve
from surefoot.paper.resumable import write_whole

BUDGET, BUDGETS = 100, (50, 100)
FOLDER = Path("results/constraints/raw/outputs")


def run_case(name: str, solver: str, seed: int, folder: Path, cap: float = math.inf) -> None:
    """One run, unless its file is there."""
    path = folder / f"{name} {solver} {seed}.json".replace(" ", "_").replace(",", "")
    if path.exists():
        return
    evaluate = Evaluator(problem(name), BUDGET, cap)
    start = time.process_time()
    solve(solver, evaluate, seed)
    told = {
        "problem": name,
        "solver": solver,
        "seed": seed,
        "seconds": time.process_time() - start,
        "cap": cap,
        "evaluations": len(evaluate.values),
        "strict": [f"{gap:.3e}" for gap in evaluate.gaps(0.0)],
        "loose": [f"{gap:.3e}" for gap in evaluate.gaps(LOOSE)],
    }
    write_whole(path, json.dumps(told))
    print(f"{name}, {solver}, seed {seed}: {told['strict'][-1]} ({told['seconds']:.0f} s)", flush=True)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    rows = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return [
        {**row, "strict": np.asarray(row["strict"], float), "loose": np.asarray(row["loose"], float)} for row in rows
    ]


def table(folder: Path) -> str:
    """Markdown: for each problem and optimizer the median gap, and in how many runs it is solved."""
    rows = rows_of(folder)
    lines = [
        f"| problem | optimizer | runs | median gap at {BUDGETS[0]} | at {BUDGETS[1]} | feasible | gap <= 1e-3 "
        f"| <= 1e-6 | <= 1e-4, limits to {LOOSE:g} | ended by the cap | median s |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in [*NAMES, "all"]:
        for solver in SOLVERS:
            own = [row for row in rows if row["solver"] == solver and name in (row["problem"], "all")]
            if own:
                lines.append(f"| {name} | {solver} | {len(own)} | {_told(own, medians=name != 'all')} |")
    return "\n".join(lines)


def _told(rows: list[dict[str, Any]], medians: bool) -> str:
    """The cells of some runs."""
    gaps = np.asarray([[row["strict"][n - 1] for n in BUDGETS] for row in rows])
    loose = np.asarray([row["loose"][-1] for row in rows])
    half, full = (f"{gap:.1e}" if np.isfinite(gap) else "none" for gap in np.median(gaps, axis=0))
    solved = [np.isfinite(gaps[:, 1]), gaps[:, 1] <= 1e-3, gaps[:, 1] <= 1e-6, loose <= 1e-4]
    counts = [int(np.sum(count)) for count in (*solved, np.asarray([_capped(row) for row in rows]))]
    seconds = f"{np.median([row['seconds'] for row in rows]):.0f}"
    cells = [half, full, *counts, seconds] if medians else ["", "", *counts, ""]
    return " | ".join(map(str, cells))


def _capped(row: dict[str, Any]) -> bool:
    """Whether the run ended by the cap on its time, with fewer evaluations than the others."""
    return bool(row["seconds"] > row.get("cap", math.inf) and row["evaluations"] < BUDGET)


def cost(n: int = 200, d: int = 6, repeats: int = 15, counts: tuple[int, ...] = (0, 1, 3, 6)) -> str:
    """Processor time of a suggestion at n evaluations with so many limits, over one without (the first)."""
    rng = np.random.default_rng(0)
    X = rng.random((n + repeats + 1, d))

    def fun(x: np.ndarray) -> dict[str, float]:
        bent = float(np.sum((x - 0.3) ** 2) + np.sum(np.cos(3.0 * x)))
        return {
            "value": bent,
            "a": float(x[0] * x[1] + x.sum()),
            "b": float(np.exp(x[2]) - x[3]),
            "c": float(np.sin(x[0])),
            "e": float(np.cos(x[1]) + x[4]),
            "f": float(x[2] * x[5]),
            "g": float(x[3] ** 2 + x[1]),
        }

    limits = {"a": "<= 2.5", "b": ">= 1", "c": "between 0.1 and 0.8", "e": "<= 1.6", "f": "<= 0.7", "g": ">= 0.3"}
    runs = {
        k: surefoot.Optimizer([(0, 1)] * d, n_init=20, objective="value", outputs=dict(list(limits.items())[:k]))
        for k in counts
    }
    times: dict[int, list[float]] = {k: [] for k in runs}
    for optimizer in runs.values():
        for x in X[:n]:
            optimizer.tell(x, fun(x))
    for k in range(repeats + 1):
        for n_limits, optimizer in runs.items():
            optimizer.forget_pending()
            start = time.process_time()
            optimizer.ask()
            times[n_limits].append(time.process_time() - start)
            optimizer.tell(X[n + k], fun(X[n + k]))
    none, median = counts[0], {k: float(np.median(t[1:])) for k, t in times.items()}
    lines = [f"n = {n}, d = {d}; of a suggestion, and of the first of all, a cold fit:"]
    for k in counts:
        ratio, cold = median[k] / median[none], times[k][0] / times[none][0]
        lines.append(f"{k} limits: {1000 * median[k]:.0f} ms, {ratio:.1f} times; {times[k][0]:.1f} s, {cold:.1f} times")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table", "cost"])
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--solvers", default=USUAL)
    parser.add_argument("--problems", default=";".join(NAMES), help="names, with ; between them")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--cap", type=float, default=math.inf, help="seconds of the processor that a run may take")
    given = parser.parse_args()
    if given.what == "cost":
        print(cost())
        return
    if given.what == "run":
        given.folder.mkdir(parents=True, exist_ok=True)
        solvers = chosen(given.solvers.split(","))
        for seed in range(given.seeds):
            for name in given.problems.split(";"):
                for solver in solvers:
                    run_case(name, solver, seed, given.folder, given.cap)
    print(table(given.folder))


if __name__ == "__main__":
    main()
