"""The predictive distribution of R Gaussian processes [NH18, Eq. 1], with gradients in x.

Notation  mu(x) = c + k(x)' C^-1 r,   sd(x)^2 = s2 (1 - k(x)' C^-1 k(x)),   C = L L'
          v = L^-1 k(x), z = L^-1 r:   mu = c + v.z,   sd^2 = s2 (1 - v.v),   C^-1 = L^-T L^-1
Accuracy  L^-1 is kept, not C^-1: everything is then a matrix product on any device, and errors grow like
          sqrt(cond C). The quick mean k.alpha (alpha = C^-1 r may be 1e7) is for screening only.
Shapes    x (R, m, d), mu and sd (R, m), their gradients (R, m, d).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from surefoot.backend import Array, clip, namespace
from surefoot.gp.bounds import ExactBounds
from surefoot.gp.factor import Factor, factorize
from surefoot.gp.joint import Joint, joint
from surefoot.gp.kernels import Kernel
from surefoot.gp.likelihood import Data, profile, regularize
from surefoot.gp.paths import random_features
from surefoot.numerics.designs import Generators

# 1 - |v|^2 is a difference of numbers near 1 with rounding errors of a few 1e-16 each: below this it is noise.
MIN_VARIANCE = 1e-15
_MAX_CLIMBS = 12  # tenfold each: from 1e-14 to 1e-3


@dataclass(frozen=True)
class Posterior:
    """R fitted processes over the unit cube, of standardized y."""

    kernel: Kernel
    X: Array  # (R, n, d)
    mask: Array | None  # (R, n)
    inv_ell: Array  # (R, 1, d)
    lam: Array  # (R,)
    c: Array  # (R,)
    s2: Array  # (R,)
    factor: Factor  # of C, (R, n, n)
    z: Array  # (R, n)
    alpha: Array  # (R, n)
    ok: Array  # (R,) False where C was not positive definite even so: predictions are then those of the prior

    @property
    def rates(self) -> Array:
        """(R, d) one over the length scales."""
        return self.inv_ell[:, 0]

    @property
    def noise(self) -> Array:
        """(R,) variance of the noise."""
        return self.lam * self.s2

    def select(self, runs: Array | slice | None) -> Posterior:
        """The posteriors of some runs only (None: all)."""
        if runs is None:
            return self
        fields = ("X", "inv_ell", "lam", "c", "s2", "z", "alpha", "ok")
        return replace(
            self,
            kernel=self.kernel.select(runs),
            mask=None if self.mask is None else self.mask[runs],
            factor=self.factor.select(runs),
            **{name: getattr(self, name)[runs] for name in fields},
        )

    def cross_correlations(self, x: Array) -> Array:
        """k(x_i, X_j), (R, m, n)."""
        k = self.kernel.between(x * self.inv_ell, self.X * self.inv_ell)
        if self.mask is not None:
            k *= self.mask[:, None, :]
        return k

    def quick_mean(self, k: Array) -> Array:
        """mu (R, m) from the cross correlations k (R, m, n) at O(n) each; for screening."""
        return self.c[:, None] + namespace(k).squeeze(k @ self.alpha[..., None], axis=-1)

    def sd(self, explained: Array) -> Array:
        """sd (R, m) from the share |v|^2 of the variance that the data explain."""
        return namespace(explained).sqrt(self.s2[:, None] * clip(1.0 - explained, MIN_VARIANCE, None))

    def _whiten(self, k: Array) -> Array:
        """v = L^-1 k(x), (R, n, m)."""
        return self.factor.whiten(namespace(k).matrix_transpose(k))

    def moments_of(self, v: Array) -> tuple[Array, Array]:
        """mu and sd (R, m) from v = L^-1 k(x) (R, n, m)."""
        xp = namespace(v)
        mu = self.c[:, None] + xp.sum(self.z[..., None] * v, axis=1)  # a sum: the same bits for one column or many
        return mu, self.sd(xp.sum(v * v, axis=1))

    def moments(self, x: Array) -> tuple[Array, Array]:
        """mu and sd of the latent function at x, each (R, m)."""
        return self.moments_of(self._whiten(self.cross_correlations(x)))

    def moments_and_gradients(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """mu, sd (R, m) and their gradients in x (R, m, d)."""
        xp = namespace(x)
        diff = (x[:, :, None, :] - self.X[:, None, :, :]) * self.inv_ell[:, None, :, :]  # (R, m, n, d)
        k, slope, steps = self.kernel.along(diff)
        if self.mask is not None:
            k *= self.mask[:, None, :]
            slope *= self.mask[:, None, :]
        v = self._whiten(k)
        mu, sd = self.moments_of(v)
        beta = self.factor.solve_rows(v)  # C^-1 k(x), (R, m, n)
        # dk_j/dx_i = 2 slope_j step_ji / ell_i; both gradients are weighted sums of these over j
        weights = xp.stack([slope * self.alpha[:, None, :], slope * beta], axis=2)  # (R, m, 2, n)
        sums = 2.0 * (weights @ steps) * self.inv_ell[:, None, :, :]  # (R, m, 2, d)
        d_sd = -(self.s2[:, None] / sd)[..., None] * sums[:, :, 1, :]
        return mu, sd, sums[:, :, 0, :], xp.where(self.is_floored(sd)[..., None], 0.0, d_sd)

    def is_floored(self, sd: Array) -> Array:
        """(R, m) where sd is the least there is, and has no slope."""
        return sd * sd <= self.s2[:, None] * (MIN_VARIANCE * (1.0 + 1e-9))

    def joint(self, points: Array) -> Joint:
        """The process together with its values at some points (R, M, d)."""
        return joint(self, points)

    def fitted(self, y: Array) -> Array:
        """mu at the observations: y - lam alpha, as (C - lam I) alpha = r - lam alpha."""
        return y - self.lam[:, None] * self.alpha

    def bounds(self, x: Array) -> ExactBounds:
        """Bounds of sd that come down to it, row of L^-1 by row."""
        return ExactBounds(self, x)

    def sample_paths(self, x: Array, generators: Generators, n_samples: int) -> Array:
        """Values at x of functions drawn from the posterior, (R, m, n_samples).

        Matheron: f(x) = c + prior(x) + k(x)' C^-1 (y - c - prior(X) - e), with L^-1 (y - c) = z already known.
        """
        xp = namespace(x)
        features, noise = random_features(self.kernel, self.X, generators, n_samples)
        prior_x, prior_X = features(x * self.inv_ell), features(self.X * self.inv_ell)  # (R, m, S), (R, n, S), scale 1
        scale = xp.sqrt(self.s2)[:, None, None]
        draw = prior_X + noise * xp.sqrt(self.lam)[:, None, None]
        if self.mask is not None:
            draw = draw * self.mask[..., None]
        L_inv = self.factor.L_inv
        correction = xp.matrix_transpose(L_inv) @ (self.z[..., None] - scale * (L_inv @ draw))
        return self.c[:, None, None] + scale * prior_x + self.cross_correlations(x) @ correction

    def add_points(self, x: Array, y: Array | None = None) -> Posterior:
        """The posterior after e more points x (R, e, d), hyperparameters, mean and scale kept; O(n^2 e).

        Without y the points are believed to return the present mean: mu stays as it is, only sd shrinks.
        """
        xp = namespace(x)
        e = x.shape[1]
        v = self._whiten(self.cross_correlations(x))  # (R, n, e)
        own = self.kernel.between(x * self.inv_ell, x * self.inv_ell)[:, None]
        schur = regularize(own, self.lam[:, None], None)[:, 0] - xp.matrix_transpose(v) @ v  # (R, e, e)
        diagonal = xp.reshape(schur, (-1, e * e))[:, :: e + 1]
        diagonal += MIN_VARIANCE
        corner, _ = factorize(schur)
        factor = self.factor.extend(v, corner)
        z_new = xp.zeros((x.shape[0], e), dtype=x.dtype, device=x.device)
        if y is not None:
            surprise = y - self.c[:, None] - xp.squeeze(self.z[:, None, :] @ v, axis=1)
            known = xp.squeeze(corner.L_inv @ surprise[..., None], axis=-1)
            z_new = xp.where(corner.ok[:, None], known, 0.0)
        z = xp.concat([self.z, z_new], axis=1)
        mask = None if self.mask is None else xp.concat([self.mask, xp.ones_like(z_new)], axis=1)
        X = xp.concat([self.X, x], axis=1)
        return replace(self, X=X, mask=mask, factor=factor, z=z, alpha=factor.solve_whitened(z))


def condition(data: Data, theta: Array, kernel: Kernel) -> Posterior:
    """The posterior of every run given its hyperparameters theta (R, p).

    If C is not positive definite (theta was fitted to a part of the data), lam climbs until it is.
    """
    xp = namespace(theta)
    p = theta.shape[-1]
    inv_ell = xp.exp(-theta[:, None, : p - 1])  # (R, 1, d)
    lam = xp.exp(theta[:, p - 1])
    scaled = data.X * inv_ell
    for _ in range(_MAX_CLIMBS):
        C = kernel.between(scaled, scaled)[:, None]
        factor, _ = factorize(regularize(C, lam[:, None], data.mask))
        if bool(xp.all(factor.ok)):
            break
        lam = xp.where(factor.ok[:, 0], lam, 10.0 * lam)
    c, s2, z, _ = profile(data, factor.L_inv, lam[:, None])
    z, ok = z[:, 0], factor.ok[:, 0]
    factor = Factor(factor.L_inv[:, 0], ok)
    if not bool(xp.all(ok)):  # nothing is explained: the prior's mean and scale are left
        factor = replace(factor, L_inv=xp.where(ok[:, None, None], factor.L_inv, 0.0))
        z = xp.where(ok[:, None], z, 0.0)
    alpha = factor.solve_whitened(z)
    return Posterior(kernel, data.X, data.mask, inv_ell, lam, c[:, 0], s2[:, 0], factor, z, alpha, ok)
