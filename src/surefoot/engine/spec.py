"""What a suggestion is made with: everything that a user asked for or left open, resolved to what is used."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from surefoot.engine.searches import Search
from surefoot.failures.registry import FailureModel
from surefoot.gp.hyperparameters import N_OPTIMIZED
from surefoot.gp.kernels import Kernel
from surefoot.gp.priors import Prior
from surefoot.gp.surrogate import Family
from surefoot.numerics.designs import Design


@dataclass(frozen=True)
class Limit:
    """Where an output may lie, in the user's units."""

    lower: float  # -inf: no lower limit
    upper: float
    margin: float = 0.0  # suggestions aim so far inside

    @property
    def centre(self) -> float:
        """Where its differences count most: the limit, or the middle between two."""
        if math.isinf(self.lower) or math.isinf(self.upper):
            return self.upper if math.isinf(self.lower) else self.lower
        return 0.5 * self.lower + 0.5 * self.upper

    def violation(self, values: np.ndarray) -> np.ndarray:
        """How far values lie outside, 0 inside; NaN where a value is."""
        with np.errstate(invalid="ignore"):  # an infinite value within an infinite limit
            below = np.where(values < self.lower, self.lower - values, 0.0)
            above = np.where(values > self.upper, values - self.upper, 0.0)
        return np.where(np.isnan(values), np.nan, below + above)


@dataclass(frozen=True)
class ModelSpec:
    """All that a suggestion depends on beside the domain and the history. Nothing in it is left open."""

    seed: int
    n_init: int
    design: Design
    policy: str
    kappa: float
    search: Search
    surrogate: Family  # of the objective
    kernels: tuple[Kernel, ...]  # of the objective; several: at every cold search the likeliest one wins
    warps: tuple[int, ...]  # levels of y's warping (numerics.warping) that compete in the same way; (0,): none
    prior: Prior
    noise: float | None  # standard deviation in the user's units; None: estimated
    min_noise: float  # the least standard deviation that is estimated, over that of the (warped) values
    failures: FailureModel | None  # None: nothing is learned from failures
    imputes: bool  # failures count as the worst value seen
    min_success: float
    failure_budget: int  # failures that a run may have: P(success) counts more as they are used up; 0: no budget
    by_time: bool  # failures cost what they take; otherwise as much as any evaluation
    min_distance: float
    max_points: int  # evaluations that a process holds; 0: as many as suit the machine
    limits: tuple[Limit, ...] = ()  # of the outputs in `Batch.outputs`
    n_optimized: int = N_OPTIMIZED  # starts that a cold search of hyperparameters optimizes
    piles_vote_once: bool = False  # evaluations on one spot, in the choice of the warp
    restarts: bool = False  # a run that has settled looks for another minimum (restarts.py)

    @property
    def has_known_noise(self) -> bool:
        """Whether repeated evaluations are said to differ."""
        return bool(self.noise)
