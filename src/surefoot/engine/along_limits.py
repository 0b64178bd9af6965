"""Proposals on the limits of outputs: the policy maximized inside them.

Purpose   An optimum mostly lies on a limit. The product of policy and P(feasible) has its maximum in a gully along it,
          which a quasi-Newton search follows badly. Here the limits are limits: the policy, without P(feasible), is
          maximized where mu +- SPARE sd of every output is inside. SPARE sd shrink to rounding where the
          processes are sure: proposals come as near to a limit as it is known.
Mean      From the best evaluation the policy is maximized in steps that do not depend on how near others lie, and the
          posterior mean is minimized too, with MEAN_SPARE sd. On a limit the objective has a slope, and the mean tells
          it where all that is left to be gained is less than sd, which rounding keeps from falling. This search ends
          when a step gains little beside the improvement that is expected of the first proposal.
Turns     Searches are dear, so some take turns: from the second proposal or from the best evaluation by the policy, and
          the mean with the one or the other MEAN_SPARES.
Choice    Both kinds of proposals compete by the product. Where nothing feasible is known the product is P(feasible)
          alone, and so is what is maximized here.
Shapes    proposals (R, q, d).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.acquisition.improvement import log_ei
from surefoot.acquisition.maximize import Proposals
from surefoot.acquisition.target import Target
from surefoot.backend import Array, like, namespace, to_host
from surefoot.engine.domain import Domain
from surefoot.engine.inside import Slices, lengths
from surefoot.gp.within import Within
from surefoot.numerics.constrained import Region, maximize_within

SPARE, MEAN_SPARES = 2.0, (1.0, 0.0)
POLISH_CALLS = 3  # of the product's own search, which need not end where this one goes on
POLISHED = 2  # starts of that search, from the lattice and as many from the clouds
_MAX_ITER = 30
_BENT_AWAY = 0.1  # the log policy mostly bends upwards on the way to a maximum
_STEP_FROM_BEST = 0.01
_BY_MEAN = 2  # place of the search by the mean
_MEAN_SHARE = 1e-3  # of the expected improvement at the first proposal: a step that gains less is not worth it
_ACCURACY, _MEAN_ACCURACY = 1e-2, 1e-8  # of the log policy; of the mean, in units of the process


def along_limits(target: Target, within: Within, proposals: Proposals, incumbent: Array, domain: Domain) -> Proposals:
    """The proposals with those inside the limits among them, best first by the target's value.

    The last weight of the target is P(within). incumbent (R, d): the best evaluated point.
    """
    xp = namespace(proposals.x)
    turn = int(target.surrogate.X.shape[1]) % 2
    second = incumbent if turn else proposals.x[:, 1]
    starts = xp.stack([proposals.x[:, 0], second, incumbent], axis=1)
    found = []
    R = starts.shape[0]
    for r in range(R):
        row = None if R == 1 else like([r], starts)
        found.append(_of_one_run(target.select(row), within.select(row), to_host(starts[r]), domain, turn))
    x = xp.concat([proposals.x, like(np.stack(found), starts)], axis=1)
    value = xp.concat([proposals.value, target.values(x[:, proposals.x.shape[1] :])], axis=1)
    value = xp.where(xp.isnan(value), -xp.inf, value)
    order = xp.argsort(-value, axis=1, stable=True)
    rows = like(range(x.shape[0]), x)[:, None]
    return Proposals(x[rows, order], value[rows, order])


def _of_one_run(target: Target, within: Within, starts: np.ndarray, domain: Domain, turn: int) -> np.ndarray:
    """Where the searches from the starts (3, d) end: two by the policy, and one by the mean."""
    policy, reference = replace(target, weights=target.weights[:-1]), target.f_best
    limited = np.flatnonzero(np.isfinite([to_host(within.lower), to_host(within.upper)])).tolist()
    spare = np.asarray([SPARE, SPARE, MEAN_SPARES[turn]])
    n_near = 1 if turn else 2
    steps = np.full(3, _STEP_FROM_BEST)
    steps[:n_near] = lengths(target, starts[:n_near])
    first = like(starts[None, :1], reference)
    hoped = float(np.exp(to_host(log_ei(*target.surrogate.moments(first), target.f_best)[0]))[0, 0])
    accuracy = np.asarray([_ACCURACY, _ACCURACY, max(_MEAN_ACCURACY, _MEAN_SHARE * hoped)])

    def wanted(x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        by_mean = rows == _BY_MEAN
        value, gradient = _policy_or_mean(policy, like(x[None], reference), like(by_mean[None], reference))
        return to_host(value)[0], to_host(gradient)[0]

    def slack(x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, gradient = within.slack_and_gradient(like(x[None], reference), like(spare[rows], reference), limited)
        return to_host(value)[0], to_host(gradient)[0]

    ends = _MAX_ITER, accuracy, _BENT_AWAY
    if domain.region is None:
        fixed = np.where(domain.free, 0.0, starts), np.where(domain.free, 1.0, starts)
        return maximize_within(wanted, starts, Region(*fixed, smooth=slack), steps, *ends).x
    parts = Slices(domain.snap(starts), domain.region)  # known constraints hold too
    ended = maximize_within(parts.seen(wanted), parts.origins, parts.limits(slack), steps, *ends)
    return np.asarray(domain.snap(parts.units(ended.x, np.arange(len(starts)))))


def _policy_or_mean(policy: Target, x: Array, by_mean: Array) -> tuple[Array, Array]:
    """The policy at x and its gradient, or where `by_mean` (R, m) minus the mean and its gradient."""
    xp = namespace(x)
    mu, sd, grad_mu, grad_sd = policy.surrogate.moments_and_gradients(x)
    if bool(xp.all(by_mean)):
        return -mu, -grad_mu
    value, gradient = policy.values_and_gradients(x, (mu, sd, grad_mu, grad_sd))
    return xp.where(by_mean, -mu, value), xp.where(by_mean[..., None], -grad_mu, gradient)
