"""What a problem with hidden constraints is: a function on a box, and by which causes it fails where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from surefoot.paper.problems import Problem
from surefoot.paper.problems.record import Array

Excess = Callable[[np.ndarray], dict[str, np.ndarray]]
"""x (..., d) -> by cause, in the order in which a simulator would notice: above 0, or NaN, where it fails for it."""


@dataclass(frozen=True)
class Constrained:
    """A problem, why it fails where, and the least value where it does not; nothing tells the optimizer."""

    name: str
    base: Problem
    excess: Excess
    structured: bool = True  # False: failures carry no information
    least: float | None = None  # f_star, where it is known; None: it is searched for
    best: tuple[float, ...] = ()  # a point that has it
    source: str = ""

    @property
    def causes(self) -> tuple[str, ...]:
        """All of them, in the order in which they are noticed."""
        with np.errstate(all="ignore"):
            return tuple(self.excess(np.asarray(self.base.lower)))

    def cause(self, x: np.ndarray) -> np.ndarray:
        """x (..., d) -> position (...) in `causes` of the first that fails there; -1 where it succeeds."""
        with np.errstate(all="ignore"):
            holds = np.stack([excess <= 0.0 for excess in self.excess(x).values()])
        return np.where(holds.all(axis=0), -1, np.argmin(holds, axis=0))

    def fails(self, x: np.ndarray) -> np.ndarray:
        """x (..., d) -> whether it fails there (...)."""
        return np.asarray(self.cause(x) >= 0)

    def reasons(self, x: np.ndarray) -> np.ndarray:
        """x (..., d) -> the text of the first cause (...), "" where it succeeds."""
        return np.asarray(np.asarray([*self.causes, ""])[self.cause(x)])  # -1 is the last

    def share(self, n: int = 100_000) -> float:
        """The part of the box that fails, by Monte Carlo."""
        return float(np.mean(self.fails(sample(self.base, n))))

    @property
    def f_star(self) -> float:
        """The least value on the part of the box that does not fail."""
        return _feasible_minimum(self) if self.least is None else self.least

    @property
    def unit(self) -> float:
        """What its regret is counted in: |f_star| where objectives have units, 1 for the paper's functions."""
        return 1.0 if self.least is None else abs(self.least)


def limited(
    name: str,
    objective: Callable[[np.ndarray], np.ndarray],
    bounds: Sequence[tuple[float, float]],
    excess: Excess,
    best: Sequence[float],
    least: float,
    source: str,
) -> Constrained:
    """A problem with limits whose best point is known."""
    low, high = zip(*bounds, strict=True)
    base = Problem(name, name, objective, low, high)
    return Constrained(name, base, excess, least=least, best=tuple(best), source=source)


def columns(x: np.ndarray) -> tuple[Array, ...]:
    """x (..., d) -> d arrays (...), to be unpacked into names."""
    return tuple(np.moveaxis(np.asarray(x, dtype=float), -1, 0))


def sample(base: Problem, n: int, seed: int = 0) -> np.ndarray:
    """Uniform points of its box (n, d)."""
    low, high = np.asarray(base.lower), np.asarray(base.upper)
    return np.asarray(low + np.random.default_rng(seed).random((n, base.d)) * (high - low))


@cache
def _feasible_minimum(problem: Constrained) -> float:
    """By a dense sample and shrinking random steps round its best; exact where the known minimizer is allowed."""
    base = problem.base
    assert base.f_star is not None  # true of the paper's functions
    if not problem.structured or not bool(np.all(problem.fails(np.asarray(base.minimizers)))):
        return base.f_star
    low, high = np.asarray(base.lower), np.asarray(base.upper)
    x = sample(base, 200_000)
    x = x[~problem.fails(x)]
    best = x[np.argsort(base(x))[:30]]
    rng = np.random.default_rng(1)
    for scale in 10.0 ** -np.linspace(1.0, 9.0, 60):
        steps = np.clip(best[:, None] + scale * (high - low) * rng.standard_normal((len(best), 300, base.d)), low, high)
        steps = np.concatenate([best[:, None], steps], axis=1)
        values = np.where(problem.fails(steps), np.inf, base(steps))
        best = steps[np.arange(len(best)), np.argmin(values, axis=1)]
    return float(np.min(base(best)))
