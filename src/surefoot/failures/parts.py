"""The latent process of the crash model, a sum of parts: a trend that few labels can tell, and what only a label tells.

Parts     K(x, x') = s2 [ k(r2) + rho_l z.z'/d + rho_q q.q'/d ] + nu k(|x - x'|^2 / ell_0^2) + b (1 + nu + s2 (1 + rho_l + rho_q))
          r2 = sum_j (x_j - x'_j)^2 / ell_j^2, k is Matern 5/2;  t = x - 1/2,  z = sqrt(12) t,  q = sqrt(180) (t^2 - 1/12)
          have mean 0 and variance 1 on the cube: a half-space is linear, a ball is quadratic.
Rough     The part with nu is short: ell_0 is below the distance of points. Away from the labels it is noise of variance
          nu beside the probit's 1; at a label it is known. So a deterministic simulator's label stays what it was, and
          nothing is learned from it about the rest. nu = 0: failures at random, the same point may fail and succeed.
Constant  b = 1: as likely as not all the variance there is. The base rate's prior is then uniform.
theta     (log ell_1 .. log ell_d, log s2, log rho_l, log rho_q), p = d + 3.
Shapes    X (R, n, d), theta (R, S, p), nu (R,), K (R, S, n, n).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from surefoot.backend import Array, namespace, sq_distances
from surefoot.gp.kernels import MATERN52
from surefoot.gp.likelihood import Data, select_runs

NU = 50.0  # of a deterministic simulator
_BASE = 1.0
_LIN, _QUAD = math.sqrt(12.0), math.sqrt(180.0)


def linear(x: Array) -> Array:
    """z of points x (..., d)."""
    return _LIN * (x - 0.5)


def quadratic(x: Array) -> Array:
    """q of points x (..., d)."""
    t = x - 0.5
    return _QUAD * (t * t - 1.0 / 12.0)


def mean_product(a: Array, b: Array) -> Array:
    """Mean over the inputs of a_j b_j, (R, n, m)."""
    return a @ namespace(a).matrix_transpose(b) / a.shape[-1]


def rough_scale(n: int, d: int) -> float:
    """ell_0: a twentieth of the cube, and a part of the distance between n points where they are denser."""
    return math.sqrt(d) * min(0.05, 0.15 * n ** (-1.0 / d))


@dataclass(frozen=True)
class Parts:
    """What no hyperparameter changes, at the labelled points, (R, n, n) each."""

    data: Data
    linear: Array
    quadratic: Array
    rough: Array  # nu times its correlation
    nu: Array  # (R,)

    @classmethod
    def of(cls, data: Data, nu: Array) -> Parts:
        """Those of R sets of labels."""
        z, q = linear(data.X), quadratic(data.X)
        rough = MATERN52.value(sq_distances(data.X, data.X) / rough_scale(*data.X.shape[1:]) ** 2)
        return cls(data, mean_product(z, z), mean_product(q, q), nu[:, None, None] * rough, nu)

    def select(self, runs: Array | None) -> Parts:
        """Those of some runs only (None: all)."""
        if runs is None:
            return self
        arrays = (a[runs] for a in (self.linear, self.quadratic, self.rough, self.nu))
        return Parts(select_runs(self.data, runs), *arrays)


@dataclass(frozen=True)
class Covariance:
    """K of S hyperparameter vectors per run, and what its gradient needs."""

    K: Array  # (R, S, n, n)
    varying: tuple[Array, Array, Array]  # dK/d log s2, log rho_l, log rho_q, without the constant part
    constant: Array  # (R, S, 3) the gradient of the constant part
    slope: Array  # (R, S, n, n) s2 dk/dr2
    w: Array  # (R, S, d) 1 / ell^2

    def gradient(self, G: Array, data: Data) -> Array:
        """tr(G dK/d theta), (R, S, p), for symmetric G (R, S, n, n)."""
        xp = namespace(G)
        d_ell = -2.0 * self.w * data.sq_difference_sums(G * self.slope)
        rest = xp.stack([xp.sum(G * part, axis=(-2, -1)) for part in self.varying], axis=-1)
        return xp.concat([d_ell, rest + xp.sum(G, axis=(-2, -1))[..., None] * self.constant], axis=-1)


def constant_variance(theta: Array, nu: Array) -> tuple[Array, Array]:
    """The constant part's variance (R, S) and its gradient in the last three hyperparameters, (R, S, 3)."""
    xp = namespace(theta)
    s2, rho_l, rho_q = (xp.exp(theta[..., i]) for i in (-3, -2, -1))
    slope = _BASE * xp.stack([s2 * (1.0 + rho_l + rho_q), s2 * rho_l, s2 * rho_q], axis=-1)
    return _BASE * (1.0 + nu)[:, None] + slope[..., 0], slope


def covariance(theta: Array, parts: Parts) -> Covariance:
    """K at the labelled points for every theta."""
    xp = namespace(theta)
    d = theta.shape[-1] - 3
    w = xp.exp(-2.0 * theta[..., :d])
    s2, rho_l, rho_q = (xp.exp(theta[..., d + i])[..., None, None] for i in range(3))
    trend, slope = MATERN52.value_and_slope(parts.data.sq_distances(w))
    lin, quad = s2 * rho_l * parts.linear[:, None], s2 * rho_q * parts.quadratic[:, None]
    trend *= s2
    trend += lin
    trend += quad
    slope *= s2
    variance, by = constant_variance(theta, parts.nu)
    K = trend + parts.rough[:, None]
    K += variance[..., None, None]
    return Covariance(K, (trend, lin, quad), by, slope, w)


@dataclass(frozen=True)
class Expert:
    """The latent posterior of R runs: mu(x) = k(x)'a, var(x) = k(x, x) - |M k(x)|^2."""

    X: Array  # (R, n, d)
    theta: Array  # (R, p)
    nu: Array  # (R,)
    a: Array  # (R, n)
    M: Array  # (R, n, n)
    left_out: Array  # (R, n) log P(its label | all the others) of every label that was seen

    def select(self, runs: Array | slice) -> Expert:
        """Those of some runs only."""
        return Expert(*(part[runs] for part in (self.X, self.theta, self.nu, self.a, self.M, self.left_out)))

    def _scales(self) -> tuple[Array, Array, Array, Array, Array]:
        """1 / ell (R, 1, d), and s2, rho_l, rho_q, nu (R, 1, 1)."""
        xp = namespace(self.theta)
        d = self.X.shape[-1]
        rest = (xp.exp(self.theta[:, d + i])[:, None, None] for i in range(3))
        return xp.exp(-self.theta[:, None, :d]), *rest, self.nu[:, None, None]

    def _cross(self, x: Array) -> tuple[Array, Array, Array]:
        """k(x) (R, m, n), and the slopes of the two stationary parts in their squared distances."""
        inv_ell, s2, rho_l, rho_q, nu = self._scales()
        constant, _ = constant_variance(self.theta[:, None], self.nu)
        k, slope = MATERN52.value_and_slope(sq_distances(x * inv_ell, self.X * inv_ell))
        scale = rough_scale(*self.X.shape[1:])
        rough, slope_rough = MATERN52.value_and_slope(sq_distances(x / scale, self.X / scale))
        k += rho_l * mean_product(linear(x), linear(self.X))
        k += rho_q * mean_product(quadratic(x), quadratic(self.X))
        k *= s2
        k += nu * rough
        k += constant[..., None]
        return k, slope, slope_rough

    def _own(self, x: Array) -> Array:
        """k(x, x), (R, m)."""
        xp = namespace(x)
        _, s2, rho_l, rho_q, nu = (part[..., 0] for part in self._scales())
        constant, _ = constant_variance(self.theta[:, None], self.nu)
        z, q = linear(x), quadratic(x)
        return s2 * (1.0 + rho_l * xp.mean(z * z, axis=-1) + rho_q * xp.mean(q * q, axis=-1)) + nu + constant

    def moments(self, x: Array) -> tuple[Array, Array]:
        """mu and var (R, m) at x (R, m, d)."""
        xp = namespace(x)
        k, _, _ = self._cross(x)
        v = k @ xp.matrix_transpose(self.M)
        var = xp.maximum(self._own(x) - xp.sum(v * v, axis=-1), 1e-12)
        return (k @ self.a[..., None])[..., 0], var

    def moments_and_gradients(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """mu, var and their gradients in x, (R, m, d)."""
        xp = namespace(x)
        d = x.shape[-1]
        inv_ell, s2, rho_l, rho_q, nu = self._scales()
        k, slope, slope_rough = self._cross(x)
        v = k @ xp.matrix_transpose(self.M)
        mu = (k @ self.a[..., None])[..., 0]
        var = xp.maximum(self._own(x) - xp.sum(v * v, axis=-1), 1e-12)
        t, z, q, Z, Q = x - 0.5, linear(x), quadratic(x), linear(self.X), quadratic(self.X)
        rough_weight = 2.0 * nu / rough_scale(*self.X.shape[1:]) ** 2

        def along(weights: Array) -> Array:
            """sum_i weights_i dk_i/dx, (R, m, d)."""
            near = weights * slope
            trend = 2.0 * inv_ell * inv_ell * (xp.sum(near, axis=-1)[..., None] * x - near @ self.X)
            trend = trend + (rho_l * _LIN / d) * (weights @ Z) + (rho_q * 2.0 * _QUAD / d) * t * (weights @ Q)
            near = weights * slope_rough
            return s2 * trend + rough_weight * (xp.sum(near, axis=-1)[..., None] * x - near @ self.X)

        d_own = (2.0 * s2 / d) * (rho_l * _LIN * z + rho_q * 2.0 * _QUAD * t * q)
        d_mu = along(xp.broadcast_to(self.a[:, None], k.shape))
        return mu, var, d_mu, d_own - 2.0 * along(v @ self.M)
