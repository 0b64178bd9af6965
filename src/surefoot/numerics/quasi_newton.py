"""Bound-constrained BFGS on many problems at once, in lock-step, with a status per problem.

Purpose   Maximum likelihood of every run from several starts, and the polishing of every run's policy from its
          best candidates: R runs x S starts, each an independent minimization over a box in p variables.
Method    Projected quasi-Newton. The inverse Hessian H (p x p, dense) acts on the free variables; those held
          at a bound by the gradient stay. Steps are projected on the box and accepted by Armijo's rule, else
          shortened by a safeguarded parabola. A value that is not finite is a rejected step, never an error.
          One iteration = one call of `fun` for all problems that still run; finished runs leave the batch.
Stopping  Predicted decrease -g.d/2 (half the squared Newton decrement) below `f_tol`: scale-free, and sharp when
          H is warm. Passing the H of the last fit back in lets a refit after one new point end in 2-4 calls.
Host      On a GPU only `fun` works there. The algebra of the steps is on the host: its arrays are so small that a GPU
          would spend more on launching an operation than NumPy on doing it.
Shapes    x (R, S, p), f (R, S), g (R, S, p), H (R, S, p, p); lower, upper broadcast to x.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from surefoot.backend import Array, clip, like, namespace, sorts_by_shape, to_host
from surefoot.numerics.running import running_parts

RUNNING, CONVERGED, STALLED, BUDGET, BAD_START = range(5)

Function = Callable[[Array, "Array | None"], tuple[Array, Array]]
"""(x (R', S', p), indices of the R' runs or None for all) -> f (R', S'), gradient (R', S', p)."""

_ARMIJO = 1e-4
_RACE_FROM = 6  # calls before a start can be dropped: its H knows the curvature by then
_RACE_HOPE = 10.0  # times the predicted decrease: what a start may still gain


@dataclass(frozen=True)
class Rules:
    """How far steps go, and when a search ends."""

    first_step: Array | float  # (R, S) largest change of any variable in the first step of a cold start
    max_step: float  # of any step
    f_tol: float  # predicted decrease at which a search has converged
    max_calls: int
    max_backtracks: int = 10
    race: bool = False  # only the best start of each run matters: one that trails by more than it can gain is dropped


@dataclass(frozen=True)
class BoxResult:
    """Where each of the R x S minimizations ended."""

    x: Array  # (R, S, p)
    f: Array  # (R, S)
    g: Array  # (R, S, p)
    inv_hessian: Array  # (R, S, p, p)
    status: Array  # (R, S) CONVERGED, STALLED, BUDGET or BAD_START
    n_calls: int  # calls of the objective, each for all problems still running


def minimize_box(
    fun: Function, x0: Array, lower: Array, upper: Array, rules: Rules, inv_hessian: Array | None = None
) -> BoxResult:
    """Minimize `fun` over the box from every x0; see the head of the file."""
    if not sorts_by_shape(x0):
        return _from_host(fun, x0, lower, upper, rules, inv_hessian)
    return _minimize(_Search(fun, x0, lower, upper, rules, inv_hessian))


def _minimize(search: _Search) -> BoxResult:
    while (running := search.running()).any():
        if search.n_calls >= search.rules.max_calls:
            search.stop()
            break
        search.advance(running)
    return search.result()


def _from_host(
    fun: Function, x0: Array, lower: Array, upper: Array, rules: Rules, inv_hessian: Array | None
) -> BoxResult:
    """The same where `fun` works on a device: points go there, values and gradients come back."""

    def of_host(x: Array, runs: Array | None) -> tuple[Array, Array]:
        f, g = fun(like(x, x0), None if runs is None else like(runs, x0))
        return to_host(f), to_host(g)

    start, low, high, first, H = (
        to_host(a) if isinstance(a, type(x0)) else a for a in (x0, lower, upper, rules.first_step, inv_hessian)
    )
    search = _Search(of_host, start, low, high, replace(rules, first_step=first), H, one_part=True)
    found = _minimize(search)
    x, f, g, H, status = (like(a, x0) for a in (found.x, found.f, found.g, found.inv_hessian, found.status))
    return BoxResult(x, f, g, H, status, found.n_calls)


class _Search:
    """The state of all R x S minimizations; values are finite everywhere inside."""

    def __init__(
        self,
        fun: Function,
        x0: Array,
        lower: Array,
        upper: Array,
        rules: Rules,
        inv_hessian: Array | None,
        one_part: bool = False,  # what still runs is evaluated at once, where calls of `fun` count
    ) -> None:
        xp = namespace(x0)
        R, S, p = x0.shape
        self.fun, self.rules, self.one_part = fun, rules, one_part
        self.lower, self.upper = xp.broadcast_to(lower, x0.shape), xp.broadcast_to(upper, x0.shape)
        self.x = clip(x0, self.lower, self.upper)
        f, self.g = fun(self.x, None)
        self.eye = xp.broadcast_to(xp.eye(p, dtype=x0.dtype, device=x0.device), (R, S, p, p))
        cold = inv_hessian is None
        self.H = xp.asarray(self.eye, copy=True) if inv_hessian is None else inv_hessian
        # H is still the identity: scale it when s, y are known
        self.fresh = xp.full((R, S), cold, dtype=xp.bool, device=x0.device)
        first = xp.broadcast_to(xp.asarray(rules.first_step, dtype=x0.dtype, device=x0.device), (R, S))
        status = xp.where(xp.isfinite(f), RUNNING, BAD_START)
        self.f = xp.where(xp.isfinite(f), f, 0.0)
        self.d, self.decrease = self._direction(first if cold else rules.max_step)
        self.status = xp.where((status == RUNNING) & (self.decrease <= rules.f_tol), CONVERGED, status)
        self.step = xp.ones_like(self.f)
        self.n_back = xp.zeros_like(self.status)
        self.n_calls = 1

    def _direction(self, limit: Array | float) -> tuple[Array, Array]:
        return _direction(namespace(self.x), self.x, self.g, self.H, self.lower, self.upper, limit)

    def running(self) -> Array:
        """Which minimizations go on, a host mask (R, S)."""
        return to_host(self.status == RUNNING)

    def stop(self) -> None:
        """End those that still run: their budget is spent."""
        self.status = namespace(self.x).where(self.status == RUNNING, BUDGET, self.status)

    def advance(self, running_host: Array) -> None:
        """One step of every running minimization: accepted, or else shortened."""
        xp = namespace(self.x)
        running = self.status == RUNNING
        trial = clip(self.x + self.step[..., None] * self.d, self.lower, self.upper)
        f_new, g_new = self._evaluate(trial, running_host)
        finite = xp.isfinite(f_new)
        f_new = xp.where(finite, f_new, self.f)
        self.n_calls += 1
        s = trial - self.x
        slope = xp.sum(self.g * s, axis=-1)
        accept = running & finite & (f_new <= self.f + _ARMIJO * slope)
        # minimizer of the parabola through f, slope, f_new, kept within [0.1, 0.5] of the step
        curvature = f_new - self.f - slope
        ratio = -0.5 * slope / xp.where(curvature > 0.0, curvature, 1.0)
        ratio = xp.where(finite & (curvature > 0.0), clip(ratio, 0.1, 0.5), 0.2)
        self._accept(accept, trial, s, f_new, g_new)
        self._shorten(accept, running & ~accept, ratio, slope)
        if self.rules.race and self.n_calls > _RACE_FROM:
            known = xp.where(self.status == BAD_START, xp.inf, self.f)  # a bad start leads no race
            behind = self.f - xp.min(known, axis=1, keepdims=True)
            hopeless = behind > _RACE_HOPE * (self.decrease + self.rules.f_tol)
            self.status = xp.where((self.status == RUNNING) & hopeless, BUDGET, self.status)

    def _evaluate(self, trial: Array, running: Array) -> tuple[Array, Array]:
        """Values at `trial` where `running` (host mask); elsewhere the old ones. Finished problems cost nothing."""
        parts = running_parts(running, trial, self.one_part)
        if parts is None:
            return self.fun(trial, None)
        xp = namespace(trial)
        f, g = xp.asarray(self.f, copy=True), xp.asarray(self.g, copy=True)
        for part in parts:
            at = part.rows, part.columns
            f[at], g[at] = self.fun(trial[at], part.runs)
        return f, g

    def _accept(self, accept: Array, trial: Array, s: Array, f_new: Array, g_new: Array) -> None:
        """BFGS update of H, new point, new direction."""
        xp = namespace(trial)
        f_tol = self.rules.f_tol
        self.H, self.fresh = _bfgs(xp, self.H, self.fresh, s, g_new - self.g, accept, self.eye)
        took = accept[..., None]
        gain = xp.where(accept, self.f - f_new, xp.inf)
        self.x, self.g = xp.where(took, trial, self.x), xp.where(took, g_new, self.g)
        self.f = xp.where(accept, f_new, self.f)
        d_new, self.decrease = self._direction(self.rules.max_step)
        self.d = xp.where(took, d_new, self.d)
        done = accept & ((self.decrease <= f_tol) | ((gain <= 0.1 * f_tol) & (self.n_back == 0)))
        self.status = xp.where(done, CONVERGED, self.status)

    def _shorten(self, accept: Array, reject: Array, ratio: Array, slope: Array) -> None:
        """The next step's length: whole after an accepted one."""
        xp = namespace(ratio)
        self.step = xp.where(accept, 1.0, xp.where(reject, self.step * ratio, self.step))
        self.n_back = xp.where(accept, 0, xp.where(reject, self.n_back + 1, self.n_back))
        # Nothing left to gain along d even by the first-order model, or too many cuts: rounding rules now.
        too_many = self.n_back >= self.rules.max_backtracks
        stuck = reject & (too_many | (-slope * ratio <= 0.1 * self.rules.f_tol))
        self.status = xp.where(stuck, STALLED, self.status)

    def result(self) -> BoxResult:
        """Where they ended."""
        f = namespace(self.x).where(self.status == BAD_START, namespace(self.x).inf, self.f)
        return BoxResult(self.x, f, self.g, self.H, self.status, self.n_calls)


def _direction(
    xp: Array, x: Array, g: Array, H: Array, lower: Array, upper: Array, limit: Array | float
) -> tuple[Array, Array]:
    """Descent direction, no component longer than `limit`, and the decrease a quadratic model predicts for it."""
    held = ((x <= lower) & (g > 0.0)) | ((x >= upper) & (g < 0.0))
    g_free = xp.where(held, 0.0, g)
    d = -xp.squeeze(H @ g_free[..., None], axis=-1)
    if bool(xp.any(held)):
        # Newton's step with d = 0 on the held variables: d = -H (g + nu), nu on the held ones, H_hh nu = -(H g)_h
        both = held[..., :, None] & held[..., None, :]
        H_held = xp.where(both, H, xp.eye(H.shape[-1], dtype=H.dtype, device=H.device))
        nu = xp.linalg.solve(H_held, xp.where(held, d, 0.0)[..., None])
        d = xp.where(held, 0.0, d - xp.squeeze(H @ nu, axis=-1))
    slope = xp.sum(g_free * d, axis=-1)
    downhill = slope < 0.0
    d = xp.where(downhill[..., None], d, -g_free)
    decrease = 0.5 * xp.where(downhill, -slope, xp.sum(g_free * g_free, axis=-1))
    # Cutting off a step at the box can turn it uphill unless H is diagonal: then use its diagonal.
    kept = xp.sum(g_free * (clip(x + d, lower, upper) - x), axis=-1)
    lost = kept > 0.1 * xp.sum(g_free * d, axis=-1)
    d = xp.where(lost[..., None], -xp.linalg.diagonal(H) * g_free, d)
    longest = xp.max(xp.abs(d), axis=-1)
    d = d * (limit / xp.where(longest > limit, longest, limit))[..., None]
    return d, decrease


def _bfgs(xp: Array, H: Array, fresh: Array, s: Array, y: Array, accept: Array, eye: Array) -> tuple[Array, Array]:
    """H after the pair (s, y); unchanged where the step was rejected or shows no positive curvature."""
    sy = xp.sum(s * y, axis=-1)
    yy = xp.sum(y * y, axis=-1)
    ss = xp.sum(s * s, axis=-1)
    good = accept & (sy > 1e-10 * xp.sqrt(ss * yy)) & xp.isfinite(yy)
    safe_sy = xp.where(good, sy, 1.0)
    scale = xp.where(good & fresh, sy / xp.where(good, yy, 1.0), 1.0)  # Shanno and Phua's first scaling
    H0 = xp.where((good & fresh)[..., None, None], scale[..., None, None] * eye, H)
    Hy = xp.squeeze(H0 @ y[..., None], axis=-1)
    yHy = xp.sum(y * Hy, axis=-1)
    outer_ss = s[..., :, None] * s[..., None, :]
    cross = Hy[..., :, None] * s[..., None, :]
    cross = cross + xp.matrix_transpose(cross)
    factor = ((1.0 + yHy / safe_sy) / safe_sy)[..., None, None]
    updated = H0 + factor * outer_ss - cross / safe_sy[..., None, None]
    return xp.where(good[..., None, None], updated, H), fresh & ~good
