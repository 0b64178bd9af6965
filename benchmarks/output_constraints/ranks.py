"""Optimizers ranked on bbob-constrained: run, and tables of ranks, feasible shares and paired tests.

python -m benchmarks.output_constraints.ranks run [--folder F] [--solvers surefoot,random] [--dimensions 2,5]
    [--instances 1] [--functions 1,7,13] [--budget 200]
python -m benchmarks.output_constraints.ranks table [--folder F] [--budget 200]

`run` writes one file for each case and passes over those that are there: a run that is stopped goes on. Runs of
another budget belong in another folder.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import binomtest, rankdata

from benchmarks.output_constraints.bbob import DIMENSIONS, FUNCTIONS, bbob, kind
from benchmarks.output_constraints.problems import Evaluator
from benchmarks.output_constraints.solvers import SOLVERS, USUAL, chosen, solve
from surefoot.paper.resumable import write_whole
from surefoot.paper.statistics import holm

BUDGET, BUDGETS = 200, (50, 100)
FOLDER = Path("results/constraints/raw/bbob")
TOLERANCE = 1e-8  # of the larger value: those that differ by less are equal
MATTERS = 1e-2  # of the objective; the best of 100 random points is mostly 100 to 1000 above the best of all
POLISH = 1e-4  # what is more is more than rounding


def run_case(function: int, d: int, instance: int, solver: str, budget: int, folder: Path) -> None:
    """One run, unless its file is there; the instance is the seed too."""
    path = folder / f"f{function:02d}_d{d}_i{instance}_{solver.replace(',', '').replace(' ', '_')}.json"
    if path.exists():
        return
    problem = bbob(function, d, instance)
    evaluate = Evaluator(problem, budget)
    start = time.process_time()
    solve(solver, evaluate, instance)
    told = {
        "problem": problem.name,
        "d": d,
        "solver": solver,
        "seconds": time.process_time() - start,
        "best": [repr(float(value)) for value in evaluate.best(0.0)],
    }
    write_whole(path, json.dumps(told))
    print(f"{problem.name}, {solver}: {told['best'][-1]} ({told['seconds']:.0f} s)", flush=True)


def best_of(folder: Path, n: int) -> tuple[list[str], list[str], np.ndarray]:
    """The optimizers, the problems on which all of them ran, and their best feasible values at n: (problem, optimizer).

    infinite: nothing feasible.
    """
    rows = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    values = {(row["problem"], row["solver"]): float(row["best"][n - 1]) for row in rows}
    solvers = [name for name in SOLVERS if any(solver == name for _, solver in values)]
    problems = sorted({name for name, _ in values if all((name, solver) in values for solver in solvers)})
    found = np.asarray([[values[name, solver] for solver in solvers] for name in problems])
    return solvers, problems, found.reshape(len(problems), len(solvers))


def ranks_of(best: np.ndarray) -> np.ndarray:
    """(problem, optimizer): 1 is best; equal values, and those who found nothing feasible, share their ranks."""
    order = np.sort(best, axis=1)
    with np.errstate(invalid="ignore"):
        steps = np.diff(order, axis=1) > TOLERANCE * np.maximum(1.0, np.abs(order[:, 1:]))  # False for inf - inf
        steps |= np.isfinite(order[:, :-1]) & np.isinf(order[:, 1:])
    level = np.concatenate([np.zeros((len(best), 1)), np.cumsum(steps, axis=1)], axis=1)
    levels = np.take_along_axis(level, np.argsort(np.argsort(best, axis=1, kind="stable"), axis=1), axis=1)
    return np.asarray(rankdata(levels, axis=1))


def table(folder: Path, budgets: Sequence[int]) -> str:
    """Markdown: what was run; then ranks and paired tests at each budget, of all dimensions and of each."""
    lines = [coverage(folder), ""]
    found = [(n, *best_of(folder, n)) for n in budgets]
    dimensions = sorted({_dimension(name) for _, _, problems, _ in found for name in problems})
    for part in ([dimensions] if len(dimensions) > 1 else []) + [[d] for d in dimensions]:
        lines += [f"## d = {', '.join(map(str, part))}", ""]
        for n, solvers, problems, best in found:
            chosen_rows = [k for k, name in enumerate(problems) if _dimension(name) in part]
            if chosen_rows:
                lines += [f"{len(chosen_rows)} problems, {n} evaluations:", ""]
                lines += [*_rank_lines(solvers, best[chosen_rows]), ""]
    lines += [sizes(*found[-1][1:], rival) for rival in ("COBYLA, restarts",) if dimensions and rival in found[-1][1]]
    return "\n".join(lines) if dimensions else "No problem on which all of the optimizers ran."


def sizes(solvers: list[str], problems: list[str], best: np.ndarray, rival: str) -> str:
    """Markdown: on how many problems of each kind surefoot is ahead of a rival, or behind, and by how much."""
    lines = [
        f"## surefoot beside {rival}, by the size of the difference",
        "",
        f"| d | kind | surefoot ahead by more than {MATTERS:g} | by {POLISH:g} to {MATTERS:g} | equal to {POLISH:g} "
        f"| behind by {POLISH:g} to {MATTERS:g} | by more than {MATTERS:g}: which |",
        "|---|---|---|---|---|---|---|",
    ]
    ahead: dict[tuple[int, str], list[tuple[float, str]]] = {}
    for name, own, other in zip(problems, *best[:, [solvers.index("surefoot"), solvers.index(rival)]].T, strict=True):
        lead = 0.0 if own == other else float(other - own)
        ahead.setdefault((_dimension(name), kind(int(name[1:3]))), []).append((lead, name))
    for (d, of), found in sorted(ahead.items()):
        by = np.asarray([value for value, _ in found])
        counts = [
            by > MATTERS,
            (by > POLISH) & (by <= MATTERS),
            np.abs(by) <= POLISH,
            (by < -POLISH) & (by >= -MATTERS),
        ]
        misses = [f"{name.split()[0]} {-value:.1g}" for value, name in found if value < -MATTERS]
        told = " | ".join(str(int(count.sum())) for count in counts)
        lines.append(f"| {d} | {of} | {told} | {len(misses)}: {', '.join(misses)} |".replace("0:  |", "0 |"))
    return "\n".join(lines)


def _dimension(problem: str) -> int:
    return int(problem.split()[1].removeprefix("d"))


def coverage(folder: Path) -> str:
    """Markdown: how many of the functions each optimizer was run on, by dimension, instance and evaluations."""
    rows = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    cells = Counter((row["d"], row["problem"].split()[2], len(row["best"]), row["solver"]) for row in rows)
    solvers = [name for name in SOLVERS if any(key[3] == name for key in cells)]
    lines = [f"| d | instance | evaluations | {' | '.join(solvers)} |", "|---|---|---|" + "---|" * len(solvers)]
    for d, instance, n in sorted({key[:3] for key in cells}):
        counts = " | ".join(str(cells[d, instance, n, solver]) for solver in solvers)
        lines.append(f"| {d} | {instance.removeprefix('i')} | {n} | {counts} |")
    return "\n".join(lines)


def _rank_lines(solvers: list[str], best: np.ndarray) -> list[str]:
    """Ranks, feasible shares, and surefoot against each: by any difference, and by one that matters (MATTERS)."""
    ranks = ranks_of(best)
    base = solvers.index("surefoot") if "surefoot" in solvers else 0
    better, worse = (
        np.asarray([int(np.sum(sign * (ranks[:, j] - ranks[:, base]) > 0)) for j in range(len(solvers))])
        for sign in (1, -1)
    )
    tested = [j for j in range(len(solvers)) if j != base]
    tests = [binomtest(int(better[j]), int(better[j] + worse[j])).pvalue if better[j] + worse[j] else 1 for j in tested]
    corrected = dict(zip(tested, holm(np.asarray(tests)), strict=True))
    lines = [
        f"| optimizer | mean rank | median rank | feasible | {solvers[base]} better | worse | p (sign test, Holm) "
        f"| better by more than {MATTERS:g} | worse |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for j, name in enumerate(solvers):
        told = f"{ranks[:, j].mean():.2f} | {np.median(ranks[:, j]):.1f} | {np.isfinite(best[:, j]).mean():.0%}"
        versus = " | | | | "
        if j != base:
            ahead, behind = matters(best[:, base], best[:, j]), matters(best[:, j], best[:, base])
            versus = f"{better[j]} | {worse[j]} | {corrected[j]:.1g} | {ahead} | {behind}"
        lines.append(f"| {name} | {told} | {versus} |")
    return lines


def matters(first: np.ndarray, second: np.ndarray) -> int:
    """On how many problems the first is lower by more than MATTERS."""
    return int(np.sum(np.isfinite(first) & (second > first + MATTERS)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--solvers", default=USUAL)
    parser.add_argument("--dimensions", default=",".join(map(str, DIMENSIONS)))
    parser.add_argument("--instances", default="1,2,3,4,5")
    parser.add_argument("--functions", default=",".join(map(str, FUNCTIONS)))
    parser.add_argument("--budget", type=int, default=BUDGET)
    given = parser.parse_args()
    if given.what == "run":
        given.folder.mkdir(parents=True, exist_ok=True)
        solvers = chosen(given.solvers.split(","))
        for instance in map(int, given.instances.split(",")):
            for d in map(int, given.dimensions.split(",")):
                for function in map(int, given.functions.split(",")):
                    for solver in solvers:
                        run_case(function, d, instance, solver, given.budget, given.folder)
    print(table(given.folder, [n for n in BUDGETS if n < given.budget] + [given.budget]))


if __name__ == "__main__":
    main()
