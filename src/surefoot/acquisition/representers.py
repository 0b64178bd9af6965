"""Points that stand for all places where the minimum may be, and functions drawn there: what ES and PES start from.

Representers  Minimizers of functions drawn from the posterior, over a lattice, its faces, the best observations and
              clouds round the least mean, or over the places that the step names. Half of them are those hit most
              often; the others are hit at all, so that rare places have theirs; where that is not enough, those follow
              that could be lowest.
Draws         f = mean + L zeta with zeta standard normal, in pairs (zeta, -zeta) or evenly spread; V + jitter = L L'.
              Exact ones: functions made of random features (gp/paths.py) can be too alike where little is left
              to learn.
Shapes        Z (R, M, d), zeta (R, S, M), functions (R, S, M).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from surefoot import backend
from surefoot.acquisition.step import Step
from surefoot.backend import Array, clip, like, namespace
from surefoot.errors import InvalidInputError
from surefoot.gp.joint import Joint
from surefoot.numerics.designs import draw, even_normals, kronecker_with_faces

_N_LATTICE = 500
_N_BEST = 100  # observations among the candidates, at most
_N_PATHS = 512
_CLOUD_SCALES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
_PER_SCALE = 16
_JITTER = 1e-12  # of the largest variance; raised tenfold until V is positive definite


@runtime_checkable
class Jointly(Protocol):
    """A surrogate that knows covariances."""

    def joint(self, points: Array) -> Joint:
        """The process together with its values at some points (R, M, d)."""


def _candidates(step: Step) -> Array:
    """Points among which minimizers are looked for, (R, m, d)."""
    X = step.surrogate.X
    xp = namespace(X)
    rows = like(range(X.shape[0]), X)[:, None]
    d = X.shape[-1]
    lattice = draw(step.generators, lambda rng: kronecker_with_faces(_N_LATTICE, d, rng), X)
    best = xp.argsort(step.surrogate.moments(X)[0], axis=1, stable=True)[:, :_N_BEST]
    x = xp.concat([lattice, X[rows, best]], axis=1)
    centre = x[rows, xp.argmin(step.surrogate.moments(x)[0], axis=1)[:, None]]  # (R, 1, d)
    normals = draw(step.generators, lambda rng: rng.standard_normal((len(_CLOUD_SCALES) * _PER_SCALE, d)), X)
    scales = like([[scale] for scale in _CLOUD_SCALES for _ in range(_PER_SCALE)], X)
    return xp.concat([x, clip(centre + scales * normals, 0.0, 1.0)], axis=1)


def representers(step: Step, n: int) -> Joint:
    """n representers of this step with the posterior."""
    surrogate = step.surrogate
    if not isinstance(surrogate, Jointly):
        raise InvalidInputError(
            f"expected a surrogate that knows covariances (a method `joint`); got {type(surrogate).__name__}; "
            "try policy='MES', or surrogate='exact'"
        )
    x = _candidates(step) if step.places is None else step.places
    xp = namespace(x)
    star = xp.argmin(draws(surrogate.joint(x), step, _N_PATHS).values, axis=2)  # (R, paths)
    hits = xp.sum(xp.astype(star[:, None, :] == like(range(x.shape[1]), x)[None, :, None], x.dtype), axis=2)
    mu, sd = surrogate.moments(x)
    low = 2.0 * sd - mu
    low = low - xp.min(low, axis=1, keepdims=True)
    low = low / (1e-300 + 2.0 * xp.max(low, axis=1, keepdims=True))  # between 0 and 1/2
    place = xp.argsort(xp.argsort(hits, axis=1, descending=True, stable=True), axis=1, stable=True)  # by hits
    often, at_all = (xp.astype(is_so, x.dtype) for is_so in (place < n // 2, hits > 0.0))
    worth = 2.0 * often + at_all + (1.0 - at_all) * low
    order = xp.argsort(worth, axis=1, descending=True, stable=True)[:, :n]
    return surrogate.joint(x[like(range(x.shape[0]), x)[:, None], order])


@dataclass(frozen=True)
class Draws:
    """Functions drawn at M points."""

    zeta: Array  # (R, S, M)
    values: Array  # (R, S, M)
    L: Array  # (R, M, M)

    @property
    def L_inv(self) -> Array:  # noqa: N802  (its name everywhere)
        """(R, M, M) L^-1."""
        return backend.triangular_inverse(self.L)


def draws(joint: Joint, step: Step, n_draws: int, *, even: bool = False) -> Draws:
    """n_draws functions of each run, an even number: pairs side by side, or from a Sobol sequence."""
    xp = namespace(joint.mean)
    V = joint.covariance
    R, M = joint.mean.shape
    eye = xp.eye(M, dtype=V.dtype, device=V.device)
    jitter = _JITTER * xp.max(xp.linalg.diagonal(V), axis=1) + 1e-300
    for _ in range(10):
        L, ok = backend.cholesky(V + jitter[:, None, None] * eye)
        if bool(xp.all(ok)):
            break
        jitter = xp.where(ok, jitter, 10.0 * jitter)
    if even:
        zeta = draw(step.generators, lambda rng: even_normals(n_draws, M, rng), V)
        return Draws(zeta, joint.mean[:, None, :] + zeta @ xp.matrix_transpose(L), L)
    half = draw(step.generators, lambda rng: rng.standard_normal((n_draws // 2, M)), V)
    zeta = xp.reshape(xp.stack([half, -half], axis=2), (R, 2 * (n_draws // 2), M))
    return Draws(zeta, joint.mean[:, None, :] + zeta @ xp.matrix_transpose(L), L)
