"""The optimistic policy LCB [NH18, section 2.2]. Not positive, hence not in log space."""

from __future__ import annotations

from surefoot.acquisition.improvement import Partials
from surefoot.backend import Array, namespace

KAPPA = 2.0  # [NH18, section 4], after Turner et al. 2012


def lcb(mu: Array, sd: Array, kappa: float = KAPPA) -> Partials:
    """-(mu - kappa sd): the best case that is still plausible."""
    ones = namespace(mu).ones_like(mu)
    return kappa * sd - mu, -ones, kappa * ones
