"""The latent process of the crash model, a sum of parts: a trend that few labels tell, and what only a label tells.

Parts     K(x, x') = s2 [k(r2) + rho_l z.z'/d + rho_q q.q'/d] + nu k(|x - x'|^2 / ell_0^2) + c
          r2 = sum_j (x_j - x'_j)^2 / ell_j^2,  k is Matern 5/2,  c = 1 + nu + s2 (1 + rho_l + rho_q)
          With t = x - 1/2, z = sqrt(12) t and q = sqrt(180) (t^2 - 1/12) have mean 0 and variance 1 on the cube:
          a half-space is linear, a ball is quadratic.
Rough     The part with nu is short: ell_0 is below the distance of points. Away from the labels it is noise of variance
          nu beside the probit's 1; at a label it is known. So the label of a deterministic simulator stays what it was,
          and nothing is learned from it about the rest. nu = 0: failures at random, the same point may do both.
Constant  c is all the variance there is once more: the prior of the base rate is then uniform.
theta     (log ell_1 .. log ell_d, log s2, log rho_l, log rho_q), p = d + 3.
Shapes    one run: X (n, d), theta (E, S, p), nu (E,), K (E, S, n, n) for E processes with the same points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from surefoot.backend import Array, namespace, sq_differences, triangular_matmul
from surefoot.gp.kernels import MATERN52

NU = 2000.0  # of a deterministic simulator: the probit's noise is small beside it, and a border is sharp
_LIN, _QUAD = math.sqrt(12.0), math.sqrt(180.0)


def linear(x: Array) -> Array:
    """z of points x (..., d)."""
    return _LIN * (x - 0.5)


def quadratic(x: Array) -> Array:
    """q of points x (..., d)."""
    t = x - 0.5
    return _QUAD * (t * t - 1.0 / 12.0)


def rough_scale(n: int, d: int) -> float:
    """ell_0: a twentieth of the cube, and a part of the distance between n points where they are denser."""
    spacing: float = math.pow(n, -1.0 / d)
    return math.sqrt(d) * min(0.05, 0.15 * spacing)


def constant_variance(theta: Array, nu: Array) -> tuple[Array, Array]:
    """c (E, S) and its gradient in the last three hyperparameters, (E, S, 3)."""
    xp = namespace(theta)
    s2, rho_l, rho_q = (xp.exp(theta[..., i]) for i in (-3, -2, -1))
    slope = xp.stack([s2 * (1.0 + rho_l + rho_q), s2 * rho_l, s2 * rho_q], axis=-1)
    return 1.0 + nu[:, None] + slope[..., 0], slope


@dataclass(frozen=True)
class Points:
    """Labelled points, and what no hyperparameter changes."""

    X: Array  # (n, d)
    sq_diff: Array  # (d, n n)
    linear: Array  # (n, n) z.z'/d
    quadratic: Array  # (n, n) q.q'/d
    rough: Array  # (n, n) the correlation

    @classmethod
    def of(cls, X: Array) -> Points:
        """Those of one run."""
        xp = namespace(X)
        n, d = X.shape
        sq_diff = sq_differences(X[None])[0]
        z, q = linear(X), quadratic(X)
        rough = MATERN52.value(xp.reshape(xp.sum(sq_diff, axis=0), (n, n)) / rough_scale(n, d) ** 2)
        return cls(X, sq_diff, z @ xp.matrix_transpose(z) / d, q @ xp.matrix_transpose(q) / d, rough)


@dataclass(frozen=True)
class Covariance:
    """K of S hyperparameter vectors of each process, and what its gradient needs."""

    K: Array  # (E, S, n, n)
    varying: tuple[Array, Array, Array]  # dK/d log s2, log rho_l, log rho_q, without the constant part
    constant: Array  # (E, S, 3) the gradient of the constant part
    slope: Array  # (E, S, n, n) s2 dk/dr2
    w: Array  # (E, S, d) 1 / ell^2

    def gradient(self, G: Array, points: Points) -> Array:
        """tr(G dK/d theta), (E, S, p), for symmetric G (E, S, n, n)."""
        xp = namespace(G)
        weight = xp.reshape(G * self.slope, (*G.shape[:2], -1))
        d_ell = -2.0 * self.w * (weight @ xp.matrix_transpose(points.sq_diff))
        rest = xp.stack([xp.sum(G * part, axis=(-2, -1)) for part in self.varying], axis=-1)
        return xp.concat([d_ell, rest + xp.sum(G, axis=(-2, -1))[..., None] * self.constant], axis=-1)


def covariance(theta: Array, nu: Array, points: Points) -> Covariance:
    """K at the labelled points for every theta."""
    xp = namespace(theta)
    n, d = points.X.shape
    w = xp.exp(-2.0 * theta[..., :d])
    s2, rho_l, rho_q = (xp.exp(theta[..., d + i])[..., None, None] for i in range(3))
    trend, slope = MATERN52.value_and_slope(xp.reshape(w @ points.sq_diff, (*w.shape[:2], n, n)))
    lin, quad = s2 * rho_l * points.linear, s2 * rho_q * points.quadratic
    trend *= s2
    trend += lin
    trend += quad
    slope *= s2
    constant, by = constant_variance(theta, nu)
    K = trend + nu[:, None, None, None] * points.rough
    K += constant[..., None, None]
    return Covariance(K, (trend, lin, quad), by, slope, w)


@dataclass(frozen=True)
class Processes:
    """Latent posteriors of E processes with the same points: mu(x) = k(x)'a, var(x) = k(x, x) - |M k(x)|^2."""

    X: Array  # (n, d)
    theta: Array  # (E, p)
    nu: Array  # (E,)
    a: Array  # (E, n)
    M: Array  # (E, n, n)

    def select(self, some: Array) -> Processes:
        """Some of them."""
        return Processes(self.X, self.theta[some], self.nu[some], self.a[some], self.M[some])

    @cached_property
    def _scales(self) -> tuple[Array, Array, Array]:
        """1 / ell^2 (E, d), s2 and nu (E, 1, 1)."""
        d = self.X.shape[1]
        s2 = namespace(self.theta).exp(self.theta[:, d])[:, None, None]
        return namespace(self.theta).exp(-2.0 * self.theta[:, :d]), s2, self.nu[:, None, None]

    @cached_property
    def _polynomial(self) -> tuple[Array, Array]:
        """The variances of [1, z, q] (E, 1, 1 + 2 d), and those times [1, z, q] at the labels (E, n, 1 + 2 d)."""
        xp = namespace(self.theta)
        d = self.X.shape[1]
        s2, rho_l, rho_q = (xp.exp(self.theta[:, d + i])[:, None] for i in range(3))
        constant, _ = constant_variance(self.theta[:, None], self.nu)  # (E, 1)
        each = xp.ones_like(self.theta[:, :d]) / d
        own = xp.concat([constant, s2 * rho_l * each, s2 * rho_q * each], axis=-1)[:, None]
        return own, own * _features(self.X)

    def margins(self, x: Array, gradients: bool) -> tuple[Array, Array | None]:
        """u = -mu / sqrt(1 + var), of which Phi is P(no failure), (E, m) at x (m, d); its gradients (E, m, d)."""
        xp = namespace(x)
        (m, d), n = x.shape, self.X.shape[0]
        w, s2, nu = self._scales
        variances, polynomial = self._polynomial
        sq = xp.matrix_transpose(x)[:, :, None] - xp.matrix_transpose(self.X)[:, None]
        sq *= sq
        sq = xp.reshape(sq, (d, m * n))
        sharpness = rough_scale(n, d) ** -2.0
        far, near = xp.reshape(w @ sq, (w.shape[0], m, n)), xp.reshape(sharpness * xp.sum(sq, axis=0), (m, n))
        if gradients:
            (k, slope), (rough, slope_rough) = (MATERN52.value_and_slope(r2) for r2 in (far, near))
        else:
            k, rough = MATERN52.value(far), MATERN52.value(near)
        features = _features(x)
        k *= s2
        k += nu * rough
        k += features @ xp.matrix_transpose(polynomial)
        v = triangular_matmul(self.M, xp.matrix_transpose(k))  # (E, n, m)
        own = s2[..., 0] + nu[..., 0] + xp.sum(variances * features * features, axis=-1)
        var = xp.maximum(own - xp.sum(v * v, axis=-2), 1e-12)
        scale = 1.0 / xp.sqrt(1.0 + var)
        u = -scale * (k @ self.a[..., None])[..., 0]
        if not gradients:
            return u, None
        # du = -scale dmu - (u scale^2 / 2) dvar, with dmu = sum_i a_i dk_i and dvar = dk(x, x) - 2 sum_i (v'M)_i dk_i
        by_var = (u * scale * scale)[..., None]
        along = by_var * (xp.matrix_transpose(v) @ self.M) - scale[..., None] * self.a[:, None]  # (E, m, n) du/dk_i
        trend, rough = along * slope, along * slope_rough
        d_u = (2.0 * s2) * w[:, None] * (xp.sum(trend, axis=-1)[..., None] * x - trend @ self.X)
        d_u += (2.0 * sharpness) * nu * (xp.sum(rough, axis=-1)[..., None] * x - rough @ self.X)
        by_feature = along @ polynomial[..., 1:] - by_var * variances[..., 1:] * features[:, 1:]
        d_u += _LIN * by_feature[..., :d]
        d_u += (2.0 * _QUAD) * (x - 0.5) * by_feature[..., d:]
        return u, d_u


def _features(x: Array) -> Array:
    """[1, z, q] of points x (m, d), (m, 1 + 2 d)."""
    xp = namespace(x)
    return xp.concat([xp.ones_like(x[:, :1]), linear(x), quadratic(x)], axis=-1)
