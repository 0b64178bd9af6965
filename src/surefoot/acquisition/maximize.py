"""The exact search: screen many candidates, polish the best by quasi-Newton on the log policy.

Candidates  a lattice over the cube, and clouds round the best observations at scales 1e-1 ... 1e-6: a noise-free run
            that converges needs points much closer to the incumbent than a lattice ever has.
Polish      the best of both kinds, by batched projected BFGS. Inputs that are not free (those of integers and
            categories) keep the value of their candidate.
Shapes      candidates (R, m, d) in the unit cube; proposals (R, q, d).
"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.acquisition.screening import top_candidates
from surefoot.acquisition.target import Target
from surefoot.backend import Array, clip, like, namespace, sq_distances
from surefoot.numerics.quasi_newton import Rules, minimize_box

N_STARTS = 4
_F_TOL = 1e-6  # predicted gain of the log policy at which a polish ends
_MAX_CALLS = 50
_MAX_STEP = 0.3


@dataclass(frozen=True)
class Polish:
    """How many candidates are polished, and how long."""

    n_starts: int = N_STARTS  # from the lattice, and as many from the clouds
    max_calls: int = _MAX_CALLS


@dataclass(frozen=True)
class Proposals:
    """Points that locally maximize the policy, best first, their values, and where the search for each began."""

    x: Array  # (R, q, d)
    value: Array  # (R, q)
    start: Array | None = None  # (R, q, d)


def maximize_by_gradient(
    target: Target, lattice: Array, clouds: Array, free: Array, polish: Polish | None = None
) -> Proposals:
    """Maximize over the cube from the best of `lattice` and of `clouds`, (R, m, d) each.

    free (d,): True for inputs that the polish may move.
    """
    xp = namespace(lattice)
    polish = Polish() if polish is None else polish
    rows = like(range(lattice.shape[0]), lattice)[:, None]
    best = [(candidates, top_candidates(target, candidates, polish.n_starts)[0]) for candidates in (lattice, clouds)]
    starts = [candidates[rows, index] for candidates, index in best]
    return climb(target, xp.concat(starts, axis=1), free, polish.max_calls)


def climb(target: Target, x0: Array, free: Array, max_calls: int = _MAX_CALLS) -> Proposals:
    """The local maxima that a polish from x0 (R, q, d) leads to, best first; free as above."""
    xp = namespace(x0)
    rows = like(range(x0.shape[0]), x0)[:, None]
    nearest = xp.sqrt(xp.min(sq_distances(x0, target.surrogate.X), axis=2))  # the length on which a policy varies

    def negated(x: Array, runs: Array | None) -> tuple[Array, Array]:
        value, gradient = target.select(runs).values_and_gradients(x)
        good = xp.isfinite(value) & xp.all(xp.isfinite(gradient), axis=-1)
        return xp.where(good, -value, xp.inf), xp.where(good[..., None], -gradient, 0.0)

    result = minimize_box(
        negated,
        x0,
        xp.where(free, 0.0, x0),
        xp.where(free, 1.0, x0),
        Rules(
            first_step=clip(0.3 * nearest, 1e-7, 0.1),
            max_step=_MAX_STEP,
            f_tol=_F_TOL,
            max_calls=max_calls,
            race=True,
            max_backtracks=4,  # in a refined region sd is known to a few digits only: rounding stops a search
        ),
    )
    order = xp.argsort(result.f, axis=1, stable=True)
    return Proposals(x=result.x[rows, order], value=-result.f[rows, order], start=x0[rows, order])
