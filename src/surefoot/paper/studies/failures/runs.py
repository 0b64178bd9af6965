"""Runs as they lie in a folder: what each strategy reached when, and how often it failed.

Regret    log10 of (best value so far - f_star) / unit; the unit is |f_star|, and 1 on the paper's problems.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from surefoot.paper.statistics import log10_regret
from surefoot.paper.studies.failures.constrained import get_constrained

NEVER = 6.0  # regret of a run without a success: worse than any with one
REGRET, FAILED, FIRST = "log10_regret", "failed_after_design", "first_success"  # columns of limits-runs.csv


def upper_median(values: np.ndarray) -> float:
    """Of an even number the upper of the two in the middle: no mean of a regret and of none."""
    return float(np.quantile(values, 0.5, method="higher"))


@dataclass(frozen=True)
class Runs:
    """What a strategy evaluated on a problem, by seed; some runs may be longer than others."""

    problem: str
    strategy: str
    n_init: int
    values: dict[int, np.ndarray]  # seed -> (n,), NaN where it failed
    policy: str = ""  # "": the library's default
    library: str = ""
    seconds: float = 0.0  # processor time of all of them

    def seeds(self, n: int) -> list[int]:
        """Those of runs with at least n evaluations."""
        return sorted(seed for seed, y in self.values.items() if len(y) >= n)

    def regret(self, n: int, seeds: Sequence[int]) -> np.ndarray:
        """After n evaluations (seeds,)."""
        f_star, unit = self.target
        best = self.best(n, seeds)
        found = log10_regret(best / unit, f_star / unit)
        return np.where(np.isfinite(best), found, NEVER)

    @property
    def all_seeds(self) -> list[int]:
        """Those of all runs."""
        return sorted(self.values)

    @property
    def longest(self) -> int:
        """Evaluations of the longest run."""
        return max(map(len, self.values.values()))

    @property
    def target(self) -> tuple[float, float]:
        """f_star and the unit that regret is counted in."""
        problem = get_constrained(self.problem)
        return problem.f_star, problem.unit

    def best(self, n: int, seeds: Sequence[int]) -> np.ndarray:
        """The least of the first n values (seeds,); inf: none succeeded."""
        return np.asarray([np.min(y, where=~np.isnan(y), initial=np.inf) for y in self._first(n, seeds)])

    def failed(self, n: int, seeds: Sequence[int]) -> np.ndarray:
        """Of the first n evaluations, those after the design that failed (seeds,)."""
        return np.asarray([np.isnan(y[self.n_init :]).sum() for y in self._first(n, seeds)], dtype=float)

    def first_success(self, seeds: Sequence[int]) -> np.ndarray:
        """Evaluations until one succeeded (seeds,); inf: none did."""
        ok = [np.flatnonzero(~np.isnan(self.values[seed])) for seed in seeds]
        return np.asarray([1.0 + found[0] if len(found) else np.inf for found in ok])

    def _first(self, n: int, seeds: Sequence[int]) -> list[np.ndarray]:
        return [self.values[seed][:n] for seed in seeds]


@dataclass(frozen=True)
class Recorded(Runs):
    """What limits-runs.csv has of runs whose files are gone: of each budget the numbers by seed."""

    by_n: Mapping[int, Mapping[str, Mapping[int, float]]] = field(default_factory=dict)  # n -> column -> seed -> number

    def seeds(self, n: int) -> list[int]:
        """Those of runs with n evaluations."""
        return sorted(self.by_n[n][REGRET]) if n in self.by_n else []

    @property
    def all_seeds(self) -> list[int]:
        """Those of all runs."""
        return sorted({seed for columns in self.by_n.values() for seed in columns[REGRET]})

    @property
    def longest(self) -> int:
        """Evaluations of the longest run."""
        return max(self.by_n)

    def regret(self, n: int, seeds: Sequence[int]) -> np.ndarray:
        """As it is recorded."""
        return np.asarray([self.by_n[n][REGRET][seed] for seed in seeds])

    def failed(self, n: int, seeds: Sequence[int]) -> np.ndarray:
        """As it is recorded."""
        return np.asarray([self.by_n[n][FAILED][seed] for seed in seeds])

    def first_success(self, seeds: Sequence[int]) -> np.ndarray:
        """As it is recorded of the longest run."""
        known = {seed: first for n in sorted(self.by_n) for seed, first in self.by_n[n][FIRST].items()}
        return np.asarray([known[seed] for seed in seeds])


def recorded_runs(path: Path, n_init: Callable[[str], int]) -> list[Recorded]:
    """All of a limits-runs.csv; none where there is no such file. n_init: points of a problem's design."""
    if not path.exists():
        return []
    found: dict[tuple[str, str], Recorded] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = problem, strategy = row["problem"], row["strategy"]
            seeds = [int(seed) for seed in row["seeds"].split()]
            numbers = {
                name: dict(zip(seeds, map(float, row[name].split()), strict=True)) for name in (REGRET, FAILED, FIRST)
            }
            library = row.get("library") or ""
            before = found.get(key) or Recorded(problem, strategy, n_init(problem), {}, library=library)
            found[key] = replace(before, by_n={**before.by_n, int(row["n"]): numbers})
    return list(found.values())


def read_runs(folder: Path, problems: Sequence[str], strategies: Sequence[str] = ()) -> list[Runs]:
    """All that the folder holds of these problems and strategies (none: all); of two runs of a seed the longer one."""
    found: dict[tuple[str, str, str], Runs] = {}
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as data:
            if "strategy" not in data:
                continue
            problem, strategy, policy = key = str(data["problem"]), str(data["strategy"]), str(data["policy"])
            if problem not in problems or (strategies and strategy not in strategies):
                continue
            before = found[key] if key in found else Runs(problem, strategy, int(data["n_init"]), {}, policy)
            values = dict(before.values)
            for seed, y in enumerate(data["y"], int(data["seed"])):
                values[seed] = max(y, values.get(seed, y[:0]), key=len)
            library = str(data["library"]) if "library" in data else ""
            seconds = before.seconds + float(data["seconds"])
            found[key] = replace(before, values=values, library=library, seconds=seconds)
    order = {name: i for i, name in enumerate(problems)}
    return sorted(found.values(), key=lambda runs: order[runs.problem])
