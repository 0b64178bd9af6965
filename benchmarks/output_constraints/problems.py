"""The problems: those of the study of hidden limits, with the values of their limits told, and a wider welded beam.

Each limit is "excess <= 0". Optima are those of the study (found again by its tests). An evaluation counts as feasible
if no excess is above the tolerance: 0, or LOOSE for optimizers that ask for no more.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.output_constraints.bbob import Bbob
from surefoot.paper.studies.failures.constrained import get_constrained
from surefoot.paper.studies.failures.record import Constrained

LOOSE = 1e-4
WIDE = "welded beam, wide box"
NAMES = (
    "welded beam", WIDE, "spring", "pressure vessel", "speed reducer", "three-bar truss", "cantilever",
    "g04", "g06", "g07", "g08", "g09", "g24", "Gramacy",
)  # fmt: skip


class Spent(BaseException):
    """The budget is spent; no optimizer may catch it as a failure."""


def problem(name: str) -> Constrained:
    """The problem of that name."""
    if name != WIDE:
        return get_constrained(name)
    beam = get_constrained("welded beam")
    return replace(beam, name=WIDE, base=replace(beam.base, upper=(10.0,) * 4))


@dataclass
class Evaluator:
    """A problem that counts its evaluations, and ends a run when the budget or the processor time is spent."""

    problem: Constrained | Bbob
    budget: int
    seconds: float = math.inf  # of the processor, after which the run ends with fewer evaluations
    values: list[float] = field(default_factory=list)
    excesses: list[list[float]] = field(default_factory=list)
    start: float = field(default_factory=time.process_time)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Of the box."""
        return list(zip(self.problem.base.lower, self.problem.base.upper, strict=True))

    @property
    def limits(self) -> tuple[str, ...]:
        """The names of the limits."""
        return self.problem.causes

    def __call__(self, x: np.ndarray) -> tuple[float, list[float]]:
        """The value at x, and the excess of each limit."""
        if len(self.values) >= self.budget or time.process_time() - self.start > self.seconds:
            raise Spent
        low, high = np.asarray(self.problem.base.lower), np.asarray(self.problem.base.upper)
        x = np.clip(np.asarray(x, dtype=float), low, high)
        with np.errstate(all="ignore"):
            y = float(self.problem.base(x))
            excess = [float(v) for v in self.problem.excess(x).values()]
        self.values.append(y)
        self.excesses.append(excess)
        return y, excess

    def best(self, tolerance: float) -> np.ndarray:
        """(budget,) the best feasible value after each evaluation; infinite before the first."""
        outside = np.nan_to_num(np.asarray(self.excesses).reshape(len(self.values), -1), nan=np.inf).max(axis=1)
        values = np.where((outside <= tolerance) & np.isfinite(self.values), self.values, np.inf)
        best = np.minimum.accumulate(values)
        return np.concatenate([best, np.full(self.budget - len(best), best[-1] if len(best) else np.inf)])

    def gaps(self, tolerance: float) -> np.ndarray:
        """(best feasible value so far - f_star)/|f_star| after each evaluation; infinite before the first."""
        assert isinstance(self.problem, Constrained)  # the optimum of the others is not known
        return np.asarray((self.best(tolerance) - self.problem.f_star) / abs(self.problem.f_star))


Solver = Callable[[Evaluator, int], None]
"""An optimizer: it evaluates until `Spent` is raised; the integer is the seed."""
