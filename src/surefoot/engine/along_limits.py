"""Proposals on the limits of outputs: the policy maximized inside them.

Purpose   An optimum mostly lies on a limit. The product of policy and P(feasible) has its maximum in a gully along it,
          which a quasi-Newton search follows badly. Here the limits are limits: the policy, without P(feasible), is
          maximized where mu +- SPARE sd of every output is inside. SPARE sd shrink to rounding where the
          processes are sure: proposals come as near to a limit as it is known.
Mean      From the best evaluation the policy is maximized in steps that do not depend on how near others lie, and the
          posterior mean is minimized too, with MEAN_SPARE sd. On a limit the objective has a slope, and the mean tells
          it where all that is left to be gained is less than sd, which rounding keeps from falling.
Choice    Both kinds of proposals compete by the product. Where nothing feasible is known the product is P(feasible)
          alone, and so is what is maximized here.
Shapes    proposals (R, q, d).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.acquisition.maximize import Proposals
from surefoot.acquisition.target import Target
from surefoot.backend import Array, like, namespace, to_host
from surefoot.engine.domain import Domain
from surefoot.engine.inside import Slices, lengths
from surefoot.gp.within import Within
from surefoot.numerics.constrained import Region, maximize_within

SPARE, MEAN_SPARES = 2.0, (1.0, 0.0)
POLISH_CALLS = 20  # of the product's own search, which need not end where this one goes on
N_INCUMBENTS = 1  # evaluations to start from,
_N_PROPOSALS = 2  # and proposals
_MAX_ITER = 20
_STEP_FROM_BEST = 0.01
_ACCURACY, _MEAN_ACCURACY = 1e-4, 1e-8  # of the log policy; of the mean, in units of the process


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
    """Where the searches from starts (q, d) end, the incumbents last: from those by the policy, then by the mean."""
    policy, reference = replace(target, weights=target.weights[:-1]), target.f_best
    limited = np.isfinite(np.concatenate([to_host(within.lower), to_host(within.upper)])[:, 0])
    best = starts[_N_PROPOSALS:]
    q, origins = len(starts), np.concatenate([starts, *(best for _ in MEAN_SPARES)])
    spare = np.concatenate([np.full(q, SPARE), np.repeat(MEAN_SPARES, len(best))])
    steps = np.full(len(origins), _STEP_FROM_BEST)
    steps[:_N_PROPOSALS] = lengths(target, starts[:_N_PROPOSALS])
    accuracy = np.where(np.arange(len(origins)) < q, _ACCURACY, _MEAN_ACCURACY)

    def wanted(x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, gradient, by_mean = np.empty(len(x)), np.empty_like(x), rows >= q
        if not by_mean.all():
            log_policy, slope = policy.values_and_gradients(like(x[None, ~by_mean], reference))
            value[~by_mean], gradient[~by_mean] = to_host(log_policy)[0], to_host(slope)[0]
        if by_mean.any():
            mu, _, slope, _ = target.surrogate.moments_and_gradients(like(x[None, by_mean], reference))
            value[by_mean], gradient[by_mean] = -to_host(mu)[0], -to_host(slope)[0]
        return value, gradient

    def slack(x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, gradient = within.slack_and_gradient(like(x[None], reference), like(spare[rows], reference))
        return to_host(value)[0][:, limited], to_host(gradient)[0][:, limited]

    if domain.region is None:
        fixed = np.where(domain.free, 0.0, origins), np.where(domain.free, 1.0, origins)
        return maximize_within(wanted, origins, Region(*fixed, smooth=slack), steps, _MAX_ITER, accuracy).x
    parts = Slices(domain.snap(origins), domain.region)  # known constraints hold too
    ended = maximize_within(parts.seen(wanted), parts.origins, parts.limits(slack), steps, _MAX_ITER, accuracy)
    return np.asarray(domain.snap(parts.units(ended.x, np.arange(len(origins)))))
