"""Proposals on the limits of outputs: the policy maximized inside them, by SLSQP.

Purpose   An optimum mostly lies on a limit. The product of policy and P(feasible) has its maximum in a gully along it,
          which a quasi-Newton search follows badly. Here the limits are limits: the policy, without P(feasible), is
          maximized where mu +- SPARE sd of every output is inside. SPARE sd shrink to rounding where the
          processes are sure, so that proposals come as near to a limit as it is known.
Starts    the best proposals of the product, and the best evaluations.
Shapes    proposals (R, q, d).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.acquisition.maximize import Proposals
from surefoot.acquisition.target import Target
from surefoot.backend import Array, like, namespace, to_host
from surefoot.gp.within import Within
from surefoot.numerics.constrained import Region, maximize_within

SPARE = 2.0
N_PROPOSALS, N_INCUMBENTS = 3, 2  # starts of each kind
_MAX_ITER = 40


def along_limits(target: Target, within: Within, proposals: Proposals, incumbents: Array, free: Array) -> Proposals:
    """The proposals with those inside the limits among them, best first by the target's value.

    The last weight of the target is P(within). incumbents (R, e, d): evaluated points to start from.
    """
    xp = namespace(proposals.x)
    starts = xp.concat([proposals.x[:, :N_PROPOSALS], incumbents], axis=1)
    found = []
    for r in range(starts.shape[0]):
        row = like([r], starts)
        found.append(_of_one_run(target.select(row), within.select(row), to_host(starts[r]), to_host(free)))
    x = xp.concat([proposals.x, like(np.stack(found), starts)], axis=1)
    value = xp.concat([proposals.value, target.values(x[:, proposals.x.shape[1] :])], axis=1)
    value = xp.where(xp.isnan(value), -xp.inf, value)
    order = xp.argsort(-value, axis=1, stable=True)
    rows = like(range(x.shape[0]), x)[:, None]
    return Proposals(x[rows, order], value[rows, order])


def _of_one_run(target: Target, within: Within, starts: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Where SLSQP comes to from each start (q, d)."""
    policy = replace(target, weights=target.weights[:-1])
    reference = target.f_best

    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = policy.values_and_gradients(like(x[None, None], reference))
        return float(value[0, 0]), to_host(gradient)[0, 0]

    def smooth(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slack, gradient = within.slack_and_gradient(like(x[None, None], reference), SPARE)
        return to_host(slack)[0, 0][limited], to_host(gradient)[0, 0][limited]

    sides = namespace(reference).concat([within.lower, within.upper])[:, 0]
    limited = np.isfinite(to_host(sides))
    X = to_host(target.surrogate.X)[0]
    nearest = np.sqrt(((starts[:, None] - X) ** 2).sum(axis=2))
    nearest = np.where(nearest > 0.0, nearest, np.inf).min(axis=1)
    found = list(starts)
    for i, (start, near) in enumerate(zip(starts, nearest, strict=True)):
        region = Region(np.where(free, 0.0, start), np.where(free, 1.0, start), smooth=smooth)
        ended = maximize_within(function, start[None], region, np.clip([0.3 * near], 1e-7, 0.1), _MAX_ITER)
        found[i] = ended.x[0]
    return np.asarray(found)
