"""What is believed of hyperparameters before any data: a penalty added to the negative log likelihood.

Short scales  With length scales far below the distance between points a process explains anything as white noise, and
              every improvement it expects lies beside the incumbent: a search that trusts it creeps. Half a
              normal density on log ell, below SHORT sqrt(d) (distances in the unit cube grow like sqrt(d)) and flat
              above: a function that does vary so quickly says so with a few points more.
Shapes        theta (R, S, p), p = d + 1; penalty (R, S), gradient (R, S, p).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from surefoot.backend import Array, clip, namespace

SHORT = 0.1  # of the unit cube's side, in one dimension
SPREAD = 0.7  # standard deviation of log ell below it

Prior = Callable[[Array], tuple[Array, Array]]  # theta -> penalty and its gradient


def short_scales(theta: Array) -> tuple[Array, Array]:
    """Half a normal density of every log ell."""
    xp = namespace(theta)
    d = theta.shape[-1] - 1
    z = clip((theta[..., :d] - math.log(SHORT * math.sqrt(d))) / SPREAD, None, 0.0)
    return 0.5 * xp.sum(z * z, axis=-1), xp.concat([z / SPREAD, xp.zeros_like(theta[..., d:])], axis=-1)


def none(theta: Array) -> tuple[Array, Array]:
    """Nothing is believed: maximum likelihood."""
    xp = namespace(theta)
    return xp.zeros_like(theta[..., 0]), xp.zeros_like(theta)


PRIORS: dict[str, Prior] = {"short-scales": short_scales, "none": none}
