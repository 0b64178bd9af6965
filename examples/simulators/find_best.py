"""Search the best value of a simulator's problem with thousands of evaluations: what regret is measured against.

    python find_best.py frame          # writes frame/best.json

Differential evolution begins with the best points of the table, of an earlier search, and of `surefoot run` where it
has been run; Nelder and Mead's simplex ends it. A failure is worse than everything. The value is the best known, not a
proven optimum: call it again and it goes on.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from make_table import HERE, rounded, row_of
from scipy.optimize import differential_evolution, minimize

from surefoot.integrations.optuna import result_of
from surefoot.integrations.optuna_space import engine_space
from surefoot.runs import evaluation
from surefoot.runs.problem import Problem, read_problem
from surefoot.runs.storage import has_studies, load_study, opened

_POPULATION = 30
_WORSE = 1e6  # than every value here


class Search:
    """The problem on the unit cube, and the best row so far."""

    def __init__(self, problem: Problem, earlier: dict[str, Any]) -> None:
        self.given = problem
        self.earlier = earlier  # the file of an earlier search; empty: there was none
        self.problem = replace(problem, name=f"{problem.name}.best")
        self.space = engine_space(problem.parameters)
        self.n = 0
        self.best: dict[str, Any] = {}

    def __call__(self, unit: np.ndarray) -> float:
        """The value at a point, or what is worse than all of them."""
        x = dict(zip(self.space.names, map(rounded, self.space.decode(np.clip(unit, 0, 1))), strict=True))
        row = row_of(self.problem, self.n, x)
        self.n += 1
        if row["status"] != "ok":
            return _WORSE
        value = row[self.problem.evaluator.name]
        if value < self.best.get("value", math.inf):
            self.best = {"value": value, "x": x}
            print(f"{self.n:6d}  {value:.6g}", flush=True)
        return float(value)

    @property
    def seed(self) -> int:
        """Another one for each search that goes on."""
        return int(self.earlier.get("evaluations", 1))

    def units(self, table: Path) -> np.ndarray:
        """The best points of the table."""
        with gzip.open(table, "rt") as file:
            rows = [row for row in csv.DictReader(file) if row["status"] == "ok"]
        rows.sort(key=lambda row: float(row[self.problem.evaluator.name]))
        points = [*self.found_before(), *rows][:_POPULATION]
        return np.array([self.space.encode([float(x[name]) for name in self.space.names]) for x in points])

    def found_before(self) -> list[dict[str, float]]:
        """The best points of an earlier search and of a run of the problem, if there were any."""
        points = [self.earlier["x"]] if self.earlier else []
        place = str(self.given.default_storage)
        if has_studies(place):
            with opened(place) as storage:
                points.append(dict(result_of(load_study(storage, self.given.name)).x))
        return points


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Search the best value of a simulator's problem.")
    parser.add_argument("name", help="a folder beside this script")
    parser.add_argument("--problem", default="problem.toml", help="the problem file in that folder")
    parser.add_argument("--table", default="table.csv.gz", help="its table")
    parser.add_argument("--generations", type=int, default=30, help="of 30 evaluations (30)")
    parser.add_argument("-o", default="best.json", help="the file to write")
    given = parser.parse_args()
    folder = HERE / given.name
    out = folder / given.o
    earlier = json.loads(out.read_text()) if out.exists() else {}
    search = Search(read_problem(folder / given.problem), earlier)
    start = search.units(folder / given.table)
    box = [(0.0, 1.0)] * search.space.d
    found = differential_evolution(
        search, box, init=start, maxiter=given.generations, popsize=1, polish=False, tol=0.0, seed=search.seed
    )
    minimize(search, found.x, method="Nelder-Mead", bounds=box, options={"maxfev": 15 * given.generations})
    shutil.rmtree(search.problem.evaluations_folder, ignore_errors=True)
    evaluation.close()
    n = search.n + earlier.get("evaluations", 0)
    how = "differential evolution from the best of the table and of a run, then Nelder and Mead's simplex"
    out.write_text(json.dumps({**search.best, "how": how, "evaluations": n}, indent=1) + "\n")


if __name__ == "__main__":
    main()
