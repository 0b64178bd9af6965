"""Problems with a known constraint, limits on outputs and crashes at once: run, and tabulate.

python -m benchmarks.output_constraints.mixed run [--folder F] [--ways mixed,random] [--problems "g04;g07"] [--seeds 5]
python -m benchmarks.output_constraints.mixed table [--folder F]

Of the problems with three limits or more. The limit that forbids most of the box is reported, the second raises, the
third is told before; all others are reported. `run` writes one file for each case and passes over those that are there:
a run that is stopped goes on.
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_variable] = "1"  # before NumPy is imported

import argparse
import contextlib
import json
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import surefoot
from benchmarks.output_constraints.problems import NAMES, Evaluator, Solver, Spent, problem
from benchmarks.output_constraints.solvers import SOLVERS
from surefoot.paper.resumable import write_whole
from surefoot.paper.studies.failures.record import Constrained

BUDGET = 100
FOLDER = Path("results/constraints/raw/mixed")
LEAST_LIMITS = 3
_SAMPLES = 2000  # of the box, by which the limits are ordered


@dataclass(frozen=True)
class Kinds:
    """Places of the limits that are told before, that raise, and that are reported."""

    known: int
    hidden: int
    reported: tuple[int, ...]


def kinds(of: Constrained) -> Kinds:
    """By the share of the box that each limit forbids."""
    lower, upper = np.asarray(of.base.lower), np.asarray(of.base.upper)
    x = lower + np.random.default_rng(0).random((_SAMPLES, len(lower))) * (upper - lower)
    with np.errstate(all="ignore"):
        forbidden = [float(np.mean(~(excess <= 0.0))) for excess in of.excess(x).values()]
    order = np.argsort(-np.asarray(forbidden), kind="stable").tolist()
    return Kinds(order[2], order[1], tuple(sorted([order[0], *order[3:]])))


def names() -> list[str]:
    """The problems that have enough limits."""
    return [name for name in NAMES if len(problem(name).causes) >= LEAST_LIMITS]


def _mixed(evaluate: Evaluator, seed: int) -> None:
    """surefoot, told of one limit, with one that raises; the others are reported."""
    assert isinstance(evaluate.problem, Constrained)
    told, limits, own = evaluate.problem, evaluate.limits, kinds(evaluate.problem)

    def allowed(point: dict[str, float]) -> float:
        with np.errstate(all="ignore"):
            return -float(told.excess(np.asarray(list(point.values())))[limits[own.known]])

    def fun(x: np.ndarray) -> dict[str, float]:
        y, excess = evaluate(x)
        if not excess[own.hidden] <= 0.0:
            raise RuntimeError(limits[own.hidden])
        return {"value": y, **{limits[j]: excess[j] for j in own.reported}}

    surefoot.minimize(
        fun,
        evaluate.bounds,
        n_evals=evaluate.budget,
        seed=seed,
        max_failures=None,
        objective="value",
        constraints={limits[own.known]: allowed},
        outputs={limits[j]: "<= 0" for j in own.reported},
    )


def _all_hidden(evaluate: Evaluator, seed: int) -> None:
    """surefoot, where every limit raises, with its name."""

    def fun(x: np.ndarray) -> float:
        y, excess = evaluate(x)
        for name, value in zip(evaluate.limits, excess, strict=True):
            if not value <= 0.0:
                raise RuntimeError(name)
        return y

    surefoot.minimize(fun, evaluate.bounds, n_evals=evaluate.budget, seed=seed, max_failures=None)


WAYS: dict[str, Solver] = {
    "mixed": _mixed,
    "all hidden": _all_hidden,
    "random": SOLVERS["random"][0],
}


def run_case(name: str, way: str, seed: int, folder: Path, budget: int = BUDGET) -> None:
    """One run, unless its file is there."""
    path = folder / f"{name} {way} {seed}.json".replace(" ", "_").replace(",", "")
    if path.exists():
        return
    of = problem(name)
    evaluate, own = Evaluator(of, budget), kinds(of)
    start = time.process_time()
    with warnings.catch_warnings(), contextlib.suppress(Spent):
        warnings.simplefilter("ignore")
        WAYS[way](evaluate, seed)
    outside = ~(np.asarray(evaluate.excesses) <= 0.0)
    told = {
        "problem": name,
        "way": way,
        "seed": seed,
        "seconds": time.process_time() - start,
        "known violated": int(outside[:, own.known].sum()),
        "hidden violated": int(outside[:, own.hidden].sum()),
        "gaps": [f"{gap:.3e}" for gap in evaluate.gaps(0.0)],
    }
    write_whole(path, json.dumps(told))
    print(f"{name}, {way}, seed {seed}: {told['gaps'][-1]} ({told['seconds']:.0f} s)", flush=True)


def table(folder: Path) -> str:
    """Markdown: what is known and hidden in each problem, then each way on each problem and on all."""
    rows: list[dict[str, Any]] = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    lines = ["| problem | told before | raises | reported |", "|---|---|---|---|"]
    for name in names():
        own, causes = kinds(problem(name)), problem(name).causes
        reported = ", ".join(causes[j] for j in own.reported)
        lines.append(f"| {name} | {causes[own.known]} | {causes[own.hidden]} | {reported} |")
    lines += [
        "",
        "| problem | way | runs | median gap at 50 | at 100 | feasible | gap <= 1e-3 | <= 1e-6 "
        "| evaluations that violate the known one | the hidden one | median s |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in [*names(), "all"]:
        for way in WAYS:
            own_rows = [row for row in rows if row["way"] == way and name in (row["problem"], "all")]
            if own_rows:
                lines.append(f"| {name} | {way} | {_told(own_rows, median=name != 'all')} |")
    return "\n".join(lines)


def _told(rows: list[dict[str, Any]], median: bool) -> str:
    """The cells of some runs."""
    gaps = np.asarray([row["gaps"] for row in rows], float)
    at = [f"{gap:.1e}" if np.isfinite(gap) else "none" for gap in np.median(gaps[:, [49, -1]], axis=0)]
    counts = [np.isfinite(gaps[:, -1]), gaps[:, -1] <= 1e-3, gaps[:, -1] <= 1e-6]
    violated = [sum(row[f"{kind} violated"] for row in rows) for kind in ("known", "hidden")]
    seconds = f"{np.median([row['seconds'] for row in rows]):.0f}"
    cells = [len(rows), *(at if median else ["", ""]), *(int(count.sum()) for count in counts), *violated, seconds]
    return " | ".join(map(str, cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--problems", default=";".join(names()), help="names, with ; between them")
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    if given.what == "run":
        given.folder.mkdir(parents=True, exist_ok=True)
        for seed in range(given.seeds):
            for name in given.problems.split(";"):
                for way in given.ways.split(","):
                    run_case(name, way, seed, given.folder)
    print(table(given.folder))


if __name__ == "__main__":
    main()
