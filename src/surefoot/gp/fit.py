"""Hyperparameters of R Gaussian processes by maximum marginal likelihood [NH18, section 2.1], or with a prior.

Method    Projected BFGS on theta = (log ell, log lam); mean and scale are profiled out (likelihood.py).
          Warm: from the last optimum with its inverse Hessian, so a refit after one new point takes a few
          likelihoods; it can only improve on the old optimum. Cold: many starts are screened by their likelihood
          and the best few optimized; above SUBSET points that happens on a subset, and the winner is
          polished on all the data.
          A cold search is repeated whenever n has grown by a quarter, against being trapped for ever.
Noise     lam = sigma^2/sigma_f^2 is estimated within [min_lam(n), MAX_LAM], or held at the floor (no noise). Where the
          correlation matrix is not positive definite the likelihood is -inf; a start that lies there climbs
          a ladder of lam until it leaves, and `jitter_raised` says so.
Shapes    theta (R, p), p = d + 1; starts (R, S, p).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from surefoot.backend import Array, clip, like, namespace, to_host
from surefoot.gp.kernels import Kernel
from surefoot.gp.likelihood import Data, negative_log_likelihood, select_runs
from surefoot.gp.priors import Prior
from surefoot.gp.priors import none as no_prior
from surefoot.numerics.quasi_newton import BAD_START, BoxResult, minimize_box

MIN_ELL, MAX_ELL = 5e-3, 20.0  # in the unit cube: 1/200 of a side; 20 sides is flat to one part in 800
MIN_LAM, MAX_LAM = 1e-14, 1.0  # 1e-14: the smallest nugget that Cholesky can see at n = 100
SUBSET = 200  # cold searches use at most this many points
REFIT_GROWTH = 1.25
N_RANDOM_STARTS = 16  # of a cold search, beside a grid of isotropic ones
N_OPTIMIZED = 8  # starts that are optimized in a cold search, racing
COLD_TOL, WARM_TOL = 1e-6, 1e-2  # predicted gain in nats at which a search ends; a warm one goes on next step
COLD_CALLS, WARM_CALLS = 60, 8
STEP = 2.0  # a hyperparameter changes by at most e^2 at once


@dataclass(frozen=True)
class FitState:
    """What the next fit starts from; small, so that it can be stored with every evaluation."""

    theta: Array  # (R, p)
    inv_hessian: Array  # (R, p, p)
    n_cold: int  # number of points at the last cold search


@dataclass(frozen=True)
class Fit:
    """The optimum found."""

    theta: Array  # (R, p)
    nll: Array  # (R,) with the prior's penalty
    jitter_raised: Array  # (R,) the floor of lam had to be raised to make the matrix positive definite
    state: FitState


def is_cold(n: int, state: FitState | None) -> bool:
    """Whether a search at n evaluations starts afresh."""
    return state is None or n >= REFIT_GROWTH * state.n_cold


def min_lam(n: int) -> float:
    """The floor of lam at n points: Cholesky's rounding errors grow with the norm of C, which is up to n.

    Below it the factorization fails here and works there by luck, and the search runs into a ragged wall.
    """
    return MIN_LAM * max(1.0, n / 100.0)


def _bounds(data: Data, estimate_noise: bool, n_starts: int, n_history: int) -> tuple[Array, Array]:
    xp = namespace(data.X)
    R, _, d = data.X.shape
    lowest = min_lam(n_history)
    highest = MAX_LAM if estimate_noise or data.noise_variance is not None else lowest
    lower = [math.log(MIN_ELL)] * d + [math.log(lowest)]
    upper = [math.log(MAX_ELL)] * d + [math.log(highest)]
    kwargs = {"dtype": data.X.dtype, "device": data.X.device}
    shape = (R, n_starts, d + 1)
    return (
        xp.asarray(xp.broadcast_to(xp.asarray(lower, **kwargs), shape), copy=True),
        xp.asarray(xp.broadcast_to(xp.asarray(upper, **kwargs), shape), copy=True),
    )


def cold_starts(d: int, uniforms: Array) -> Array:
    """Starting hyperparameters (R, S, d + 1): isotropic scales at two noise levels, then random ones.

    uniforms (R, k, d + 1) in [0, 1), from the host: k random starts.
    """
    xp = namespace(uniforms)
    R = uniforms.shape[0]
    stretch = max(1.0, math.sqrt(d / 4.0))  # distances in the unit cube grow like sqrt(d)
    grid = [[math.log(ell * stretch)] * d + [math.log(lam)] for lam in (1e-8, 1e-3) for ell in (0.1, 0.25, 0.6, 1.5)]
    fixed = xp.asarray(grid, dtype=uniforms.dtype, device=uniforms.device)
    fixed = xp.broadcast_to(fixed[None], (R, *fixed.shape))
    log_ell = math.log(0.02 * stretch) + uniforms[..., :d] * math.log(3.0 / 0.02)
    log_lam = math.log(1e-10) + uniforms[..., d:] * math.log(1e-2 / 1e-10)
    return xp.concat([fixed, xp.concat([log_ell, log_lam], axis=-1)], axis=1)


def _cost(theta: Array, data: Data, kernel: Kernel, prior: Prior, gradient: bool = True) -> tuple[Array, Array]:
    """What is minimized: the negative log likelihood and the prior's penalty."""
    nll, slope = negative_log_likelihood(theta, data, kernel, gradient)
    penalty, more = prior(theta)
    xp = namespace(theta)
    return nll + penalty, xp.where(xp.isfinite(nll)[..., None], slope + more, 0.0)


def _leave_the_wall(
    theta: Array, data: Data, kernel: Kernel, prior: Prior, lower: Array, upper: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Raise lam tenfold where C is not positive definite, until it is: theta, NLL, bounds, whether raised."""
    xp = namespace(theta)
    theta = clip(theta, lower, upper)
    nll, _ = _cost(theta, data, kernel, prior, gradient=False)
    raised = ~xp.isfinite(nll)
    for _ in range(14):
        bad = ~xp.isfinite(nll)
        if not bool(xp.any(bad)):
            break
        climbed = clip(theta[..., -1] + math.log(10.0), None, 0.0)
        new_lam = xp.where(bad, climbed, theta[..., -1])
        theta = xp.concat([theta[..., :-1], new_lam[..., None]], axis=-1)
        top = xp.where(bad, xp.maximum(upper[..., -1], new_lam), upper[..., -1])
        upper = xp.concat([upper[..., :-1], top[..., None]], axis=-1)
        held = bad & (lower[..., -1] < new_lam) & (upper[..., -1] <= new_lam)  # a floor, not an estimate
        floor = xp.where(held, new_lam, lower[..., -1])
        lower = xp.concat([lower[..., :-1], floor[..., None]], axis=-1)
        again, _ = _cost(theta, data, kernel, prior, gradient=False)
        nll = xp.where(bad, again, nll)
    return theta, nll, lower, upper, raised


def take_start(a: Array, best: Array) -> Array:
    """a[r, best[r]] for a (R, S, ...) and best (R,)."""
    return a[like(range(a.shape[0]), a), best]


def _cold(
    data: Data,
    kernel: Kernel,
    prior: Prior,
    estimate_noise: bool,
    uniforms: Array,
    extra: Array | None,
    n_history: int,
    n_optimized: int,
) -> tuple[Array, Array, Array, Array]:
    """Best of several starts: theta (R, p), NLL, inverse Hessian, whether the floor was raised."""
    xp = namespace(data.X)
    starts = cold_starts(data.X.shape[-1], uniforms)
    if extra is not None:
        starts = xp.concat([extra[:, None, :], starts], axis=1)
    lower, upper = _bounds(data, estimate_noise, starts.shape[1], n_history)
    starts, nll, lower, upper, raised = _leave_the_wall(starts, data, kernel, prior, lower, upper)
    order = xp.argsort(nll, axis=1, stable=True)[:, :n_optimized]
    rows = like(range(starts.shape[0]), starts)[:, None]

    def objective(theta: Array, runs: Array | None) -> tuple[Array, Array]:
        return _cost(theta, select_runs(data, runs), kernel.select(runs), prior)

    result = minimize_box(
        objective,
        starts[rows, order],
        lower[rows, order],
        upper[rows, order],
        first_step=0.5,
        max_step=STEP,
        f_tol=COLD_TOL,
        max_calls=COLD_CALLS,
        race=True,
    )
    best = xp.argmin(result.f, axis=1)
    chosen = order[like(range(order.shape[0]), order), best]
    return (
        take_start(result.x, best),
        take_start(result.f, best),
        take_start(result.inv_hessian, best),
        take_start(raised, chosen),
    )


def _subset(data: Data) -> Data:
    """At most SUBSET points, evenly through the history (the design, the search, the last ones)."""
    n = data.X.shape[1]
    keep = like([round(i * (n - 1) / (SUBSET - 1)) for i in range(SUBSET)], data.X)
    X = data.X[:, keep]
    mask = None if data.mask is None else data.mask[:, keep]
    return replace(
        data,
        X=X,
        y=data.y[:, keep],
        mask=mask,
        n_points=namespace(X).full_like(data.n_points, SUBSET) if mask is None else mask.sum(axis=-1),
    )


def fit(
    data: Data,
    kernel: Kernel,
    *,
    estimate_noise: bool,
    uniforms: Array,
    state: FitState | None = None,
    n_history: int | None = None,
    prior: Prior = no_prior,
    n_optimized: int = N_OPTIMIZED,
    warm_tol: float = WARM_TOL,
    warm_calls: int = WARM_CALLS,
) -> Fit:
    """Maximum marginal likelihood, or with a prior maximum a posteriori, for every run.

    uniforms (R, k, p): host draws in [0, 1) for k random starts of a cold search. `state`: the last fit's, if any.
    n_history: evaluations so far, failed ones included (default: the points): it decides when a search is cold and
    the floor of lam, so that rows left out and rows masked out make no difference.
    n_optimized: starts that a cold search optimizes, the best of those screened.
    warm_tol, warm_calls: predicted gain in nats, and likelihoods, at which a warm search ends.
    """
    xp = namespace(data.X)
    n = data.X.shape[1]
    n_history = n if n_history is None else n_history
    cold = is_cold(n_history, state)
    n_cold = n_history if state is None or cold else state.n_cold
    raised = xp.zeros(data.X.shape[0], dtype=xp.bool, device=data.X.device)
    starts, hessians = [], []
    if state is not None:
        starts, hessians = [state.theta], [state.inv_hessian]
    if cold:
        small = n <= SUBSET
        theta, nll, H, raised = _cold(
            data if small else _subset(data), kernel, prior, estimate_noise, uniforms,
            None if state is None else state.theta, n_history, n_optimized,
        )  # fmt: skip
        if small:  # the warm start was among the starts: nothing is left to do
            return Fit(theta, nll, raised, FitState(theta, H, n_cold))
        starts.append(theta)
        hessians.append(H * (SUBSET / n))  # curvature grows with the number of points
    theta = xp.stack(starts, axis=1)  # (R, 1 or 2, p)
    lower, upper = _bounds(data, estimate_noise, theta.shape[1], n_history)
    best = xp.zeros(data.X.shape[0], dtype=xp.int64, device=data.X.device)

    def optimize() -> BoxResult:
        return minimize_box(
            lambda t, runs: _cost(t, select_runs(data, runs), kernel.select(runs), prior),
            take_start(theta, best)[:, None],
            take_start(lower, best)[:, None],
            take_start(upper, best)[:, None],
            first_step=0.5,
            max_step=STEP,
            f_tol=warm_tol,
            max_calls=warm_calls,
            inv_hessian=take_start(xp.stack(hessians, axis=1), best)[:, None],
        )

    result = optimize() if len(starts) == 1 else None
    if result is None or bool(xp.any(result.status == BAD_START)):  # choose between two starts, or leave the wall
        theta, nll, lower, upper, raised_now = _leave_the_wall(theta, data, kernel, prior, lower, upper)
        best = xp.argmin(nll, axis=1)
        raised = raised | take_start(raised_now, best)
        result = optimize()
    theta, H = result.x[:, 0], result.inv_hessian[:, 0]
    return Fit(theta, result.f[:, 0], raised, FitState(theta, H, n_cold))


def is_healthy(state: FitState) -> bool:
    """Whether a stored state can be used (finite, as after any normal fit)."""
    theta, H = to_host(state.theta), to_host(state.inv_hessian)
    return bool((theta == theta).all() and (abs(H) < 1e300).all())
