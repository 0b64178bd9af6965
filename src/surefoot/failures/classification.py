"""What the two Gaussian process classifiers share: the latent prior, the search for hyperparameters, the posterior.

Sources   [RW06] Rasmussen and Williams, Gaussian Processes for Machine Learning, MIT Press 2006.
Model     Labels h = +1 (failed), -1 (succeeded);  P(h_i | f) = Phi(h_i f(x_i));  f ~ GP(0, s2 k(r2))
          theta = (log ell_1 .. log ell_d, log s2), p = d + 1
Gaussian  Both approximations replace each Phi(h_i f_i) by exp(nu_i f_i - tau_i f_i^2 / 2) (a "site"). With
          root = tau^(1/2), target = nu / root, K = s2 C,
              B = I + root K root = L L',    f | labels ~ N(K a, (K^-1 + tau)^-1),    a = root B^-1 target.
          B >= I: no jitter, no matrix that is not positive definite, whatever theta is.
Method    As gp/fit.py: projected BFGS, warm from the last optimum, cold from several screened starts.
Shapes    X (R, n, d), theta (R, S, p); a, root, target (R, S, n); K, L_inv (R, S, n, n). Rows outside the mask have
          root = target = 0, hence identity rows in B: they change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from surefoot import backend
from surefoot.backend import Array, clip, like, namespace, to_host
from surefoot.failures.iterations import Recall
from surefoot.gp.fit import (
    COLD_CALLS,
    MAX_ELL,
    MIN_ELL,
    N_OPTIMIZED,
    STEP,
    SUBSET,
    WARM_CALLS,
    WARM_TOL,
    Fit,
    FitState,
    cold_starts,
    is_cold,
    take_start,
)
from surefoot.gp.kernels import Kernel
from surefoot.gp.likelihood import Data, make_data, regularize, select_runs
from surefoot.gp.posterior import Posterior
from surefoot.numerics.normal import log_pi
from surefoot.numerics.quasi_newton import Objective, minimize_box

MIN_S2 = 0.1  # below, P stays within 0.38 .. 0.62 at one sd of the prior; the upper bounds differ, see the two modules
_POLISH_CALLS = 24  # after a cold search on a subset, whose optimum can lie far from that of all the data
COLD_TOL = 1e-4  # nats; s2 and ell of a classifier are known to far less


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
class Prior:
    """The latent values at the data, before any label, under S hyperparameter vectors per run."""

    w: Array  # (R, S, d) 1 / ell^2
    s2: Array  # (R, S)
    K: Array  # (R, S, n, n)
    slope: Array  # (R, S, n, n) dC/dr2


def latent_prior(theta: Array, data: Data, kernel: Kernel) -> Prior:
    """K = s2 C for every theta."""
    xp = namespace(theta)
    R, S, _ = theta.shape
    n, d = data.X.shape[1:]
    w = xp.exp(-2.0 * theta[..., :d])
    s2 = xp.exp(theta[..., d])
    C, slope = kernel.value_and_slope(xp.reshape(w @ data.sq_diff, (R, S, n, n)))
    C *= s2[..., None, None]
    return Prior(w, s2, C, slope)


def factorize(K: Array, root: Array) -> tuple[Array, Array]:
    """L^-1 (R, S, n, n) and log|L| (R, S) of B = I + root K root = L L'."""
    xp = namespace(K)
    B = K * root[..., :, None]
    B *= root[..., None, :]
    L, _ = backend.cholesky(regularize(B, xp.ones_like(root[..., 0]), None))
    return backend.triangular_inverse(L), xp.sum(xp.log(xp.linalg.diagonal(L)), axis=-1)


def matvec(A: Array, v: Array) -> Array:
    """A v for A (R, S, n, n) and v (R, S, n)."""
    return namespace(A).squeeze(A @ v[..., None], axis=-1)


def solve(L_inv: Array, v: Array) -> Array:
    """B^-1 v = L^-T L^-1 v."""
    xp = namespace(v)
    return xp.squeeze(xp.matrix_transpose(L_inv @ v[..., None]) @ L_inv, axis=-2)


def nll_gradient(prior: Prior, data: Data, root: Array, L_inv: Array, a: Array, g: Array, q: Array | None) -> Array:
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


def _bounds(data: Data, n_starts: int, max_s2: float) -> tuple[Array, Array]:
    xp = namespace(data.X)
    R, _, d = data.X.shape
    kwargs = {"dtype": data.X.dtype, "device": data.X.device}
    lower = xp.asarray([math.log(MIN_ELL)] * d + [math.log(MIN_S2)], **kwargs)
    upper = xp.asarray([math.log(MAX_ELL)] * d + [math.log(max_s2)], **kwargs)
    shape = (R, n_starts, d + 1)
    return xp.broadcast_to(lower, shape), xp.broadcast_to(upper, shape)


def _starts(d: int, uniforms: Array) -> Array:
    """The length scales of a regression's cold starts; its noise levels 1e-3, 1e-8 become scales s2 = 2, 50."""
    starts = cold_starts(d, uniforms)
    log_s2 = math.log(2.0) - (starts[..., d:] - math.log(1e-3)) * (math.log(25.0) / math.log(1e5))
    return namespace(starts).concat([starts[..., :d], log_s2], axis=-1)


def _objective(approximate: Approximation, data: Data, kernel: Kernel, recall: Recall) -> Objective:
    def objective(theta: Array, runs: Array | None) -> tuple[Array, Array]:
        start = recall.nearest(theta, runs)
        found = approximate(theta, select_runs(data, runs), kernel, start, True)
        recall.keep(theta, found.start, runs)
        return found.nll, found.gradient

    return objective


def _cold(
    approximate: Approximation, data: Data, kernel: Kernel, starts: Array, max_s2: float, recall: Recall
) -> tuple[Array, Array, Array]:
    """Best of several starts (R, S, p): theta (R, p), NLL (R,), inverse Hessian (R, p, p)."""
    xp = namespace(starts)
    lower, upper = _bounds(data, starts.shape[1], max_s2)
    starts = clip(starts, lower, upper)
    screened = approximate(starts, data, kernel, None, False)
    recall.keep(starts, screened.start, None)
    order = xp.argsort(screened.nll, axis=1)[:, :N_OPTIMIZED]
    rows = like(range(starts.shape[0]), starts)[:, None]
    result = minimize_box(
        _objective(approximate, data, kernel, recall),
        starts[rows, order],
        lower[:, : order.shape[1]],
        upper[:, : order.shape[1]],
        first_step=0.5,
        max_step=STEP,
        f_tol=COLD_TOL,
        max_calls=COLD_CALLS,
        race=True,
    )
    best = xp.argmin(result.f, axis=1)
    return take_start(result.x, best), take_start(result.f, best), take_start(result.inv_hessian, best)


def _spread(items: list[int], k: int) -> list[int]:
    """k of the items, evenly through the list."""
    return items if len(items) <= k else [items[round(i * (len(items) - 1) / max(k - 1, 1))] for i in range(k)]


def subset(data: Data) -> Data:
    """SUBSET points of every run, evenly through its history but with as many of the rarer label as fit in half."""
    labels = to_host(data.y)
    chosen = []
    for h in labels.tolist():  # a padded point has label 0
        few, many = sorted(([i for i, v in enumerate(h) if v == sign] for sign in (1.0, -1.0)), key=len)
        few = _spread(few, SUBSET // 2)
        keep = few + _spread(many, SUBSET - len(few))
        keep += [i for i, v in enumerate(h) if v == 0.0][: SUBSET - len(keep)]
        chosen.append(sorted(keep))
    columns = like(chosen, data.X)
    rows = like(range(len(chosen)), data.X)[:, None]
    mask = None if data.mask is None else data.mask[rows, columns]
    return make_data(data.X[rows, columns], data.y[rows, columns], mask)


def fit_classifier(
    approximate: Approximation,
    data: Data,
    kernel: Kernel,
    max_s2: float,
    uniforms: Array,
    state: FitState | None,
    n_history: int | None = None,
) -> tuple[Fit, Array | None]:
    """Maximum approximate marginal likelihood of every run, and a start (R, 1, k, n) for the approximation there."""
    xp = namespace(data.X)
    R, n, d = data.X.shape
    n_history = n if n_history is None else n_history
    cold = is_cold(n_history, state)
    n_cold = n_history if state is None or cold else state.n_cold
    raised = xp.zeros(R, dtype=xp.bool, device=data.X.device)  # B needs no jitter
    recall = Recall()
    starts, hessians = [], []
    if state is not None:
        starts, hessians = [state.theta], [state.inv_hessian]
    if cold:
        small = n <= SUBSET
        pool = _starts(d, uniforms)
        if state is not None:
            pool = xp.concat([state.theta[:, None], pool], axis=1)
        searched = data if small else subset(data)
        theta, nll, H = _cold(approximate, searched, kernel, pool, max_s2, recall if small else Recall())
        if small:  # the warm start was among the starts: nothing is left to do
            return Fit(theta, nll, raised, FitState(theta, H, n_cold)), recall.nearest(theta[:, None], None)
        starts.append(theta)
        hessians.append(H * (SUBSET / n))  # curvature grows with the number of points
    theta = xp.stack(starts, axis=1)  # (R, 1 or 2, p)
    lower, upper = _bounds(data, theta.shape[1], max_s2)
    theta = clip(theta, lower, upper)
    best = xp.zeros(R, dtype=xp.int64, device=data.X.device)
    if len(starts) > 1:
        screened = approximate(theta, data, kernel, None, False)
        recall.keep(theta, screened.start, None)
        best = xp.argmin(screened.nll, axis=1)
    result = minimize_box(
        _objective(approximate, data, kernel, recall),
        take_start(theta, best)[:, None],
        lower[:, :1],
        upper[:, :1],
        first_step=0.5,
        max_step=STEP,
        f_tol=WARM_TOL,
        max_calls=_POLISH_CALLS if cold else WARM_CALLS,
        inv_hessian=take_start(xp.stack(hessians, axis=1), best)[:, None],
    )
    theta, H = result.x[:, 0], result.inv_hessian[:, 0]
    return Fit(theta, result.f[:, 0], raised, FitState(theta, H, n_cold)), recall.nearest(theta[:, None], None)


def label_data(X: Array, failed: Array, seen: Array | None) -> Data:
    """Labels +1 (failed) and -1 of points X; `failed` is 1.0 or 0.0, `seen` masks those evaluated (None: all)."""
    return make_data(X, 2.0 * failed - namespace(X).ones_like(failed), seen)


Condition = Callable[[Data, Array, Kernel, "Array | None"], Posterior]
"""(data, theta, kernel, start or None) -> the latent posterior."""


def classifier(approximate: Approximation, condition: Condition, max_s2: float) -> Callable[..., tuple[Posterior, Fit]]:
    """The failure model of an approximation."""

    def failure_model(
        data: Data, kernel: Kernel, uniforms: Array, state: FitState | None, n_history: int | None = None
    ) -> tuple[Posterior, Fit]:
        """Latent posterior of the labels; arguments as those of label_regression.failure_model."""
        result, start = fit_classifier(approximate, data, kernel, max_s2, uniforms, state, n_history)
        return condition(data, result.theta, kernel, start), result

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
    alpha = xp.squeeze(xp.matrix_transpose(L_inv) @ z[..., None], axis=-1)
    ok = xp.all(xp.isfinite(alpha), axis=-1)
    return Posterior(
        kernel=kernel,
        X=data.X,
        mask=data.mask,
        inv_ell=xp.exp(-theta[:, None, :d]),
        lam=1.0 / s2,  # a label is the sign of f plus noise of variance 1
        c=xp.zeros_like(s2),
        s2=s2,
        L_inv=L_inv,
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
