"""The exact search: screen many candidates, polish the best by quasi-Newton on the log policy.

Candidates  a lattice over the cube, and clouds round the best observations at scales 1e-1 ... 1e-6: a noise-free run
            that converges needs points much closer to the incumbent than a lattice ever has.
Polish      the best of both kinds, by batched projected BFGS. Inputs in `fixed` (those of integers and categories)
            keep the value of their candidate.
Shapes      candidates (R, m, d) in the unit cube; proposals (R, q, d).
"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.acquisition.registry import Policy, Score
from surefoot.acquisition.screening import top_candidates
from surefoot.backend import Array, like, namespace, sq_distances
from surefoot.gp.posterior import Posterior, moments_and_gradients, select_runs
from surefoot.numerics.quasi_newton import Objective, minimize_box

N_STARTS = 4  # from the lattice, and as many from the clouds
_F_TOL = 1e-7  # predicted gain of the log policy at which a polish ends
_MAX_CALLS = 50
_MAX_STEP = 0.3


@dataclass(frozen=True)
class Proposals:
    """Points that locally maximize the policy, best first, and their scores."""

    x: Array  # (R, q, d)
    value: Array  # (R, q)


def policy_of_x(post: Posterior, score: Score) -> Objective:
    """(x, runs) -> minus the score and its gradient in x: the chain rule through (mu, sd), written once."""

    def objective(x: Array, runs: Array | None) -> tuple[Array, Array]:
        xp = namespace(x)
        mu, sd, grad_mu, grad_sd = moments_and_gradients(select_runs(post, runs), x)
        value, by_mu, by_sd = score.select(runs)(mu, sd)
        gradient = by_mu[..., None] * grad_mu + by_sd[..., None] * grad_sd
        good = xp.isfinite(value) & xp.all(xp.isfinite(gradient), axis=-1)
        return xp.where(good, -value, xp.inf), xp.where(good[..., None], -gradient, 0.0)

    return objective


def maximize_by_gradient(
    post: Posterior, policy: Policy, score: Score, f_best: Array, lattice: Array, clouds: Array, free: Array
) -> Proposals:
    """Maximize over the cube from the best of `lattice` and of `clouds`, (R, m, d) each.

    free (d,): 1.0 for inputs that the polish may move.
    """
    xp = namespace(lattice)
    R, _, d = lattice.shape
    starts = []
    for candidates in (lattice, clouds):
        index, _ = top_candidates(post, policy, score, f_best, candidates, N_STARTS)
        starts.append(candidates[like(range(R), index)[:, None], index])
    x0 = xp.concat(starts, axis=1)  # (R, q, d)
    nearest = xp.sqrt(xp.min(sq_distances(x0, post.X), axis=2))  # the length on which the policy varies
    result = minimize_box(
        policy_of_x(post, score),
        x0,
        xp.where(free > 0.0, xp.zeros_like(x0), x0),
        xp.where(free > 0.0, xp.ones_like(x0), x0),
        first_step=xp.clip(0.3 * nearest, 1e-7, 0.1),
        max_step=_MAX_STEP,
        f_tol=_F_TOL,
        max_calls=_MAX_CALLS,
    )
    order = xp.argsort(result.f, axis=1, stable=True)
    rows = like(range(R), order)[:, None]
    return Proposals(x=result.x[rows, order], value=-result.f[rows, order])
