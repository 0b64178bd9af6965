"""The 54 functions of bbob-constrained [COCO], as problems whose optimum is not told.

Each limit is "excess <= 0"; optimizers are compared by their best feasible value, as ranks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

FUNCTIONS = range(1, 55)
DIMENSIONS = (2, 3, 5, 10)


def kind(function: int) -> str:
    """Of the six functions with each objective: whether their limits are linear or oscillate, and have many minima.

    Where they oscillate the slopes of objective and limits change with the logarithm of the distance to the optimum.
    """
    objective = (function - 1) // 6  # sphere, ellipsoid, slope, ellipsoid, discus, cigar, powers, Rastrigin twice
    return "linear limits" if objective in (0, 2, 6) else "oscillating" if objective < 7 else "oscillating, many minima"


@dataclass(frozen=True)
class _Box:
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    function: Any = field(repr=False)

    def __call__(self, x: np.ndarray) -> float:
        return float(self.function(x))


@dataclass(frozen=True)
class Bbob:
    """One function of the suite: what an `Evaluator` asks of a problem."""

    name: str
    base: _Box
    causes: tuple[str, ...]
    suite: Any = field(repr=False)  # it owns the function

    def excess(self, x: np.ndarray) -> dict[str, float]:
        """By limit."""
        return dict(zip(self.causes, map(float, self.base.function.constraint(x)), strict=True))


def bbob(function: int, d: int, instance: int) -> Bbob:
    """One problem; needs coco-experiment."""
    from cocoex import Suite

    options = f"dimensions: {d} instance_indices: {instance} function_indices: {function}"
    suite = Suite("bbob-constrained", "", options)
    own = suite.get_problem(0)
    box = _Box(tuple(map(float, own.lower_bounds)), tuple(map(float, own.upper_bounds)), own)
    causes = tuple(f"g{j}" for j in range(own.number_of_constraints))
    return Bbob(f"f{function:02d} d{d} i{instance}", box, causes, suite)
