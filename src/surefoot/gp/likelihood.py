"""The marginal likelihood of R data sets under S hyperparameter vectors each, with its gradient.

Notation  K = s2 C,  C = k(X, X) + lam I  (correlations plus the noise-to-signal ratio lam = sigma^2 / sigma_f^2)
          theta = (log ell_1 .. log ell_d, log lam), p = d + 1
          The mean c and the scale s2 = sigma_f^2 are profiled out in closed form:
              c = (1' C^-1 y) / (1' C^-1 1),    r = y - c,    s2 = r' C^-1 r / n.
          With a fixed noise variance sigma^2, s2 = sigma^2 / lam instead; with a bound sigma^2 >= b, s2 is the
          larger of r' C^-1 r / n and b / lam: the NLL falls and then rises in s2.
          NLL = n/2 log(2 pi s2) + log|C|/2 + r' C^-1 r / (2 s2)
Shapes    X (R, n, d), y (R, n), mask (R, n) or None, theta (R, S, p), NLL (R, S), gradient (R, S, p).
          Rows outside the mask are identity rows of C with y = 0: they change nothing. A matrix that is not
          positive definite has likelihood NLL = +inf, never an exception.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from surefoot import backend
from surefoot.backend import Array, clip, largest_temporary, namespace, sorts_by_shape
from surefoot.gp.factor import factorize
from surefoot.gp.kernels import Kernel

MOST_DIFFERENCES = (
    2**26
)  # of a run, kept between likelihoods (512 MB); with more, they are made input by input each time
MOST_KEPT = 2**25  # slopes of all inputs alone, between a likelihood and its gradient (256 MB)
TINY_SCALE = 1e-20  # floor of s2 for standardized y: constant data have r = 0, and log 0 is no likelihood


@dataclass(frozen=True)
class Data:
    """R data sets of n points in the unit cube, y standardized; see `make_data`."""

    X: Array  # (R, n, d)
    y: Array  # (R, n), 0 outside the mask
    mask: Array | None  # (R, n) 1.0 or 0.0; None: every point counts
    n_points: Array  # (R,) points inside the mask, as floats
    noise_variance: Array | None  # (R,) known noise variance of y; None: profiled scale
    least_noise: Array | None = None  # (R,) a lower bound of the noise variance, where it is not known

    @cached_property
    def sq_diff(self) -> Array:
        """(x_i - x_j)^2 per input, (R, d, n*n): what every likelihood needs, made once, at the first."""
        return backend.sq_differences(self.X)

    @property
    def keeps_differences(self) -> bool:
        """Whether `sq_diff` is used, or would be too large."""
        R, n, d = self.X.shape
        if sorts_by_shape(self.X):
            return bool(n * n * d <= MOST_DIFFERENCES)
        return bool(4 * R * n * n * d <= largest_temporary(self.X))

    def sq_differences_of(self, i: int) -> Array:
        """(x_ji - x_ki)^2 of one input, (R, 1, n, n)."""
        R, n, _ = self.X.shape
        kept = self.sq_diff[:, i] if self.keeps_differences else backend.sq_differences(self.X[..., i : i + 1])
        return namespace(self.X).reshape(kept, (R, 1, n, n))

    def sq_distances(self, w: Array) -> Array:
        """sum_i w_i (x_i - x'_i)^2 between all points, (R, S, n, n), for w (R, S, d)."""
        xp = namespace(w)
        n = self.X.shape[1]
        if self.keeps_differences and not sorts_by_shape(w):  # one launch
            return xp.reshape(w @ self.sq_diff, (*w.shape[:2], n, n))
        if self.keeps_differences:
            # One product per start, not one for all: its rounding then does not depend on how many starts still run.
            return xp.reshape(w[:, :, None, :] @ self.sq_diff[:, None], (*w.shape[:2], n, n))
        scaled = [self.X * xp.sqrt(w[:, s : s + 1]) for s in range(w.shape[1])]
        return xp.stack([backend.sq_distances(x, x) for x in scaled], axis=1)

    def sq_difference_sums(self, weight: Array) -> Array:
        """sum_jk weight_jk (x_ji - x_ki)^2 for every input i, (R, S, d), for weight (R, S, n, n)."""
        xp = namespace(weight)
        R, S, n, _ = weight.shape
        if not sorts_by_shape(weight):
            return self._sums_at_once(weight)
        if self.keeps_differences:
            return (self.sq_diff[:, None] @ xp.reshape(weight, (R, S, n * n, 1)))[..., 0]
        one_input = (backend.sq_differences(self.X[..., i : i + 1])[:, None] for i in range(self.X.shape[2]))
        columns = xp.reshape(weight, (R, S, n * n, 1))
        return xp.concat([(differences @ columns)[..., 0] for differences in one_input], axis=-1)

    def _sums_at_once(self, weight: Array) -> Array:
        """As `sq_difference_sums`, with few launches, and no product of a row and a column: slow on a GPU."""
        xp = namespace(weight)
        R, S, n, _ = weight.shape
        if self.keeps_differences:
            return xp.matrix_transpose(self.sq_diff @ xp.matrix_transpose(xp.reshape(weight, (R, S, n * n))))
        one_input = (backend.sq_differences(self.X[..., i : i + 1]) for i in range(self.X.shape[2]))
        sums = [xp.sum(xp.reshape(differences, (R, 1, n, n)) * weight, axis=(-2, -1)) for differences in one_input]
        return xp.stack(sums, axis=-1)


def make_data(
    X: Array,
    y: Array,
    mask: Array | None = None,
    noise_variance: Array | None = None,
    least_noise: Array | None = None,
) -> Data:
    """Collect the data."""
    xp = namespace(X)
    R, n, _ = X.shape
    if mask is None:
        n_points = xp.full((R,), float(n), dtype=X.dtype, device=X.device)
    else:
        n_points = xp.sum(mask, axis=-1)
        y = y * mask
    return Data(X, y, mask, n_points, noise_variance, least_noise)


def select_runs(data: Data, runs: Array | None) -> Data:
    """The data of some runs only (None: all)."""
    if runs is None:
        return data
    part = Data(
        X=data.X[runs],
        y=data.y[runs],
        mask=None if data.mask is None else data.mask[runs],
        n_points=data.n_points[runs],
        noise_variance=None if data.noise_variance is None else data.noise_variance[runs],
        least_noise=None if data.least_noise is None else data.least_noise[runs],
    )
    if data.keeps_differences:
        part.__dict__["sq_diff"] = data.sq_diff[runs]  # where cached_property keeps it
    return part


def regularize(C: Array, lam: Array, mask: Array | None) -> Array:
    """C + lam I inside the mask, identity outside, in place; C (R, S, n, n), lam (R, S)."""
    n = C.shape[-1]
    if mask is not None:
        C *= mask[:, None, :, None]
        C *= mask[:, None, None, :]
    diagonal = namespace(C).reshape(C, (*C.shape[:-2], n * n))[..., :: n + 1]  # a view
    diagonal += lam[..., None] if mask is None else lam[..., None] * mask[:, None, :] + (1.0 - mask[:, None, :])
    return C


def profile(data: Data, L_inv: Array, lam: Array) -> tuple[Array, Array, Array, Array]:
    """Mean c (R, S), scale s2 (R, S), whitened residual z = L^-1 (y - c) (R, S, n), z.z (R, S)."""
    xp = namespace(L_inv)
    ones = xp.ones_like(data.y) if data.mask is None else data.mask
    rhs = xp.stack([data.y, ones], axis=-1)[:, None, :, :]  # (R, 1, n, 2)
    whitened = L_inv @ rhs  # (R, S, n, 2)
    z_y, z_1 = whitened[..., 0], whitened[..., 1]
    c = xp.sum(z_y * z_1, axis=-1) / clip(xp.sum(z_1 * z_1, axis=-1), 1e-300, None)
    z = z_y - c[..., None] * z_1
    zz = xp.sum(z * z, axis=-1)
    if data.noise_variance is None:
        s2 = clip(zz / data.n_points[:, None], TINY_SCALE, None)
        if data.least_noise is not None:
            s2 = xp.maximum(s2, data.least_noise[:, None] / lam)
    else:
        s2 = data.noise_variance[:, None] / lam
    return c, s2, z, zz


def _of_input(i: int, runs: slice, w: Array, data: Data, kernel: Kernel) -> tuple[Array, Array]:
    """What input i alone adds to the covariances of some runs, and its slope, (R', S, n, n)."""
    return kernel.of_input(w[runs, :, i, None, None] * data.sq_differences_of(i)[runs], w.shape[-1])


def negative_log_likelihood(theta: Array, data: Data, kernel: Kernel, gradient: bool = True) -> tuple[Array, Array]:
    """NLL (R, S) and its gradient (R, S, p); the gradient is not computed (zeros) when not wanted."""
    xp = namespace(theta)
    p, n = theta.shape[-1], data.y.shape[-1]
    w = xp.exp(-2.0 * theta[..., : p - 1])  # 1 / ell^2, (R, S, d)
    lam = xp.exp(theta[..., p - 1])  # (R, S)
    C, slope = kernel.of_all(data.sq_distances(w))
    alone = [(i, runs, own) for runs, own in kernel.with_sums() for i in range(p - 1)]
    kept = []  # slopes of inputs alone
    for i, runs, own in alone:
        added, slope_alone = _of_input(i, runs, w, data, own)
        C[runs] += added
        if gradient and math.prod(slope_alone.shape) * len(alone) <= MOST_KEPT:
            kept.append(slope_alone)
    factor, half_log_det = factorize(regularize(C, lam, data.mask))
    _, s2, z, zz = profile(data, factor.L_inv, lam)
    n_points = data.n_points[:, None]
    nll = 0.5 * n_points * xp.log(2.0 * math.pi * s2) + half_log_det + 0.5 * zz / s2
    nll = xp.where(factor.ok & xp.isfinite(nll), nll, xp.inf)
    if not gradient:
        return nll, xp.zeros_like(theta)

    alpha = factor.solve_whitened(z)  # C^-1 r, (R, S, n)
    K_inv = backend.inverse_from_triangular(factor.L_inv)  # lower triangle
    trace = xp.sum(xp.linalg.diagonal(K_inv), axis=-1)
    fit = xp.sum(alpha * alpha, axis=-1) / s2
    if data.mask is not None:
        trace = trace - (n - n_points)  # identity rows carry no noise
    d_lam = 0.5 * lam * (trace - fit)
    if data.noise_variance is not None:
        d_lam = d_lam - 0.5 * n_points + 0.5 * zz / s2  # through s2 = sigma^2 / lam
    if data.least_noise is not None:
        bound = s2 <= data.least_noise[:, None] / lam
        d_lam = xp.where(bound, d_lam - 0.5 * n_points + 0.5 * zz / s2, d_lam)
    # d NLL / d log ell_i = w_i sum_jk (alpha alpha'/s2 - C^-1)_jk slope_jk (x_ji - x_ki)^2. Both factors are
    # symmetric and vanish on the diagonal, so the lower triangle of C^-1 counted twice is enough.
    a = alpha / xp.sqrt(2.0 * s2)[..., None]
    weight = a[..., :, None] * a[..., None, :]
    weight -= K_inv
    if data.mask is not None:
        weight *= data.mask[:, None, :, None]
        weight *= data.mask[:, None, None, :]
    d_alone = xp.zeros_like(w)
    for k, (i, runs, own) in enumerate(alone):
        slope_alone = kept[k] if len(kept) == len(alone) else _of_input(i, runs, w, data, own)[1]
        d_alone[runs, :, i] = xp.sum(weight[runs] * slope_alone * data.sq_differences_of(i)[runs], axis=(-2, -1))
    weight *= slope
    d_ell = 2.0 * w * (d_alone + data.sq_difference_sums(weight))
    grad = xp.concat([d_ell, d_lam[..., None]], axis=-1)
    return nll, xp.where(xp.isfinite(nll)[..., None], grad, 0.0)
