"""The models of R runs: histories in, fitted Gaussian processes of the objective and of the failures out.

Shapes    host arrays X (R, n, D) in the unit cube, y (R, n), ok and seen (R, n), pending (R, e, D).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.backend import Array, like, namespace, to_host
from surefoot.engine.batch import HOST, Batch
from surefoot.engine.thinning import informative
from surefoot.engine.warmth import Warmth
from surefoot.failures.classification import label_data
from surefoot.failures.registry import FAILURE_MODELS, MAX_LABELS, Link
from surefoot.gp.fit import N_OPTIMIZED, N_RANDOM_STARTS, SUBSET, Fit, FitState, fit, is_cold, is_healthy
from surefoot.gp.kernels import KERNELS, SE, Kernel, get_kernel, per_run
from surefoot.gp.likelihood import Data, make_data
from surefoot.gp.likelihood import select_runs as select_data
from surefoot.gp.posterior import Posterior, condition, select_runs
from surefoot.gp.priors import PRIORS
from surefoot.numerics.designs import Generators
from surefoot.numerics.scaling import standardize
from surefoot.numerics.warping import LEVELS, Warp, make_warp
from surefoot.optimize.settings import AUTO, NOISE_ESTIMATED, Settings

MAX_WARPED_NOISE = 0.03  # over s of the warp: more, and the least value, the luckiest, is drawn out as if it were real
MATERIAL_NOISE = 1e-4  # noise variance over the variance of y above which f_best is a posterior mean


@dataclass(frozen=True)
class Model:
    """Everything fitted in one step, of R runs."""

    objective: Posterior
    failures: Posterior | None
    link: Link | None  # from the moments of `failures` to log P(success)
    warp: Warp
    shift: np.ndarray  # (R, 1): warped y = shift + scale * standardized
    scale: np.ndarray  # (R, 1)
    noisy: np.ndarray  # (R,) the noise is material
    f_best: Array  # (R, 1), standardized
    jitter_raised: np.ndarray  # (R,)
    warmth: Warmth

    def standardized(self, y: np.ndarray) -> np.ndarray:
        """Values (R, m) as the objective's process sees them."""
        return np.asarray((self.warp.forward(y) - self.shift) / self.scale)

    def part(self, rows: slice) -> Model:
        """The models of some of the runs; the warmth stays that of all."""
        arrays = ("shift", "scale", "noisy", "f_best", "jitter_raised")
        return replace(
            self,
            objective=select_runs(self.objective, rows),
            failures=None if self.failures is None else select_runs(self.failures, rows),
            warp=self.warp.part(rows),
            **{name: getattr(self, name)[rows] for name in arrays},
        )


def fit_model(
    runs: Batch, settings: Settings, warmth: Warmth, generators: Generators, reference: Array = HOST
) -> Model:
    """Fit the objective, and where evaluations have failed the failures, of every run."""
    failed = runs.failed
    if settings.failures == "impute":
        runs = _impute(runs, failed)
    p = runs.X.shape[-1] + 1
    uniforms = like(np.stack([rng.random((2, N_RANDOM_STARTS, p)) for rng in generators]), reference)
    objective = _fit_objective(runs, settings, warmth, uniforms[:, 0], reference)
    data, result = objective.data, objective.result
    post = condition(data, result.theta, per_run(objective.kernels))

    failures, failure_fit = None, None
    model = FAILURE_MODELS.get(settings.failures)
    if model is not None and bool(failed.any()):
        state = _on(warmth.failures if warmth.failures_by == settings.failures else None, runs, reference)
        X_labels, seen = runs.X, runs.seen
        if runs.X.shape[1] > MAX_LABELS:
            X_labels, failed, seen = _thinned(runs, failed, state, model.keeps(runs.X.shape[1]))
        labels = label_data(
            like(X_labels, reference),
            like(failed.astype(float), reference),
            None if seen is None else like(seen.astype(float), reference),
        )
        failures, failure_fit = model.fit(
            labels,
            SE,  # whatever the objective's: regions that fail have smooth borders, and few labels must do
            uniforms[:, 1],
            state,
            n_history=runs.X.shape[1],
        )
    noisy, f_best = _incumbent(post, data.y, data.mask)
    return Model(
        objective=post,
        failures=failures,
        link=None if model is None else model.link,
        warp=objective.warp,
        shift=objective.shift,
        scale=objective.scale,
        noisy=noisy,
        f_best=f_best,
        jitter_raised=to_host(result.jitter_raised),
        warmth=Warmth(
            _off(result),
            None if failure_fit is None else _off(failure_fit),
            settings.failures,
            objective.levels,
            tuple(kernel.name for kernel in objective.kernels),
        ),
    )


@dataclass(frozen=True)
class _Objective:
    """A fit of the objective's values, and how they were scaled."""

    data: Data
    result: Fit
    warp: Warp
    shift: np.ndarray  # (R, 1)
    scale: np.ndarray  # (R, 1)
    levels: tuple[int, ...]  # of the warps; empty: none
    kernels: tuple[Kernel, ...]  # of the runs

    def select(self, rows: np.ndarray, reference: Array) -> _Objective:
        """The fits of some rows."""
        runs = like(rows, reference)
        theta, H = self.result.theta[runs], self.result.state.inv_hessian[runs]
        state = FitState(theta, H, self.result.state.n_cold)
        result = Fit(theta, self.result.nll[runs], self.result.jitter_raised[runs], state)
        data, warp = select_data(self.data, runs), self.warp.part(rows)
        levels = tuple(self.levels[r] for r in rows.tolist()) if self.levels else ()
        kernels = tuple(self.kernels[r] for r in rows.tolist())
        return _Objective(data, result, warp, self.shift[rows], self.scale[rows], levels, kernels)


def _fit_objective(runs: Batch, settings: Settings, warmth: Warmth, uniforms: Array, reference: Array) -> _Objective:
    """Fit with the kernel that is known; where it is free and a cold search is due, with each: take the likelier."""
    R, n = runs.y.shape
    state = _on(warmth.objective, runs, reference)
    if settings.kernel != AUTO:
        kernels = (get_kernel(settings.kernel),) * R
        return _fit_warped(runs, settings, kernels, warmth.warp, state, uniforms, reference)
    is_known = len(warmth.kernels) == R and all(name in KERNELS for name in warmth.kernels)
    if is_known and not is_cold(n, state):
        kernels = tuple(get_kernel(name) for name in warmth.kernels)
        return _fit_warped(runs, settings, kernels, warmth.warp, state, uniforms, reference)
    K = len(KERNELS)
    tiled = _repeated(runs, K)
    levels = tuple(np.repeat(warmth.warp, K).tolist())
    tried = _fit_warped(
        tiled,
        settings,
        (*KERNELS.values(),) * R,
        levels,
        None if state is None else _repeated_state(state, K, state.n_cold, reference),
        _repeated_rows(uniforms, K, reference),
        reference,
        N_OPTIMIZED // K,
    )
    best = np.argmin(_cost(tried, tiled).reshape(R, K), axis=1)
    return tried.select(np.arange(R) * K + best, reference)


def _repeated(runs: Batch, times: int) -> Batch:
    """Every run `times` times, side by side."""
    X, y, ok, pending = (np.repeat(a, times, axis=0) for a in (runs.X, runs.y, runs.ok, runs.pending))
    return Batch(X, y, ok, pending, tuple(run for run in runs.run_ids for _ in range(times)))


def _repeated_rows(a: Array, times: int, reference: Array) -> Array:
    return a[like(np.repeat(np.arange(a.shape[0]), times), reference)]


def _repeated_state(state: FitState, times: int, n_cold: int, reference: Array) -> FitState:
    theta, H = (_repeated_rows(a, times, reference) for a in (state.theta, state.inv_hessian))
    return FitState(theta, H, n_cold)


def _fit_warped(
    runs: Batch,
    settings: Settings,
    kernels: tuple[Kernel, ...],
    levels: tuple[int, ...],
    state: FitState | None,
    uniforms: Array,
    reference: Array,
    n_optimized: int = N_OPTIMIZED,
) -> _Objective:
    """Fit at the levels of warping that are known; where a cold search is due, at all of them, and take the best."""
    R, n = runs.y.shape
    if settings.warp == "none":
        return _fit_at(runs, settings, kernels, np.zeros(R, int), state, uniforms, reference, n_optimized)
    if state is not None and len(levels) == R and not is_cold(n, state):
        return _fit_at(runs, settings, kernels, np.asarray(levels), state, uniforms, reference)
    known = state if len(levels) == R else None
    L = len(LEVELS)
    few = _some_successes(runs)
    tiled = _repeated(few, L)
    # the levels compete by short searches from the last optimum; the winner then gets its cold one
    tried = _fit_at(
        tiled,
        settings,
        tuple(kernel for kernel in kernels for _ in range(L)),
        np.tile(np.arange(L), R),
        None if known is None else _repeated_state(known, L, n, reference),
        _repeated_rows(uniforms, L, reference),
        reference,
        n_optimized,
    )
    cost = np.where(_noise_sd(tried) > MAX_WARPED_NOISE * tried.warp.s[:, 0], np.inf, _cost(tried, tiled))
    best = np.argmin(cost.reshape(R, L), axis=1)
    if known is not None or few is not runs:
        return _fit_at(runs, settings, kernels, best, known, uniforms, reference, n_optimized)
    return tried.select(np.arange(R) * L + best, reference)


def _cost(objective: _Objective, runs: Batch) -> np.ndarray:
    """(R,) -log likelihood of y with the prior: that of the standardized w, and the slopes dw/dy over the scale."""
    slopes = np.where(runs.ok, objective.warp.log_slope(np.where(runs.ok, runs.y, objective.warp.low)), 0.0)
    nll = to_host(objective.result.nll)
    cost = nll + runs.ok.sum(axis=1) * np.log(objective.scale[:, 0]) - slopes.sum(axis=1)
    return np.where(np.isnan(cost), np.inf, cost)


def _some_successes(runs: Batch) -> Batch:
    """At most SUBSET evaluations of each run, successes before failures, evenly through the history."""
    if runs.X.shape[1] <= SUBSET:
        return runs
    order = np.argsort(~runs.ok, axis=1, kind="stable")
    last = np.maximum(runs.ok.sum(axis=1), SUBSET)[:, None] - 1
    kept = np.take_along_axis(order, np.rint(np.linspace(0.0, 1.0, SUBSET) * last).astype(int), axis=1)
    X = np.take_along_axis(runs.X, kept[..., None], axis=1)
    y, ok = (np.take_along_axis(a, kept, axis=1) for a in (runs.y, runs.ok))
    return replace(runs, X=X, y=y, ok=ok, seen=None)


def _noise_sd(tried: _Objective) -> np.ndarray:
    """(R,) standard deviation of the noise that a fit sees, in units of y at its least value, where the slope is 1."""
    post = condition(tried.data, tried.result.theta, per_run(tried.kernels))
    return np.asarray(np.sqrt(to_host(post.lam) * to_host(post.s2)) * tried.scale[:, 0])


def _fit_at(
    runs: Batch,
    settings: Settings,
    kernels: tuple[Kernel, ...],
    levels: np.ndarray,
    state: FitState | None,
    uniforms: Array,
    reference: Array,
    n_optimized: int = N_OPTIMIZED,
) -> _Objective:
    """Fit with these kernels and y warped at these levels (R,)."""
    warp = make_warp(runs.y, runs.ok, levels)
    y, shift, scale = standardize(warp.forward(np.where(runs.ok, runs.y, warp.low)), runs.ok)
    all_ok = bool(runs.ok.all())
    fixed = settings.noise not in (NOISE_ESTIMATED, 0)
    # far below the floor of lam a fixed noise is no noise
    variance = np.maximum((np.asarray(settings.noise, dtype=float) / scale[:, 0]) ** 2, 1e-14) if fixed else None
    mask = None if all_ok else like(runs.ok.astype(float), reference)
    if all_ok or runs.X.shape[0] > 1:
        X = like(runs.X, reference)
        data = make_data(X, like(y, reference), mask, None if variance is None else like(variance, reference))
    else:  # one run: leave the failed rows out rather than mask them
        rows = runs.ok[0]
        X, y_ok = like(runs.X[:, rows], reference), like(y[:, rows], reference)
        data = make_data(X, y_ok, None, None if variance is None else like(variance, reference))
    result = fit(
        data,
        per_run(kernels),
        estimate_noise=settings.noise == NOISE_ESTIMATED,
        uniforms=uniforms,
        state=state,
        n_history=runs.X.shape[1],
        prior=PRIORS[settings.prior],
        n_optimized=n_optimized,
    )
    kept = tuple(levels.tolist()) if settings.warp != "none" else ()
    return _Objective(data, result, warp, shift, scale, kept, kernels)


def _thinned(
    runs: Batch, failed: np.ndarray, state: FitState | None, keep: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The labels that say something new: points, whether they failed, whether they were seen."""
    inv_ell = None if state is None else np.exp(-to_host(state.theta)[:, : runs.X.shape[-1]])
    kept = informative(runs.X, failed, runs.seen, inv_ell, keep)
    seen = None if runs.seen is None else np.take_along_axis(runs.seen, kept, axis=1)
    return np.take_along_axis(runs.X, kept[..., None], axis=1), np.take_along_axis(failed, kept, axis=1), seen


def _impute(runs: Batch, failed: np.ndarray) -> Batch:
    """Failed evaluations as if they had returned the worst value seen: what many libraries do."""
    worst = np.max(np.where(runs.ok, runs.y, -np.inf), axis=1, keepdims=True)
    known = failed & np.isfinite(worst)
    return replace(runs, y=np.where(known, worst, runs.y), ok=runs.ok | known)


def _incumbent(post: Posterior, y: Array, mask: Array | None) -> tuple[np.ndarray, Array]:
    """Whether noise is material, and f_best: min y, or with material noise the least posterior mean there.

    At an observation the posterior mean is y - lam alpha, as (C - lam I) alpha = r - lam alpha.
    """
    xp = namespace(y)
    noisy = post.lam * post.s2 > MATERIAL_NOISE  # of standardized y, whose variance is 1
    level = xp.where(noisy[:, None], y - post.lam[:, None] * post.alpha, y)
    if mask is not None:
        level = xp.where(mask > 0.0, level, xp.inf)
    return to_host(noisy), xp.min(level, axis=1, keepdims=True)


def _on(state: FitState | None, runs: Batch, reference: Array) -> FitState | None:
    """A stored state as arrays like `reference`; None if it is damaged or of another space: then start afresh."""
    if state is None or state.theta.shape != (len(runs.run_ids), runs.X.shape[-1] + 1) or not is_healthy(state):
        return None
    return FitState(like(state.theta, reference), like(state.inv_hessian, reference), state.n_cold)


def _off(result: Fit) -> FitState:
    """A fit's state as host arrays, to be stored."""
    return FitState(to_host(result.state.theta), to_host(result.state.inv_hessian), result.state.n_cold)
