"""The exact process at any x together with its values at some fixed points, with gradients in x.

Notation  q(x) = cov(f(x), f(Z)) = s2 (k(x, Z) - B k(x, X)'),   B = k(Z, X) C^-1,   Z the fixed points
          mu, sd and q are functions of the correlations of x with all of (X, Z), so whoever has the partials of a value
          in them gets its gradient in x from one weighted sum over these points.
Shapes    Z (R, M, d), x (R, m, d), mu and sd (R, m), q (R, m, M), V = cov(f(Z)) (R, M, M).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from surefoot.backend import Array, namespace

if TYPE_CHECKING:
    from surefoot.gp.posterior import Posterior

Pullback = Callable[[Array, Array, Array], Array]
"""Partials of a value in mu (R, m), sd (R, m) and q (R, m, M) -> its gradient in x (R, m, d)."""


@dataclass(frozen=True)
class Joint:
    """A posterior and the points with which it is asked for covariances."""

    posterior: Posterior
    Z: Array
    mean: Array  # (R, M) of f(Z)
    covariance: Array  # V
    B: Array  # (R, M, n)

    def select(self, runs: Array | slice | None) -> Joint:
        """Those of some runs only (None: all)."""
        if runs is None:
            return self
        fields = ("Z", "mean", "covariance", "B")
        own = {name: getattr(self, name)[runs] for name in fields}
        return replace(self, posterior=self.posterior.select(runs), **own)

    def moments(self, x: Array) -> tuple[Array, Array, Array]:
        """mu, sd and q at x."""
        post = self.posterior
        k = post.cross_correlations(x)
        v = post.factor.whiten(namespace(x).matrix_transpose(k))
        return (*post.moments_of(v), self._covariances(x, k))

    def _covariances(self, x: Array, k: Array) -> Array:
        post = self.posterior
        own = post.kernel.between(x * post.inv_ell, self.Z * post.inv_ell)
        return post.s2[:, None, None] * (own - k @ namespace(x).matrix_transpose(self.B))

    def moments_and_pullback(self, x: Array) -> tuple[Array, Array, Array, Pullback]:
        """mu, sd, q and what turns partials in them into a gradient in x."""
        xp = namespace(x)
        post = self.posterior
        points = xp.concat([post.X, self.Z], axis=1)
        n = post.X.shape[1]
        diff = (x[:, :, None, :] - points[:, None, :, :]) * post.inv_ell[:, None, :, :]  # (R, m, n + M, d)
        k, slope, steps = post.kernel.along(diff)
        k_X, k_Z = k[..., :n], k[..., n:]
        if post.mask is not None:
            k_X = k_X * post.mask[:, None, :]
            slope = xp.concat([slope[..., :n] * post.mask[:, None, :], slope[..., n:]], axis=-1)
        v = post.factor.whiten(xp.matrix_transpose(k_X))
        mu, sd = post.moments_of(v)
        beta = post.factor.solve_rows(v)  # C^-1 k(x), (R, m, n)
        q = post.s2[:, None, None] * (k_Z - k_X @ xp.matrix_transpose(self.B))

        def pullback(by_mu: Array, by_sd: Array, by_q: Array) -> Array:
            by_sd = xp.where(post.is_floored(sd), 0.0, by_sd)
            by_q = post.s2[:, None, None] * by_q
            by_k = by_mu[..., None] * post.alpha[:, None, :] - by_q @ self.B
            by_k = by_k - (by_sd * post.s2[:, None] / sd)[..., None] * beta
            weights = xp.concat([by_k, by_q], axis=-1) * slope  # (R, m, n + M)
            return 2.0 * xp.sum(weights[..., None] * steps, axis=-2) * post.inv_ell

        return mu, sd, q, pullback


def joint(posterior: Posterior, Z: Array) -> Joint:
    """The posterior with its values at Z."""
    xp = namespace(Z)
    v = posterior.factor.whiten(xp.matrix_transpose(posterior.cross_correlations(Z)))  # (R, n, M)
    mean, _ = posterior.moments_of(v)
    scaled = Z * posterior.inv_ell
    own = posterior.kernel.between(scaled, scaled)
    V = posterior.s2[:, None, None] * (own - xp.matrix_transpose(v) @ v)
    return Joint(posterior, Z, mean, V, posterior.factor.solve_rows(v))
