"""Test problems with hidden constraints of known shape, made from the paper's functions.

A problem fails where `fails(x)` is true; nothing tells the optimizer. `share` is the part of the box that fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from surefoot.errors import UnknownNameError
from surefoot.paper.problems import Problem, get

Region = Callable[[np.ndarray], np.ndarray]  # x (..., d) -> bool (...)


@dataclass(frozen=True)
class Constrained:
    """A problem, where it fails, and the least value where it does not."""

    name: str
    base: Problem
    fails: Region
    structured: bool  # False: failures carry no information

    def share(self, n: int = 100_000) -> float:
        """The part of the box that fails, by Monte Carlo."""
        return float(np.mean(self.fails(_sample(self.base, n))))

    @property
    def f_star(self) -> float:
        """The least value on the part of the box that does not fail."""
        return _feasible_minimum(self.name)


def _sample(base: Problem, n: int, seed: int = 0) -> np.ndarray:
    low, high = np.asarray(base.lower), np.asarray(base.upper)
    return np.asarray(low + np.random.default_rng(seed).random((n, base.d)) * (high - low))


def _discs(centres: Sequence[tuple[float, ...]], radius: float) -> Region:
    def fails(x: np.ndarray) -> np.ndarray:
        gaps = [np.linalg.norm(x - np.asarray(centre), axis=-1) for centre in centres]
        return np.asarray(np.min(gaps, axis=0) < radius)

    return fails


def _half_space(base: Problem, share: float) -> Region:
    """A plane that cuts off this share of the unit cube, on the side away from the minimizer."""
    low, high = np.asarray(base.lower), np.asarray(base.upper)
    best = (np.asarray(base.minimizers[0]) - low) / (high - low)
    normal = np.where(best < 0.5, 1.0, -1.0) * np.linspace(1.0, 0.5, base.d)
    cut = np.quantile(((_sample(base, 200_000) - low) / (high - low)) @ normal, 1.0 - share)
    return lambda x: np.asarray(((x - low) / (high - low)) @ normal > cut)


def _valley(width: float) -> Region:
    return lambda x: np.asarray(np.abs(x[..., 1] - x[..., 0] ** 2) > width)


def _random(share: float) -> Region:
    """Failures that depend on x in no way that could be learned, and yet are the same for the same x."""

    def fails(x: np.ndarray) -> np.ndarray:
        hashed = np.sin(x @ (1e4 * (1.0 + np.arange(x.shape[-1]) * 0.37))) * 43758.5453
        return np.asarray(hashed - np.floor(hashed) < share)

    return fails


@cache
def catalogue() -> dict[str, Constrained]:
    """All problems with hidden constraints, by name."""
    bra, cam, hm3, ros = get("BRA"), get("CAM"), get("HM3"), get("ROS")
    holes = [bra.minimizers[1], bra.minimizers[2], (0.0, 6.5), (7.0, 9.0)]  # one of three minima is left
    found = [Constrained("BRA discs", bra, _discs(holes, 2.2), True)]
    found += [
        Constrained(f"HM3 half-space {round(100 * s)} %", hm3, _half_space(hm3, s), True) for s in (0.1, 0.3, 0.5, 0.8)
    ]
    found.append(Constrained("ROS valley", ros, _valley(3.0), True))
    found.append(Constrained("CAM hidden optimum", cam, _discs(list(cam.minimizers), 0.4), True))
    found.append(Constrained("BRA random 20 %", bra, _random(0.2), False))
    found.append(Constrained("HM3 random 50 %", hm3, _random(0.5), False))
    return {problem.name: problem for problem in found}


def get_constrained(name: str) -> Constrained:
    """The problem of that name."""
    if name not in catalogue():
        names = ", ".join(map(repr, catalogue()))
        raise UnknownNameError(f"expected a problem among {names}; got {name!r}; try 'BRA discs'")
    return catalogue()[name]


@cache
def _feasible_minimum(name: str) -> float:
    """By a dense sample and shrinking random steps round its best; exact where the known minimizer is allowed."""
    problem = get_constrained(name)
    base = problem.base
    assert base.f_star is not None  # true of the paper's functions
    if not problem.structured or not bool(np.all(problem.fails(np.asarray(base.minimizers)))):
        return base.f_star
    low, high = np.asarray(base.lower), np.asarray(base.upper)
    x = _sample(base, 200_000)
    x = x[~problem.fails(x)]
    best = x[np.argsort(base(x))[:30]]
    rng = np.random.default_rng(1)
    for scale in 10.0 ** -np.linspace(1.0, 9.0, 60):
        steps = np.clip(best[:, None] + scale * (high - low) * rng.standard_normal((len(best), 300, base.d)), low, high)
        steps = np.concatenate([best[:, None], steps], axis=1)
        values = np.where(problem.fails(steps), np.inf, base(steps))
        best = steps[np.arange(len(best)), np.argmin(values, axis=1)]
    return float(np.min(base(best)))
