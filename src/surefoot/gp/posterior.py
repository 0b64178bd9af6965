"""The predictive distribution of R Gaussian processes [NH18, Eq. 1], with gradients in x.

Notation  mu(x) = c + k(x)' C^-1 r,   sd(x)^2 = s2 (1 - k(x)' C^-1 k(x)),   C = L L'
          v = L^-1 k(x), z = L^-1 r:   mu = c + v.z,   sd^2 = s2 (1 - v.v),   C^-1 = L^-T L^-1
Accuracy  L^-1 is kept, not C^-1: everything is then a matrix product on any device, and errors grow like
          sqrt(cond C). The quick mean k.alpha (alpha = C^-1 r may be 1e7) is for screening only.
Shapes    x (R, m, d), mu and sd (R, m), their gradients (R, m, d).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from surefoot import backend
from surefoot.backend import Array, clip, namespace
from surefoot.gp.kernels import Kernel
from surefoot.gp.likelihood import Data, profile, regularize

# 1 - v.v is a difference of numbers near 1 with rounding errors of a few 1e-16 each: below this it is noise.
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
    L_inv: Array  # (R, n, n)
    z: Array  # (R, n)
    alpha: Array  # (R, n)
    ok: Array  # (R,) False where C was not positive definite even so: predictions are then those of the prior


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
        C = kernel.value(backend.sq_distances(scaled, scaled))[:, None]
        L, ok = backend.cholesky(regularize(C, lam[:, None], data.mask))
        if bool(xp.all(ok)):
            break
        lam = xp.where(ok[:, 0], lam, 10.0 * lam)
    L_inv = backend.triangular_inverse(L)
    c, s2, z, _ = profile(data, L_inv, lam[:, None])
    L_inv, z = L_inv[:, 0], z[:, 0]
    if not bool(xp.all(ok)):  # nothing is explained: the prior's mean and scale are left
        L_inv, z = xp.where(ok[..., None], L_inv, 0.0), xp.where(ok, z, 0.0)
    alpha = xp.squeeze(xp.matrix_transpose(L_inv) @ z[..., None], axis=-1)
    return Posterior(kernel, data.X, data.mask, inv_ell, lam, c[:, 0], s2[:, 0], L_inv, z, alpha, ok[:, 0])


def select_runs(post: Posterior, runs: Array | None) -> Posterior:
    """The posteriors of some runs only (None: all)."""
    if runs is None:
        return post
    fields = ("X", "inv_ell", "lam", "c", "s2", "L_inv", "z", "alpha", "ok")
    mask = None if post.mask is None else post.mask[runs]
    kernel = post.kernel.select(runs)
    return replace(post, kernel=kernel, mask=mask, **{name: getattr(post, name)[runs] for name in fields})


def cross_correlations(post: Posterior, x: Array) -> Array:
    """k(x_i, X_j), (R, m, n)."""
    k = post.kernel.value(backend.sq_distances(x * post.inv_ell, post.X * post.inv_ell))
    if post.mask is not None:
        k *= post.mask[:, None, :]
    return k


def quick_mean(post: Posterior, k: Array) -> Array:
    """mu (R, m) from the cross correlations k (R, m, n) at O(n) each; for screening."""
    xp = namespace(k)
    return post.c[:, None] + xp.squeeze(k @ post.alpha[..., None], axis=-1)


def _whiten(post: Posterior, k: Array) -> Array:
    """v = L^-1 k(x), (R, n, m)."""
    return backend.triangular_matmul(post.L_inv, namespace(k).matrix_transpose(k))


def _moments(post: Posterior, v: Array) -> tuple[Array, Array]:
    xp = namespace(v)
    mu = post.c[:, None] + xp.sum(post.z[..., None] * v, axis=1)  # a sum: the same bits for one column or many
    variance = 1.0 - xp.sum(v * v, axis=1)
    return mu, xp.sqrt(post.s2[:, None] * clip(variance, MIN_VARIANCE, None))


def moments(post: Posterior, x: Array) -> tuple[Array, Array]:
    """mu and sd of the latent function at x, each (R, m)."""
    return _moments(post, _whiten(post, cross_correlations(post, x)))


def moments_and_gradients(post: Posterior, x: Array) -> tuple[Array, Array, Array, Array]:
    """mu, sd (R, m) and their gradients in x (R, m, d)."""
    xp = namespace(x)
    diff = (x[:, :, None, :] - post.X[:, None, :, :]) * post.inv_ell[:, None, :, :]  # (R, m, n, d)
    k, slope = post.kernel.value_and_slope(xp.sum(diff * diff, axis=-1))
    if post.mask is not None:
        k *= post.mask[:, None, :]
        slope *= post.mask[:, None, :]
    v = _whiten(post, k)
    mu, sd = _moments(post, v)
    beta = xp.matrix_transpose(v) @ post.L_inv  # C^-1 k(x), (R, m, n)
    # dk_j/dx_i = 2 slope_j diff_ji / ell_i; both gradients are weighted sums of these over j
    weights = xp.stack([slope * post.alpha[:, None, :], slope * beta], axis=2)  # (R, m, 2, n)
    sums = 2.0 * (weights @ diff) * post.inv_ell[:, None, :, :]  # (R, m, 2, d)
    d_sd = -(post.s2[:, None] / sd)[..., None] * sums[:, :, 1, :]
    floored = sd * sd <= post.s2[:, None] * (MIN_VARIANCE * (1.0 + 1e-9))
    return mu, sd, sums[:, :, 0, :], xp.where(floored[..., None], 0.0, d_sd)


def add_points(post: Posterior, x: Array, y: Array | None = None) -> Posterior:
    """The posterior after e more points x (R, e, d), hyperparameters, mean and scale kept; O(n^2 e).

    Without y the points are believed to return the present mean: mu stays as it is, only sd shrinks.
    """
    xp = namespace(x)
    e = x.shape[1]
    k = cross_correlations(post, x)
    v = _whiten(post, k)  # (R, n, e)
    own = post.kernel.value(backend.sq_distances(x * post.inv_ell, x * post.inv_ell))[:, None]
    schur = regularize(own, post.lam[:, None], None)[:, 0] - xp.matrix_transpose(v) @ v  # (R, e, e)
    diagonal = xp.reshape(schur, (-1, e * e))[:, :: e + 1]
    diagonal += MIN_VARIANCE
    L_e, ok = backend.cholesky(schur)
    L_e_inv = backend.triangular_inverse(L_e)  # the identity where it failed: those points count as far away
    below = -(L_e_inv @ (xp.matrix_transpose(v) @ post.L_inv))
    below = xp.where(ok[:, None, None], below, 0.0)
    zeros = xp.zeros((x.shape[0], post.X.shape[1], e), dtype=x.dtype, device=x.device)
    L_inv = xp.concat([xp.concat([post.L_inv, zeros], axis=2), xp.concat([below, L_e_inv], axis=2)], axis=1)
    if y is None:
        z_new = xp.zeros((x.shape[0], e), dtype=x.dtype, device=x.device)
    else:
        surprise = y - post.c[:, None] - xp.squeeze(post.z[:, None, :] @ v, axis=1)
        z_new = xp.where(ok[:, None], xp.squeeze(L_e_inv @ surprise[..., None], axis=-1), 0.0)
    z = xp.concat([post.z, z_new], axis=1)
    alpha = xp.squeeze(xp.matrix_transpose(L_inv) @ z[..., None], axis=-1)
    ones = xp.ones((x.shape[0], e), dtype=x.dtype, device=x.device)
    mask = None if post.mask is None else xp.concat([post.mask, ones], axis=1)
    return replace(post, X=xp.concat([post.X, x], axis=1), mask=mask, L_inv=L_inv, z=z, alpha=alpha)
