"""Runs on a simulator as the failures study knows them, against the best value that anybody has found.

Regret    log10 of (best value so far - best known) / |best known|; at least -5, since values have six digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.simulators.problems import best_of_search
from benchmarks.simulators.runner import Case
from surefoot.paper.studies.failures.runs import Runs

LEAST_REGRET = -5.0
Records = Mapping[Case, Mapping[str, Any]]


@dataclass(frozen=True)
class BestKnown:
    """The least value of a problem, and who found it."""

    value: float
    found_by: str


@dataclass(frozen=True)
class SimulatorRuns(Runs):
    """What a strategy evaluated on a simulator, by seed."""

    best_known: float = np.nan
    records: tuple[Mapping[str, Any], ...] = ()

    @property
    def target(self) -> tuple[float, float]:
        """The best known value, and its size."""
        return self.best_known, abs(self.best_known)

    def regret(self, n: int, seeds: Sequence[int]) -> np.ndarray:
        """After n evaluations (seeds,)."""
        return np.maximum(super().regret(n, seeds), LEAST_REGRET)

    def failed_in_design(self, seeds: Sequence[int]) -> np.ndarray:
        """Of the design's evaluations, those that failed (seeds,)."""
        return np.asarray([np.isnan(self.values[seed][: self.n_init]).sum() for seed in seeds], dtype=float)

    def best_so_far(self, seeds: Iterable[int] = ()) -> np.ndarray:
        """After each evaluation (seeds, n), of all seeds unless told; inf: nothing has succeeded yet."""
        runs = [self.values[seed] for seed in seeds or self.values]
        return np.asarray([np.fmin.accumulate(np.where(np.isnan(y), np.inf, y)) for y in runs])

    @property
    def cpu_per_evaluation(self) -> float:
        """Seconds of processor time that the optimizer took for one evaluation, all runs together."""
        n = sum(len(record["values"]) for record in self.records)
        return self.seconds / max(n, 1)


def values_of(record: Mapping[str, Any]) -> np.ndarray:
    """(n,), NaN where it failed."""
    return np.asarray([np.nan if y is None else y for y in record["values"]], dtype=float)


def bests(records: Records) -> dict[str, BestKnown]:
    """Of each problem: the best of all runs and of the example's search, which emulated runs do not know."""
    found: dict[str, BestKnown] = {}
    for case, record in records.items():
        if case.problem not in found and not case.emulated:
            found[case.problem] = BestKnown(best_of_search(case.problem), "the example's search")
        least = float(np.min(values_of(record), where=[y is not None for y in record["values"]], initial=np.inf))
        if case.problem not in found or least < found[case.problem].value:
            found[case.problem] = BestKnown(least, f"{case.strategy}, seed {case.seed}")
    return found


def complete(record: Mapping[str, Any]) -> bool:
    """Whether the run has all its evaluations."""
    return len(record["values"]) == record["n"]


def gathered(records: Records) -> list[SimulatorRuns]:
    """By problem and strategy, in the order in which they came; runs that an error ended are left out."""
    known = bests(records)
    groups: dict[tuple[str, str], dict[int, Mapping[str, Any]]] = {}
    for case, record in records.items():
        if complete(record):
            groups.setdefault((case.problem, case.strategy), {})[case.seed] = record
    found = []
    for (problem, strategy), by_seed in groups.items():
        mine = tuple(by_seed.values())
        found.append(
            SimulatorRuns(
                problem, strategy, mine[0]["n_init"], {seed: values_of(r) for seed, r in sorted(by_seed.items())},
                library=mine[0]["library"], seconds=sum(r["cpu_s"] for r in mine),
                best_known=known[problem].value, records=mine,
            )
        )  # fmt: skip
    return found
