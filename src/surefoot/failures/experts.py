"""P(success | x), calibrated from the first labels on: Gaussian process classifiers, averaged by their evidence.

Labels    h = +1 (failed), -1 (succeeded), 0 (says nothing);  P(h | f) = Phi(h f);  f is a sum of parts (parts.py).
Experts   trend    all parts; hyperparameters of greatest posterior density.
          sparse   without the polynomial parts, and with a prior that lets inputs go: few of many inputs matter.
          rough    the rough part alone: the base rate, and at a label that label. Nothing is fitted.
          random   the better of trend and sparse without the rough part: failures at random on top of a structure.
          rate     Laplace's rule (successes + 1) / (n + 2), whatever x is.
Weights   w_i ~ PRIOR_i exp(SHARE (log Z_i - penalty_i - OCCAM_i narrowing_i)), log Z by expectation propagation: the
          density of the prior at the hyperparameters counts for those that have any.  P = sum w_i P_i. An average of
          experts says "I do not know" where one Gaussian cannot.
Share     No simulator is drawn from any of the experts. Where all are wrong, the whole evidence is too sure of the one
          that is least so.
Occam     An expert that can say many things explains some labels by chance. Laplace's approximation of the integral
          over its hyperparameters has the factor exp(-narrowing): by how much the labels narrow what they may be. All
          of it is too much, for the priors are vague; OCCAM is what log loss asked for (docs/evidence/failures.md).
Priors    log ell: normal, a common deviation and one of each input; log s2, log rho_l, log rho_q: normal.
Evidence  benchmarks/crash_model.py compares this with others; docs/evidence/failures.md has the figures.
Shapes    one run with J maps: X (n, d), h (J, n); theta (E, S, p), p = d + 3; E = 2 J fitted processes, trends first.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from surefoot.backend import SERIAL_BELOW, Array, like, namespace, to_host
from surefoot.failures.expectation_propagation import find_sites
from surefoot.failures.iterations import Recall
from surefoot.failures.parts import NU, Points, Processes, covariance
from surefoot.gp.hyperparameters import SUBSET, Effort, FitState, Screened, fit, is_due, screen_in_box
from surefoot.numerics.latest import Latest
from surefoot.numerics.normal import log_pi
from surefoot.numerics.subsets import balanced

PRIOR = (0.30, 0.12, 0.56, 0.01, 0.01)  # of trend, sparse, rough, random, rate
OCCAM = (0.25, 0.50)  # of trend and sparse: how much of the narrowing counts
SHARE = 0.8  # of the evidence that counts
NEGLIGIBLE = 1e-2  # weight of an expert that is left out
FLOOR = 1e-6  # least weight of the rate: P is never quite 0
EFFORT = Effort(n_optimized=4, cold_tol=1e-2, warm_tol=0.03, warm_calls=6, polish_calls=8)
REFITS = 12  # of the hyperparameters while the number of evaluations doubles, about
TOL = 1e-4  # of EP's fixed point; log Z is stationary there, its error the square
_MIN_ELL, _MAX_ELL = 5e-3, 50.0  # the upper one times sqrt d
_S2 = (0.05 * (1.0 + NU), 1e4 * (1.0 + NU))
_RHO = (1e-3, 1e3)
_NONE = -30.0  # log rho of a part that is not there
_STEP = 1e-2  # of a hyperparameter, for differences of gradients
_LEAST_CURVATURE = 0.3  # over the prior's: labels that widen what the hyperparameters may be are not believed
_STARTS = ((0.3, 30.0), (1.0, 30.0), (1.0, 3.0), (3.0, 100.0))  # ell / its prior's median, s2 / (1 + nu)


@dataclass(frozen=True)
class Family:
    """The prior of one expert's hyperparameters."""

    ell: float  # median of ell / sqrt d
    own: float  # standard deviation of log ell, of each input
    common: float  # and of all together
    rho: tuple[tuple[float, float], ...]  # median and standard deviation of log rho_l and rho_q; none: no such part

    def mean(self, d: int) -> np.ndarray:
        """Of theta, (p,)."""
        rho = [math.log(median) for median, _ in self.rho] or [_NONE, _NONE]
        return np.array([math.log(self.ell * math.sqrt(d))] * d + [math.log(50.0 * (1.0 + NU)), *rho])

    def covariance(self, d: int) -> np.ndarray:
        """Of theta, (p, p)."""
        C = np.diag(np.square([0.0] * d + [2.0, *([sd for _, sd in self.rho] or [1.0, 1.0])]))
        C[:d, :d] = self.own**2 * np.eye(d) + self.common**2
        return C

    def bounds(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        """The box, (p,) each."""
        rho = np.log(_RHO) if self.rho else np.array([_NONE, _NONE])
        ends = ((_MIN_ELL, _S2[0], rho[0]), (_MAX_ELL * math.sqrt(d), _S2[1], rho[1]))
        lower, upper = (np.array([math.log(ell)] * d + [math.log(s2), end, end]) for ell, s2, end in ends)
        return lower, upper

    def starts(self, d: int) -> np.ndarray:
        """Of a cold search, (S, p)."""
        shift = [[math.log(ell)] * d + [math.log(s2 / 50.0), 0.0, 0.0] for ell, s2 in _STARTS]
        return np.asarray(self.mean(d) + np.asarray(shift))


FAMILIES = (
    Family(ell=0.6, own=1.0, common=1.5, rho=((1.0, 3.0), (0.3, 3.0))),  # trend
    Family(ell=1.0, own=3.0, common=1.0, rho=()),  # sparse
)


def n_hyperparameters(d: int) -> int:
    """Of both families, their narrowing, which of four experts count, and what the map is of."""
    return len(FAMILIES) * (d + 4) + 5


@dataclass(frozen=True)
class Belief:
    """The evidence of 2 J processes with their prior: see `gp.hyperparameters.Evidence`."""

    points: Points
    h: Array  # (E, n)
    nu: Array  # (E,)
    mean: Array  # (E, 1, p)
    precision: Array  # (E, p, p)
    n_history: int
    recall: Recall = field(default_factory=Recall)

    @classmethod
    def of(cls, X: Array, h: Array, n_history: int) -> Belief:
        """That of both families for each of J maps."""
        xp = namespace(X)
        d = X.shape[-1]
        mean, precision = (
            like(np.repeat(np.stack(parts), h.shape[0], axis=0), X)
            for parts in zip(*((f.mean(d)[None], np.linalg.inv(f.covariance(d))) for f in FAMILIES), strict=True)
        )
        h = xp.concat([h] * len(FAMILIES))
        return cls(Points.of(X), h, xp.full_like(h[:, 0], NU), mean, precision, n_history)

    @property
    def n_points(self) -> int:
        """Labels of each map."""
        return int(self.h.shape[1])

    def penalty(self, theta: Array, some: Array | None = None) -> tuple[Array, Array]:
        """-log of the prior's density up to a constant, (E, S), and its gradient."""
        mean, precision = (a if some is None else a[some] for a in (self.mean, self.precision))
        off = theta - mean
        slope = off @ precision
        return 0.5 * namespace(theta).sum(off * slope, axis=-1), slope

    def cost(self, theta: Array, runs: Array | None, gradient: bool = True) -> tuple[Array, Array]:
        """-log Z of EP with the penalty."""
        xp = namespace(theta)
        h, nu = (a if runs is None else a[runs] for a in (self.h, self.nu))
        prior = covariance(theta, nu, self.points)
        sites = find_sites(prior.K, h, self.recall.nearest(theta, runs) if gradient else None, TOL)
        self.recall.keep(theta, xp.stack([sites.root, sites.target], axis=2), runs)
        penalty, slope = self.penalty(theta, runs)
        good = xp.isfinite(sites.log_z)
        cost = xp.where(good, penalty - sites.log_z, xp.inf)
        if not gradient:
            return cost, xp.zeros_like(theta)
        M = sites.L_inv * sites.root[..., None, :]  # d log Z = tr(G dK),  G = (a a' - root B^-1 root) / 2
        G = 0.5 * (sites.a[..., :, None] * sites.a[..., None, :] - xp.matrix_transpose(M) @ M)
        return cost, xp.where(good[..., None], slope - prior.gradient(G, self.points), 0.0)

    def narrowing(self, theta: Array) -> np.ndarray:
        """(E,) log of sqrt(det(H C)) at theta (E, p): H is the Hessian of the cost, C the prior's covariance."""
        columns = []
        for step in _STEP * np.eye(theta.shape[-1]):  # one after another: a search has no more of them in memory
            ends = theta[:, None] + like(np.stack([step, -step]), theta)
            slope = to_host(self.cost(ends, None)[1])
            columns.append((slope[:, 0] - slope[:, 1]) / (2.0 * _STEP))
        H = np.stack(columns, axis=1)
        root = np.linalg.cholesky(np.linalg.inv(to_host(self.precision)))  # C = root root'
        curvature = np.linalg.eigvalsh(np.swapaxes(root, 1, 2) @ (0.5 * (H + np.swapaxes(H, 1, 2))) @ root)
        return np.asarray(0.5 * np.log(np.maximum(curvature, _LEAST_CURVATURE)).sum(axis=1))

    def bounds(self, n_starts: int) -> tuple[Array, Array]:
        """The box."""
        lower, upper = zip(*(family.bounds(self.points.X.shape[1]) for family in FAMILIES), strict=True)
        return self._rows([np.stack([low] * n_starts) for low in lower]), self._rows(
            [np.stack([high] * n_starts) for high in upper]
        )

    def starts(self, uniforms: Array) -> Array:
        """Starts of a cold search; nothing is drawn from `uniforms`."""
        return self._rows([family.starts(self.points.X.shape[1]) for family in FAMILIES])

    def screen(self, theta: Array, lower: Array, upper: Array) -> Screened:
        """There is no wall to leave."""
        return screen_in_box(self, theta, lower, upper)

    def subset(self) -> Belief:
        """That of some labels, the same of every map: as many of the rarer kind as fit in half."""
        failed = to_host(self.h > 0.0).any(axis=0)
        keep = like(balanced(np.where(failed, 1.0, -1.0).tolist(), SUBSET), self.h)
        return replace(self, points=Points.of(self.points.X[keep]), h=self.h[:, keep], recall=Recall())

    def _rows(self, of_families: Sequence[np.ndarray]) -> Array:
        """Arrays of the families for every process."""
        return like(np.repeat(np.stack(of_families), self.h.shape[0] // len(FAMILIES), axis=0), self.h)


@dataclass(frozen=True)
class Maps:
    """J averages of experts over the cube: P(no failure of a kind), or of any."""

    processes: Processes  # those that count in any map
    weights: Array  # (J, E) of each in each map
    rate: Array  # (J, 1) what the rate adds to each map
    left_out: Array  # (J, n) log P at every point of the labels, had its own label not been seen; NaN without a label
    structure: np.ndarray  # (J,) the weight of the experts that see one: all but `rough` and `rate`

    def select(self, rows: np.ndarray) -> Maps:
        """Some of the maps, with the experts that count in them."""
        some = like(rows, self.weights)
        weights = self.weights[some]
        used = np.flatnonzero(to_host(weights).sum(axis=0) > 0.0)
        # where the rate alone counts, one process stays that adds nothing
        counts = like(used if used.size else np.zeros(1, int), weights)
        processes, structure = self.processes.select(counts), self.structure[rows]
        return Maps(processes, weights[:, counts], self.rate[some], self.left_out[some], structure)

    def p(self, x: Array) -> Array:
        """P of each map at x (m, d), (J, m)."""
        return self.rate + self.weights @ _phi(self.processes.margins(x, gradients=False)[0])[0]

    def p_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """P of each map at x and its gradient, (J, m, d)."""
        xp = namespace(x)
        u, d_u = self.processes.margins(x, gradients=True)
        assert d_u is not None  # asked for
        value, density = _phi(u)
        E, m, d = d_u.shape
        slope = self.weights @ xp.reshape(density[..., None] * d_u, (E, m * d))
        return self.rate + self.weights @ value, xp.reshape(slope, (self.rate.shape[0], m, d))


def _phi(u: Array) -> tuple[Array, Array]:
    """Phi(u) and its density."""
    xp = namespace(u)
    return xp.exp(log_pi(u)[0]), xp.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)


def fit_maps(X: Array, h: Array, tags: np.ndarray, state: FitState | None, n_history: int) -> tuple[Maps, FitState]:
    """J maps of one run from labels h (J, n) at X (n, d); tags (J,) say what each is of.

    The state has a row for each map: the hyperparameters of both families, their narrowing, which experts count, the
    tag. One whose tags differ is forgotten. Hessians are not kept: the prior's take their place.
    """
    xp = namespace(X)
    J, p = h.shape[0], X.shape[1] + 3
    if state is not None and not np.array_equal(to_host(state.theta)[:, -1], tags):
        state = None
    if state is not None and not is_due(n_history, state, REFITS):
        rows = state.theta
        return _latest.of(_key(X, h, rows, n_history), lambda: _recalled(X, h, rows)), state
    belief = Belief.of(X, h, n_history)
    own = None
    if state is not None:
        theta = xp.concat([state.theta[:, :p], state.theta[:, p : 2 * p]])
        own = FitState(theta, 0.1 * xp.linalg.inv(belief.precision), state.n_cold * 2)
    draws = xp.zeros((2 * J, 0, p), dtype=X.dtype, device=X.device)
    own = fit(belief, draws, own, EFFORT).state
    if state is None or own.n_cold[:J] != state.n_cold:
        narrowing = belief.narrowing(own.theta)
    else:  # it grows with log n, and changes little until the next cold search
        narrowing = to_host(state.theta[:, 2 * p : 2 * p + 2]).T.ravel()
    fitted = Fitted(own.theta, narrowing)
    counts = _judge(belief, h, fitted)
    maps = _counting(belief, h, fitted, counts)
    rest = np.concatenate([fitted.narrowing.reshape(2, J).T, counts, tags[:, None]], axis=1)
    kept = xp.concat([own.theta[:J], own.theta[J:], like(rest, h)], axis=-1)
    nothing = xp.zeros((J, 0, 0), dtype=X.dtype, device=X.device)
    return maps, FitState(kept, nothing, own.n_cold[:J])


_latest: Latest[Maps] = Latest(size=4)


def _key(X: Array, h: Array, theta: Array, n_history: int) -> Hashable:
    """What `_recalled` depends on, and where BLAS has several threads, which round otherwise."""
    arrays = ((type(a), str(getattr(a, "device", "")), a.shape, to_host(a).tobytes()) for a in (X, h, theta))
    return n_history < SERIAL_BELOW, *arrays


def _recalled(X: Array, h: Array, rows: Array) -> Maps:
    """The maps with the hyperparameters and experts of the last fit, whose state has these rows."""
    p = X.shape[1] + 3
    theta = namespace(X).concat([rows[:, :p], rows[:, p : 2 * p]])
    rest = to_host(rows[:, 2 * p : -1])
    return _counting(Belief.of(X, h, 0), h, Fitted(theta, rest[:, :2].T.ravel()), rest[:, 2:])


@dataclass(frozen=True)
class Fitted:
    """What the experts of both families are."""

    theta: Array  # (2 J, p)
    narrowing: np.ndarray  # (2 J,)

    def penalty(self, belief: Belief) -> Array:
        """(2 J,) what is taken from their evidence."""
        share = np.repeat(OCCAM, len(self.narrowing) // 2)
        return belief.penalty(self.theta[:, None])[0][:, 0] + like(share * self.narrowing, self.theta)


def _counting(belief: Belief, h: Array, fitted: Fitted, counts: np.ndarray) -> Maps:
    """The maps of the experts that count (J, 4)."""
    theta, nu, penalty = _all_experts(belief, fitted, like(counts[:, 3], h))
    rows = np.flatnonzero(counts.T.ravel() > 0.0)
    some = like(rows, h)
    start = belief.recall.nearest(fitted.theta[:, None], None)
    if start is not None:
        start = namespace(h).concat([start, 0.0 * start])[some]
    return _conditioned(belief.points, h, (theta[some], nu[some], penalty[some], start), rows)


def _all_experts(belief: Belief, fitted: Fitted, origin: Array) -> tuple[Array, Array, Array]:
    """theta (4 J, p), nu, penalty (4 J,) of trend, sparse, rough, random; origin (J,) of the last one: 2 is sparse."""
    theta, penalty = fitted.theta, fitted.penalty(belief)
    xp = namespace(theta)
    J, d = origin.shape[0], belief.points.X.shape[1]
    sparse = origin > 1.5
    noisy = xp.where(sparse[:, None], theta[J:], theta[:J])
    noisy = xp.concat([noisy[:, :d], noisy[:, d : d + 1] - math.log(1.0 + NU), noisy[:, d + 1 :]], axis=-1)
    flat = xp.concat([0.0 * theta[:J, :d], 0.0 * theta[:J, d:] - 700.0], axis=-1)  # s2 = 0
    nu = xp.concat([belief.nu, belief.nu[:J], 0.0 * belief.nu[:J]])
    more = xp.concat([0.0 * penalty[:J], xp.where(sparse, penalty[J:], penalty[:J])])
    return xp.concat([theta, flat, noisy]), nu, xp.concat([penalty, more])


def _judge(belief: Belief, h: Array, fitted: Fitted) -> np.ndarray:
    """Which experts count in each map, (J, 4) 1 or 0, by their evidence; of `random` 2: sparse."""
    theta = fitted.theta
    xp = namespace(theta)
    J, points = h.shape[0], belief.points
    start = belief.recall.nearest(theta[:, None], None)
    sites = find_sites(covariance(theta[:, None], belief.nu, points).K, belief.h, start, TOL)
    score = sites.log_z[:, 0] - fitted.penalty(belief)
    origin = xp.where(score[J:] > score[:J], 2.0 + 0.0 * score[:J], 1.0 + 0.0 * score[:J])
    every, nu, penalty = _all_experts(belief, fitted, origin)
    unfitted = find_sites(covariance(every[2 * J :, None], nu[2 * J :], points).K, belief.h, None, TOL)
    score = xp.concat([score, unfitted.log_z[:, 0] - penalty[2 * J :]])
    weights = _weights(to_host(score).reshape(4, J).T, to_host(h))
    counts = (weights[:, :4] > 0.0).astype(float)
    counts[:, 2] = np.maximum(counts[:, 2], ~counts.any(axis=1))
    counts[:, 3] *= to_host(origin)
    return counts


def _conditioned(
    points: Points, h: Array, experts: tuple[Array, Array, Array, Array | None], counting: np.ndarray
) -> Maps:
    """Maps of the experts that count, all labels told; `experts`: theta, nu, penalty and where EP starts."""
    J, n = h.shape
    theta, nu, penalty, start = experts
    labels = h[like(counting % J, h)]
    sites = find_sites(covariance(theta[:, None], nu, points).K, labels, start, TOL)
    score, known = np.full(4 * J, -np.inf), np.zeros((4 * J, n))
    score[counting] = to_host(sites.log_z[:, 0] - penalty)
    known[counting] = to_host(sites.left_out(labels[:, None])[:, 0])
    weights = _weights(score.reshape(4, J).T, to_host(h))
    own = np.zeros((J, len(counting)))
    own[counting % J, np.arange(len(counting))] = weights[counting % J, counting // J]
    n_ok, n_failed = (to_host(h * sign > 0.0).sum(axis=1) for sign in (-1.0, 1.0))
    rate = weights[:, 4] * (n_ok + 1.0) / (n_ok + n_failed + 2.0)
    left_out = _left_out(weights, known.reshape(4, J, n), to_host(h))
    processes = Processes(points.X, theta, nu, sites.a[:, 0], (sites.L_inv * sites.root[..., None, :])[:, 0])
    structure = weights[:, [0, 1, 3]].sum(axis=1)
    maps = Maps(processes, like(own, h), like(rate[:, None], h), like(left_out, h), structure)
    return maps.select(np.arange(J))


def _weights(score: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Weights (J, 5) of all experts from the scores (J, 4) of those that are processes."""
    n_ok, n_failed = (h < 0.0).sum(axis=1), (h > 0.0).sum(axis=1)
    rate = [_log_beta(k + 1, m + 1) for k, m in zip(n_ok.tolist(), n_failed.tolist(), strict=True)]
    score = np.where(np.isfinite(score), score, -np.inf)
    score = SHARE * np.concatenate([score, np.asarray(rate)[:, None]], axis=1) + np.log(PRIOR)
    weights = np.exp(score - score.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    weights = np.where(weights < NEGLIGIBLE, [0.0] * 4 + [FLOOR], weights)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _left_out(weights: np.ndarray, known: np.ndarray, h: np.ndarray) -> np.ndarray:
    """log P(no failure) at every label (J, n) without that label; known (4, J, n): the experts' log P(label | others).

    Without label i the weights are v_e ~ w_e / P_e(h_i | the others)^SHARE, and P(h_i | the others) is their average.
    """
    n_ok, n_failed = ((h * sign > 0.0).sum(axis=1, keepdims=True) for sign in (-1.0, 1.0))
    rate = np.log(np.maximum(np.where(h < 0.0, n_ok, n_failed), 1) / (n_ok + n_failed + 1.0))
    w = weights.T[..., None]
    each = np.concatenate([known, rate[None]])  # (5, J, n)
    each = np.where(w > 0.0, np.maximum(each, -700.0), 0.0)  # exp of it is not 0; what does not count may be NaN
    v = w * np.exp(-SHARE * each)
    own = np.minimum(np.log((v * np.exp(each)).sum(axis=0) / v.sum(axis=0)), -1e-12)
    return np.where(h < 0.0, own, np.where(h > 0.0, np.log(-np.expm1(own)), np.nan))


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
