"""What the two Gaussian process classifiers share: the latent prior, the search for hyperparameters, the posterior.

Sources   [RW06] Rasmussen and Williams, Gaussian Processes for Machine Learning, MIT Press 2006.
Model     Labels h = +1 (failed), -1 (succeeded);  P(h_i | f) = Phi(h_i f(x_i));  f ~ GP(0, s2 k(r2))
          theta = (log ell_1 .. log ell_d, log s2), p = d + 1
Gaussian  Both approximations replace each Phi(h_i f_i) by exp(nu_i f_i - tau_i f_i^2 / 2) (a "site"). With
          root = tau^(1/2), target = nu / root, K = s2 C,
              B = I + root K root = L L',    f | labels ~ N(K a, (K^-1 + tau)^-1),    a = root B^-1 target.
          B >= I: no jitter, no matrix that is not positive definite, whatever theta is.
Shapes    X (R, n, d), theta (R, S, p); a, root, target (R, S, n); K, L_inv (R, S, n, n). Rows outside the mask have
          root = target = 0, hence identity rows in B: they change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from surefoot import backend
from surefoot.backend import Array, like, namespace, to_host
from surefoot.failures.iterations import Recall
from surefoot.gp.factor import Factor, factorize
from surefoot.gp.hyperparameters import SUBSET, Effort, Fit, FitState, Screened, fit, screen_in_box
from surefoot.gp.kernels import SE, Kernel
from surefoot.gp.likelihood import Data, make_data, regularize, select_runs
from surefoot.gp.posterior import Posterior
from surefoot.gp.regression import box, cold_starts
from surefoot.numerics.normal import log_pi
from surefoot.numerics.subsets import balanced

MIN_S2 = 0.1  # below, P stays within 0.38 .. 0.62 at one sd of the prior; the upper bounds differ, see the two modules
# s2 and ell of a classifier are known to far less than a regression's; the optimum of a subset can lie far from its own
EFFORT = Effort(cold_tol=1e-4, polish_calls=24)


class FitLabels(Protocol):
    """How a failure model is fitted."""

    def __call__(
        self, labels: Data, uniforms: Array, state: FitState | None = None, n_history: int | None = None
    ) -> tuple[Posterior, Fit]:
        """Latent posterior and fit, from host draws of a cold search (R, k, p) and the last fit's state.

        n_history: evaluations so far, if the labels are only some of them.
        """


@dataclass(frozen=True)
class Evaluation:
    """An approximate marginal likelihood and what was found on the way."""

    nll: Array  # (R, S)
    gradient: Array  # (R, S, p); zeros when not wanted
    start: Array  # (R, S, k, n) the approximation itself: where a nearby one may start


Approximation = Callable[[Array, Data, Kernel, "Array | None", bool], Evaluation]
"""(theta, data, kernel, start or None, whether the gradient is wanted) -> Evaluation."""


# --- the latent prior and the likelihood's gradient ---------------------------------------------------------


@dataclass(frozen=True)
class LatentPrior:
    """The latent values at the data, before any label, under S hyperparameter vectors per run."""

    w: Array  # (R, S, d) 1 / ell^2
    s2: Array  # (R, S)
    K: Array  # (R, S, n, n)
    slope: Array  # (R, S, n, n) dC/dr2


def latent_prior(theta: Array, data: Data, kernel: Kernel) -> LatentPrior:
    """K = s2 C for every theta."""
    xp = namespace(theta)
    R, S, _ = theta.shape
    n, d = data.X.shape[1:]
    w = xp.exp(-2.0 * theta[..., :d])
    s2 = xp.exp(theta[..., d])
    C, slope = kernel.value_and_slope(xp.reshape(w @ data.sq_diff, (R, S, n, n)))
    C *= s2[..., None, None]
    return LatentPrior(w, s2, C, slope)


def factorize_sites(K: Array, root: Array) -> tuple[Array, Array]:
    """L^-1 (R, S, n, n) and log|L| (R, S) of B = I + root K root = L L'."""
    B = K * root[..., :, None]
    B *= root[..., None, :]
    factor, half_log_det = factorize(regularize(B, namespace(K).ones_like(root[..., 0]), None))
    return factor.L_inv, half_log_det


def matvec(A: Array, v: Array) -> Array:
    """A v for A (R, S, n, n) and v (R, S, n)."""
    return namespace(A).squeeze(A @ v[..., None], axis=-1)


def solve(L_inv: Array, v: Array) -> Array:
    """B^-1 v = L^-T L^-1 v."""
    xp = namespace(v)
    return xp.squeeze(xp.matrix_transpose(L_inv @ v[..., None]) @ L_inv, axis=-2)


def nll_gradient(
    prior: LatentPrior, data: Data, root: Array, L_inv: Array, a: Array, g: Array, q: Array | None
) -> Array:
    """Gradient (R, S, p) of the NLL, given d log Z = tr((a a' / 2 - root B^-1 root / 2 + q a') dK) and g = K a.

    q is the part that comes through the mode (Laplace); EP has none.
    """
    xp = namespace(a)
    R, S, n = a.shape
    left = 0.5 * a if q is None else 0.5 * a + q
    B_inv = backend.inverse_from_triangular(L_inv)  # lower triangle
    trace = xp.sum(xp.linalg.diagonal(B_inv), axis=-1)
    d_s2 = xp.sum(left * g, axis=-1) - 0.5 * (n - trace)  # dK = K, tr(root B^-1 root K) = n - tr B^-1
    # dK/d log ell_i = -2 w_i s2 slope (x_ji - x_ki)^2: symmetric, zero on the diagonal, so the lower triangle of B^-1
    # counted twice is enough, and q a' need not be made symmetric.
    B_inv *= root[..., :, None]
    B_inv *= root[..., None, :]
    weight = left[..., :, None] * a[..., None, :]
    weight -= B_inv
    weight *= prior.slope
    sums = data.sq_diff @ xp.matrix_transpose(xp.reshape(weight, (R, S, n * n)))  # (R, d, S)
    d_ell = 2.0 * prior.w * prior.s2[..., None] * xp.matrix_transpose(sums)
    return xp.concat([d_ell, -d_s2[..., None]], axis=-1)


# --- hyperparameters ----------------------------------------------------------------------------------------


def _spread_of_labels(d: int, uniforms: Array) -> Array:
    """The length scales of a regression's cold starts; its noise levels 1e-3, 1e-8 become scales s2 = 2, 50."""
    starts = cold_starts(d, uniforms)
    log_s2 = math.log(2.0) - (starts[..., d:] - math.log(1e-3)) * (math.log(25.0) / math.log(1e5))
    return namespace(starts).concat([starts[..., :d], log_s2], axis=-1)


def subset(data: Data) -> Data:
    """SUBSET points of every run, evenly through its history but with as many of the rarer label as fit in half."""
    columns = like([balanced(labels, SUBSET) for labels in to_host(data.y).tolist()], data.X)
    rows = like(range(columns.shape[0]), data.X)[:, None]
    mask = None if data.mask is None else data.mask[rows, columns]
    return make_data(data.X[rows, columns], data.y[rows, columns], mask)


@dataclass(frozen=True)
class Classification:
    """The approximate evidence of R classifiers; see `gp.hyperparameters.Evidence`."""

    approximate: Approximation
    data: Data
    kernel: Kernel
    max_s2: float
    n_history: int
    recall: Recall = field(default_factory=Recall)

    @property
    def n_points(self) -> int:
        """Points of each run."""
        return int(self.data.X.shape[1])

    def cost(self, theta: Array, runs: Array | None, gradient: bool = True) -> tuple[Array, Array]:
        """The approximation, from the nearest one in theta; while only screening, from scratch."""
        start = self.recall.nearest(theta, runs) if gradient else None
        found = self.approximate(theta, select_runs(self.data, runs), self.kernel, start, gradient)
        self.recall.keep(theta, found.start, runs)
        return found.nll, found.gradient

    def bounds(self, n_starts: int) -> tuple[Array, Array]:
        """The box."""
        return box(self.data, n_starts, (MIN_S2, self.max_s2))

    def starts(self, uniforms: Array) -> Array:
        """Starts of a cold search."""
        return _spread_of_labels(self.data.X.shape[-1], uniforms)

    def screen(self, theta: Array, lower: Array, upper: Array) -> Screened:
        """B is always positive definite: there is no wall to leave."""
        return screen_in_box(self, theta, lower, upper)

    def subset(self) -> Classification:
        """That of some labels, with a memory of its own."""
        return replace(self, data=subset(self.data), recall=Recall())


def label_data(X: Array, failed: Array, seen: Array | None) -> Data:
    """Labels +1 (failed) and -1 of points X; `failed` is 1.0 or 0.0, `seen` masks those evaluated (None: all)."""
    return make_data(X, 2.0 * failed - namespace(X).ones_like(failed), seen)


Condition = Callable[[Data, Array, Kernel, "Array | None"], Posterior]
"""(data, theta, kernel, start or None) -> the latent posterior."""


def classifier(approximate: Approximation, condition: Condition, max_s2: float, kernel: Kernel = SE) -> FitLabels:
    """The failure model of an approximation."""

    def failure_model(
        labels: Data, uniforms: Array, state: FitState | None = None, n_history: int | None = None
    ) -> tuple[Posterior, Fit]:
        n = labels.X.shape[1] if n_history is None else n_history
        evidence = Classification(approximate, labels, kernel, max_s2, n)
        found = fit(evidence, uniforms, state, EFFORT)
        return condition(labels, found.theta, kernel, evidence.recall.nearest(found.theta[:, None], None)), found

    return failure_model


# --- predictions --------------------------------------------------------------------------------------------


def posterior(data: Data, theta: Array, kernel: Kernel, root: Array, target: Array, L_inv: Array) -> Posterior:
    """The latent predictive distribution in the form of a regression's; root, target (R, n), L_inv (R, n, n) of B.

    m(x) = k(x)' s2 a and v(x) = s2 (1 - |s2^(1/2) L^-1 root k(x)|^2), so the regression's L^-1 is s2^(1/2) L^-1 root
    and its z is s2^(1/2) L^-1 target: neither divides by a root that may underflow.
    """
    xp = namespace(theta)
    d = data.X.shape[-1]
    s2 = xp.exp(theta[:, d])
    scale = xp.sqrt(s2)
    z = scale[:, None] * xp.squeeze(L_inv @ target[..., None], axis=-1)
    L_inv = L_inv * (scale[:, None] * root)[:, None, :]
    alpha = Factor(L_inv, s2 > 0.0).solve_whitened(z)
    ok = xp.all(xp.isfinite(alpha), axis=-1)
    return Posterior(
        kernel=kernel,
        X=data.X,
        mask=data.mask,
        inv_ell=xp.exp(-theta[:, None, :d]),
        lam=1.0 / s2,  # a label is the sign of f plus noise of variance 1
        c=xp.zeros_like(s2),
        s2=s2,
        factor=Factor(L_inv, ok),
        z=z,
        alpha=alpha,
        ok=ok,
    )


def log_success(mu: Array, sd: Array) -> tuple[Array, Array, Array]:
    """log P(success) = log Phi(-mu / sqrt(1 + sd^2)) and its partials in mu and sd."""
    variance = 1.0 + sd * sd
    scale = 1.0 / namespace(mu).sqrt(variance)
    u = -mu * scale
    value, slope = log_pi(u)
    return value, -slope * scale, -slope * u * sd / variance
