"""Proposals on the limits of outputs: the policy maximized inside them, by SLSQP.

Purpose   An optimum mostly lies on a limit. The product of policy and P(feasible) has its maximum in a gully along it,
          which a quasi-Newton search follows badly. Here the limits are limits: the policy, without P(feasible), is
          maximized where mu +- SPARE sd of every output is inside. SPARE sd shrink to rounding where the
          processes are sure: proposals come as near to a limit as it is known.
Mean      From the best evaluation the policy is maximized in steps that do not depend on how near others lie, and the
          posterior mean is minimized too, with MEAN_SPARE sd. On a limit the objective has a slope, and the mean tells
          it where all that is left to be gained is less than sd, which rounding keeps from falling.
Choice    Both kinds of proposals compete by the product. Where nothing feasible is known the product is P(feasible)
          alone, and so is what SLSQP maximizes.
Shapes    proposals (R, q, d).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.acquisition.maximize import Proposals
from surefoot.acquisition.target import Target
from surefoot.backend import Array, like, namespace, to_host
from surefoot.engine.domain import Domain
from surefoot.engine.inside import Slice
from surefoot.gp.within import Within
from surefoot.numerics.constrained import Function, Region, maximize_within

SPARE, MEAN_SPARE = 2.0, 1.0
POLISH_CALLS = 20  # of the product's own search, which need not end where SLSQP goes on
N_INCUMBENTS = 1  # evaluations to start from,
_N_PROPOSALS = 2  # and proposals
_MAX_ITER, _ACCURACY = 25, 1e-6
_STEP_FROM_BEST, _ACCURACY_FROM_BEST = 0.01, 1e-8


def along_limits(target: Target, within: Within, proposals: Proposals, incumbents: Array, domain: Domain) -> Proposals:
    """The proposals with those inside the limits among them, best first by the target's value.

    The last weight of the target is P(within). incumbents (R, e, d): evaluated points to start from.
    """
    xp = namespace(proposals.x)
    starts = xp.concat([proposals.x[:, :_N_PROPOSALS], incumbents], axis=1)
    found = []
    for r in range(starts.shape[0]):
        row = like([r], starts)
        found.append(_of_one_run(target.select(row), within.select(row), to_host(starts[r]), domain))
    x = xp.concat([proposals.x, like(np.stack(found), starts)], axis=1)
    value = xp.concat([proposals.value, target.values(x[:, proposals.x.shape[1] :])], axis=1)
    value = xp.where(xp.isnan(value), -xp.inf, value)
    order = xp.argsort(-value, axis=1, stable=True)
    rows = like(range(x.shape[0]), x)[:, None]
    return Proposals(x[rows, order], value[rows, order])


def _of_one_run(target: Target, within: Within, starts: np.ndarray, domain: Domain) -> np.ndarray:
    """Where SLSQP comes to from each start (q, d), the incumbents last."""
    policy, reference = replace(target, weights=target.weights[:-1]), target.f_best
    limited = np.isfinite(np.concatenate([to_host(within.lower), to_host(within.upper)])[:, 0])

    def log_policy(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = policy.values_and_gradients(like(x[None, None], reference))
        return float(value[0, 0]), to_host(gradient)[0, 0]

    def minus_mean(x: np.ndarray) -> tuple[float, np.ndarray]:
        mu, _, slope, _ = target.surrogate.moments_and_gradients(like(x[None, None], reference))
        return -float(mu[0, 0]), -to_host(slope)[0, 0]

    def climbed(function: Function, start: np.ndarray, step: float, spare: float, accuracy: float) -> np.ndarray:
        def smooth(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            slack, gradient = within.slack_and_gradient(like(x[None, None], reference), spare)
            return to_host(slack)[0, 0][limited], to_host(gradient)[0, 0][limited]

        steps, free = np.asarray([step]), domain.free
        if domain.region is None:
            region = Region(np.where(free, 0.0, start), np.where(free, 1.0, start), smooth=smooth)
            return np.asarray(maximize_within(function, start[None], region, steps, _MAX_ITER, accuracy).x[0])
        part = Slice(domain.snap(start[None])[0], domain.region)  # known constraints hold too
        own, origin = part.seen(function), part.origin[None]
        ended = maximize_within(own, origin, part.limits(smooth), steps, _MAX_ITER, accuracy)
        return np.asarray(domain.snap(part.unit(ended.x[0])[None])[0])

    X, found = to_host(target.surrogate.X)[0], []
    for start in starts[:_N_PROPOSALS]:
        gaps = np.sqrt(np.sum((X - start) ** 2, axis=1))
        nearest = float(np.min(gaps, where=gaps > 0.0, initial=1.0))  # the length on which a policy varies
        found.append(climbed(log_policy, start, min(max(0.3 * nearest, 1e-7), 0.1), SPARE, _ACCURACY))
    for start in starts[_N_PROPOSALS:]:
        for function, spare in ((log_policy, SPARE), (minus_mean, MEAN_SPARE)):
            found.append(climbed(function, start, _STEP_FROM_BEST, spare, _ACCURACY_FROM_BEST))
    return np.asarray(found)
