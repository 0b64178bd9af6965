"""What a suggestion is made with: everything that a user asked for or left open, resolved to what is used."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.engine.searches import Search
from surefoot.failures.registry import FailureModel
from surefoot.gp.kernels import Kernel
from surefoot.gp.priors import Prior
from surefoot.gp.surrogate import Family
from surefoot.numerics.designs import Design


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
    kernels: tuple[Kernel, ...]  # of the objective; several: at every cold search the likelier one wins
    warps: tuple[int, ...]  # levels of y's warping (numerics.warping) that compete in the same way; (0,): none
    prior: Prior
    noise: float | None  # standard deviation in the user's units; None: estimated
    min_noise: float  # the least standard deviation that is estimated, over that of the (warped) values
    failures: FailureModel | None  # None: nothing is learned from failures
    imputes: bool  # failures count as the worst value seen
    min_success: float
    by_time: bool  # failures cost what they take; otherwise as much as any evaluation
    min_distance: float

    @property
    def has_known_noise(self) -> bool:
        """Whether repeated evaluations are said to differ."""
        return bool(self.noise)
