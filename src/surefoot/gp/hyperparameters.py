"""One search for the hyperparameters of R models, whatever their evidence: a likelihood, Laplace's, EP's.

Method    Projected BFGS on theta. Warm: from the last optimum with its inverse Hessian, so a refit after one new point
          takes a few evaluations; it can only improve on the old optimum. Cold: many starts are screened by their cost
          and the best few optimized; above SUBSET points that happens on a subset, and the winner is polished on all
          the data. A cold search is repeated whenever n has grown by a quarter, against being trapped for ever.
Shapes    theta (R, p); starts (R, S, p).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from surefoot.backend import Array, clip, like, namespace, to_host
from surefoot.numerics.quasi_newton import BAD_START, BoxResult, Rules, minimize_box

SUBSET = 200  # cold searches use at most this many points
REFIT_GROWTH = 1.25
N_RANDOM_STARTS = 16  # of a cold search, beside a grid of its own
N_OPTIMIZED = 8  # starts that are optimized in a cold search, racing
COLD_TOL, WARM_TOL = 1e-6, 1e-2  # predicted gain in nats at which a search ends; a warm one goes on next step
COLD_CALLS, WARM_CALLS = 60, 8
STEP = 2.0  # a hyperparameter changes by at most e^2 at once


@dataclass(frozen=True)
class FitState:
    """What the next fit starts from; small, so that it can be stored with every evaluation."""

    theta: Array  # (R, p)
    inv_hessian: Array  # (R, p, p)
    n_cold: tuple[int, ...]  # of each run: number of evaluations at its last cold search

    def select(self, runs: Array) -> FitState:
        """The states of some runs."""
        n_cold = tuple(self.n_cold[r] for r in to_host(runs).tolist())
        return FitState(self.theta[runs], self.inv_hessian[runs], n_cold)


@dataclass(frozen=True)
class Fit:
    """The optimum found."""

    theta: Array  # (R, p)
    cost: Array  # (R,) negative log evidence, with the prior's penalty
    jitter_raised: Array  # (R,) a floor had to be raised to make a matrix positive definite
    state: FitState

    def select(self, runs: Array) -> Fit:
        """The fits of some runs."""
        return Fit(self.theta[runs], self.cost[runs], self.jitter_raised[runs], self.state.select(runs))

    def or_other(self, other: Fit, taken: Array) -> Fit:
        """These fits, or in some runs (R,) others that were made beside them."""
        xp = namespace(self.theta)
        theta = xp.where(taken[:, None], other.theta, self.theta)
        inv_hessian = xp.where(taken[:, None, None], other.state.inv_hessian, self.state.inv_hessian)
        cost, raised = (
            xp.where(taken, b, a) for a, b in ((self.cost, other.cost), (self.jitter_raised, other.jitter_raised))
        )
        return Fit(theta, cost, raised, replace(self.state, theta=theta, inv_hessian=inv_hessian))


@dataclass(frozen=True)
class Effort:
    """When searches end."""

    n_optimized: int = N_OPTIMIZED  # starts that a cold search optimizes, the best of those screened
    cold_tol: float = COLD_TOL
    warm_tol: float = WARM_TOL
    warm_calls: int = WARM_CALLS
    polish_calls: int = WARM_CALLS  # after a cold search on a subset, whose optimum can lie far from that of all data


@dataclass(frozen=True)
class Screened:
    """Starts inside their box, at which the cost is finite if it can be made so."""

    theta: Array  # (R, S, p)
    cost: Array  # (R, S)
    lower: Array  # (R, S, p)
    upper: Array  # (R, S, p)
    raised: Array  # (R, S) the box was moved


class Evidence(Protocol):
    """What is minimized over theta, and where: all that the search knows of a model."""

    @property
    def n_points(self) -> int:
        """Points of each run."""

    @property
    def n_history(self) -> int:
        """Evaluations of each run so far, of which the points may be a part: it decides when a search is cold."""

    def cost(self, theta: Array, runs: Array | None, gradient: bool = True) -> tuple[Array, Array]:
        """Negative log evidence (R', S) and its gradient (R', S, p) of some runs (None: all)."""

    def bounds(self, n_starts: int) -> tuple[Array, Array]:
        """The box, (R, S, p) each."""

    def starts(self, uniforms: Array) -> Array:
        """Starts of a cold search (R, S, p); uniforms (R, k, p) in [0, 1), from the host: k of them random."""

    def screen(self, theta: Array, lower: Array, upper: Array) -> Screened:
        """Costs of many starts, moved into the box."""

    def subset(self) -> Evidence:
        """The evidence of SUBSET points of each run."""


def has_grown(n: int, n_cold: int) -> bool:
    """Whether n evaluations are enough more than n_cold for another cold search."""
    return n >= REFIT_GROWTH * n_cold


def is_cold(n: int, state: FitState | None) -> bool:
    """Whether a search at n evaluations starts afresh: if it is due in any run."""
    return state is None or has_grown(n, min(state.n_cold))


def is_due(n: int, state: FitState | None, refits: int) -> bool:
    """Whether hyperparameters that need not be fitted at every step are fitted at n evaluations.

    About `refits` times while n doubles: by n alone, so that a resumed run does the same.
    """
    return is_cold(n, state) or n % max(1, n // refits) == 0


def is_healthy(state: FitState) -> bool:
    """Whether a stored state can be used (finite, as after any normal fit)."""
    theta, H = to_host(state.theta), to_host(state.inv_hessian)
    return bool((theta == theta).all() and (abs(H) < 1e300).all())


def take_start(a: Array, best: Array) -> Array:
    """a[r, best[r]] for a (R, S, ...) and best (R,)."""
    return a[like(range(a.shape[0]), a), best]


def screen_in_box(evidence: Evidence, theta: Array, lower: Array, upper: Array) -> Screened:
    """Screening of an evidence that is finite everywhere in its box."""
    theta = clip(theta, lower, upper)
    cost, _ = evidence.cost(theta, None, gradient=False)
    return Screened(theta, cost, lower, upper, cost != cost)


def fit(evidence: Evidence, uniforms: Array, state: FitState | None = None, effort: Effort | None = None) -> Fit:
    """The least cost of every run.

    uniforms (R, k, p): host draws for k random starts of a cold search. `state`: the last fit's, if any.
    """
    xp = namespace(uniforms)
    effort = Effort() if effort is None else effort
    R, n = uniforms.shape[0], evidence.n_points
    cold = is_cold(evidence.n_history, state)
    n_cold = (evidence.n_history,) * R if state is None or cold else state.n_cold
    starts, hessians = ([], []) if state is None else ([state.theta], [state.inv_hessian])
    raised = xp.zeros(R, dtype=xp.bool, device=uniforms.device)
    if cold:
        small = n <= SUBSET
        pool = evidence if small else evidence.subset()
        found = _cold(pool, uniforms, None if state is None else state.theta, n_cold, effort)
        if small:  # the warm start was among the starts: nothing is left to do
            return found
        raised = found.jitter_raised
        starts.append(found.theta)
        hessians.append(found.state.inv_hessian * (SUBSET / n))  # curvature grows with the number of points
    theta = xp.stack(starts, axis=1)  # (R, 1 or 2, p)
    lower, upper = evidence.bounds(theta.shape[1])
    best = xp.zeros(R, dtype=xp.int64, device=uniforms.device)

    def optimize() -> BoxResult:
        calls = effort.polish_calls if cold else effort.warm_calls
        rules = Rules(first_step=0.5, max_step=STEP, f_tol=effort.warm_tol, max_calls=calls)
        start, low, high, H = (take_start(a, best)[:, None] for a in (theta, lower, upper, xp.stack(hessians, axis=1)))
        return minimize_box(evidence.cost, start, low, high, rules, H)

    result = optimize() if len(starts) == 1 else None
    if result is None or bool(xp.any(result.status == BAD_START)):  # choose between two starts, or leave a wall
        screened = evidence.screen(theta, lower, upper)
        theta, lower, upper = screened.theta, screened.lower, screened.upper
        best = xp.argmin(screened.cost, axis=1)
        raised = raised | take_start(screened.raised, best)
        result = optimize()
    theta, H = result.x[:, 0], result.inv_hessian[:, 0]
    return Fit(theta, result.f[:, 0], raised, FitState(theta, H, n_cold))


def unchanged(state: FitState) -> Fit:
    """The last fit as that of data which have hardly changed; its cost is not known."""
    xp = namespace(state.theta)
    unknown = xp.sum(state.theta, axis=1) * xp.nan
    return Fit(state.theta, unknown, xp.isfinite(unknown), state)


def _cold(evidence: Evidence, uniforms: Array, extra: Array | None, n_cold: tuple[int, ...], effort: Effort) -> Fit:
    """The best of several starts, the warm one (extra) among them."""
    xp = namespace(uniforms)
    starts = evidence.starts(uniforms)
    if extra is not None:
        starts = xp.concat([extra[:, None, :], starts], axis=1)
    screened = evidence.screen(starts, *evidence.bounds(starts.shape[1]))
    order = xp.argsort(screened.cost, axis=1, stable=True)[:, : effort.n_optimized]
    rows = like(range(starts.shape[0]), starts)[:, None]
    start, lower, upper = (a[rows, order] for a in (screened.theta, screened.lower, screened.upper))
    rules = Rules(first_step=0.5, max_step=STEP, f_tol=effort.cold_tol, max_calls=COLD_CALLS, race=True)
    result = minimize_box(evidence.cost, start, lower, upper, rules)
    best = xp.argmin(result.f, axis=1)
    theta, cost, H = (take_start(a, best) for a in (result.x, result.f, result.inv_hessian))
    raised = take_start(screened.raised, take_start(order, best))
    return Fit(theta, cost, raised, FitState(theta, H, n_cold))
