"""What one step of R runs offers to a policy."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.acquisition.optimistic import KAPPA
from surefoot.backend import Array
from surefoot.gp.surrogate import Surrogate
from surefoot.numerics.designs import Generators


@dataclass(frozen=True)
class Step:
    """The model of R runs, their incumbents and random numbers."""

    surrogate: Surrogate
    f_best: Array  # (R, 1)
    generators: Generators
    kappa: float = KAPPA
    places: Array | None = None  # (R, m, d) where the minimum is known to be, for ES and PES; None: anywhere
