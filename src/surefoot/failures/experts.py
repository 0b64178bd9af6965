"""P(success | x), calibrated from the first labels on: Gaussian process classifiers, averaged by their evidence.

Labels    h = +1 (failed), -1 (succeeded);  P(h | f) = Phi(h f);  f is a sum of parts (parts.py), EP finds its posterior.
Experts   trend    all parts; hyperparameters of greatest posterior density.
          sparse   without the polynomial parts, and with a prior that lets inputs go: few of many inputs matter.
          rough    the rough part alone: the base rate, and at a label that label. Nothing is fitted.
          random   the better of trend and sparse without the rough part: failures at random on top of a structure.
          rate     Laplace's rule (successes + 1) / (n + 2), whatever x is.
Weights   w_i ~ PRIOR_i exp(log Z_i - penalty_i): the density of the prior at the hyperparameters counts for those that
          have any.  P = sum w_i P_i. An average of experts says "I do not know" where one Gaussian cannot.
Priors    log ell: normal, a common deviation and one of each input; log s2, log rho_l, log rho_q: normal.
Evidence  benchmarks/crash_model.py compares this with others; docs/failures.md has the figures.
Shapes    X (R, n, d); theta (R, S, p), p = d + 3. Trend and sparse are one batch of 2 R rows, trend first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from surefoot.backend import Array, clip, like, namespace, to_host
from surefoot.failures.classification import subset
from surefoot.failures.expectation_propagation import FIT_TOL, find_sites
from surefoot.failures.iterations import Recall
from surefoot.failures.parts import NU, Expert, Parts, covariance
from surefoot.gp.hyperparameters import Effort, Fit, FitState, Screened, fit, is_cold, screen_in_box
from surefoot.gp.likelihood import Data, make_data
from surefoot.gp.probability import log_mean, mean_slopes
from surefoot.numerics.normal import log_pi

PRIOR = {"trend": 0.25, "sparse": 0.03, "rough": 0.70, "random": 0.01, "rate": 0.01}
NEGLIGIBLE = 1e-4  # weight of an expert that is left out
EFFORT = Effort(n_optimized=4, cold_tol=1e-3, warm_tol=0.03, warm_calls=6, polish_calls=8)
REFITS = 25  # of the hyperparameters while the number of evaluations doubles, about
_MIN_ELL, _MAX_ELL = 5e-3, 50.0  # the upper one times sqrt d
_S2 = (0.05 * (1.0 + NU), 1e4 * (1.0 + NU))
_RHO = (1e-3, 1e3)
_NONE = -30.0  # log rho of a part that is not there
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
        sd = [2.0, *([sd for _, sd in self.rho] or [1.0, 1.0])]
        C = np.zeros((d + 3, d + 3))
        C[:d, :d] = self.own**2 * np.eye(d) + self.common**2
        C[d:, d:] = np.diag(np.square(sd))
        return C

    def bounds(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        """The box, (p,) each."""
        rho = np.log(_RHO) if self.rho else np.array([_NONE, _NONE])
        ends = ((_MIN_ELL, _S2[0], rho[0]), (_MAX_ELL * math.sqrt(d), _S2[1], rho[1]))
        lower, upper = (np.array([math.log(ell)] * d + [math.log(s2), end, end]) for ell, s2, end in ends)
        return lower, upper

    def starts(self, d: int) -> np.ndarray:
        """Of a cold search, (S, p)."""
        middle = self.mean(d)
        shift = [[math.log(ell)] * d + [math.log(s2 / 50.0), 0.0, 0.0] for ell, s2 in _STARTS]
        return np.asarray(middle + np.asarray(shift))


FAMILIES = (
    Family(ell=0.6, own=1.0, common=1.5, rho=((1.0, 3.0), (0.3, 3.0))),  # trend
    Family(ell=1.0, own=3.0, common=1.0, rho=()),  # sparse
)


@dataclass(frozen=True)
class Posterior:
    """The evidence of the fitted experts, with their prior: see `gp.hyperparameters.Evidence`. 2 R rows."""

    parts: Parts
    mean: Array  # (2 R, 1, p)
    precision: Array  # (2 R, p, p)
    n_history: int
    recall: Recall = field(default_factory=Recall)

    @classmethod
    def of(cls, labels: Data, n_history: int) -> Posterior:
        """That of both families for R sets of labels."""
        R, _, d = labels.X.shape
        rows = np.repeat(np.arange(len(FAMILIES)), R)
        mean = np.stack([family.mean(d) for family in FAMILIES])[rows, None]
        precision = np.stack([np.linalg.inv(family.covariance(d)) for family in FAMILIES])[rows]
        nu = np.full(len(rows), NU)
        parts = Parts.of(repeated(labels, len(FAMILIES)), like(nu, labels.X))
        return cls(parts, like(mean, labels.X), like(precision, labels.X), n_history)

    @property
    def n_points(self) -> int:
        """Labels of each run."""
        return int(self.parts.data.X.shape[1])

    def penalty(self, theta: Array, runs: Array | None = None) -> tuple[Array, Array]:
        """-log of the prior's density up to a constant, (R, S), and its gradient."""
        xp = namespace(theta)
        mean, precision = (a if runs is None else a[runs] for a in (self.mean, self.precision))
        off = theta - mean
        slope = off @ precision
        return 0.5 * xp.sum(off * slope, axis=-1), slope

    def cost(self, theta: Array, runs: Array | None, gradient: bool = True) -> tuple[Array, Array]:
        """-log Z of EP with the penalty."""
        xp = namespace(theta)
        parts = self.parts.select(runs)
        prior = covariance(theta, parts)
        sites = find_sites(prior.K, parts.data, self.recall.nearest(theta, runs) if gradient else None, FIT_TOL)
        self.recall.keep(theta, xp.stack([sites.root, sites.target], axis=2), runs)
        penalty, slope = self.penalty(theta, runs)
        good = xp.isfinite(sites.log_z)
        cost = xp.where(good, penalty - sites.log_z, xp.inf)
        if not gradient:
            return cost, xp.zeros_like(theta)
        M = sites.L_inv * sites.root[..., None, :]  # d log Z = tr(G dK),  G = (a a' - root B^-1 root) / 2
        G = 0.5 * (sites.a[..., :, None] * sites.a[..., None, :] - xp.matrix_transpose(M) @ M)
        return cost, xp.where(good[..., None], slope - prior.gradient(G, parts.data), 0.0)

    def bounds(self, n_starts: int) -> tuple[Array, Array]:
        """The box."""
        return self._of_families([family.bounds(self._d) for family in FAMILIES], n_starts)

    def starts(self, uniforms: Array) -> Array:  # noqa: ARG002  (nothing is drawn)
        """Starts of a cold search."""
        R = self.parts.data.X.shape[0] // len(FAMILIES)
        found = np.stack([family.starts(self._d) for family in FAMILIES])
        return like(np.repeat(found, R, axis=0), self.mean)

    def screen(self, theta: Array, lower: Array, upper: Array) -> Screened:
        """There is no wall to leave."""
        return screen_in_box(self, theta, lower, upper)

    def subset(self) -> Posterior:
        """That of some labels."""
        few = subset(self.parts.data)
        return replace(self, parts=Parts.of(few, self.parts.nu), recall=Recall())

    @property
    def _d(self) -> int:
        return int(self.parts.data.X.shape[-1])

    def _of_families(self, ends: Sequence[tuple[np.ndarray, np.ndarray]], n_starts: int) -> tuple[Array, Array]:
        R = self.parts.data.X.shape[0] // len(FAMILIES)
        found = (np.repeat(np.stack(end), R, axis=0)[:, None] for end in zip(*ends, strict=True))
        lower, upper = (like(np.repeat(end, n_starts, axis=1), self.mean) for end in found)
        return lower, upper


def repeated(labels: Data, times: int) -> Data:
    """The same sets of labels several times over."""
    xp = namespace(labels.X)
    if times == 1:
        return labels
    mask = None if labels.mask is None else xp.concat([labels.mask] * times)
    return make_data(xp.concat([labels.X] * times), xp.concat([labels.y] * times), mask)


@dataclass(frozen=True)
class Mixture:
    """P(success) as an average of experts; see gp/probability.py."""

    experts: tuple[Expert, ...]
    log_weights: Array  # (R, E + 1), the last one for the rate; -inf: left out
    log_rate: Array  # (R,)
    h: Array  # (R, n) the labels, 0 where nothing is said

    @property
    def rates(self) -> Array:
        """(R, d) root mean square slope of P along each input, over the cube."""
        return mean_slopes(self, self.experts[0].X[:, 0])

    def log_p(self, x: Array) -> Array:
        """log P at x."""
        terms = [self._constant(x)]
        for e, expert in self._counting():
            mu, var = expert.moments(x)
            terms.append(self.log_weights[:, e : e + 1] + log_pi(-mu / namespace(x).sqrt(1.0 + var))[0])
        return log_mean(terms)

    def log_p_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """log P at x and its gradient."""
        xp = namespace(x)
        terms, slopes = [self._constant(x)], []
        for e, expert in self._counting():
            mu, var, d_mu, d_var = expert.moments_and_gradients(x)
            scale = 1.0 / xp.sqrt(1.0 + var)
            u = -mu * scale
            value, slope = log_pi(u)
            terms.append(self.log_weights[:, e : e + 1] + value)
            d_u = -scale[..., None] * d_mu - (0.5 * u * scale * scale)[..., None] * d_var
            slopes.append(slope[..., None] * d_u)
        total = log_mean(terms)
        gradient = xp.zeros_like(x)
        for term, slope in zip(terms[1:], slopes, strict=True):
            gradient = gradient + xp.exp(term - total)[..., None] * slope
        return total, gradient

    def select(self, runs: Array | slice | None) -> Mixture:
        """Those of some runs only (None: all)."""
        if runs is None:
            return self
        experts = tuple(expert.select(runs) for expert in self.experts)
        return Mixture(experts, self.log_weights[runs], self.log_rate[runs], self.h[runs])

    def left_out(self) -> Array:
        """log P(success) at every point of the labels (R, n), had its own label not been seen.

        Without label i the weights are w_e / P_e(h_i | the others), hence P(h_i | the others) = 1 / sum_e of those.
        """
        xp = namespace(self.h)
        n_ok, n_failed = (xp.sum(xp.astype(kind, self.h.dtype), axis=1) for kind in (self.h < 0.0, self.h > 0.0))
        others = xp.where(self.h < 0.0, n_ok[:, None], n_failed[:, None])  # labels of its kind, itself included
        rate = xp.log(clip(others, 1.0, None) / (n_ok + n_failed + 1.0)[:, None])
        terms = [self.log_weights[:, -1:] - rate]
        terms += [self.log_weights[:, e : e + 1] - expert.left_out for e, expert in self._counting()]
        own = clip(-log_mean(terms), None, -1e-12)
        flipped = xp.log(-xp.expm1(own))
        return xp.where(self.h < 0.0, own, xp.where(self.h > 0.0, flipped, self.log_p(self.experts[0].X)))

    def _constant(self, x: Array) -> Array:
        xp = namespace(x)
        value = self.log_weights[:, -1] + self.log_rate
        return value[:, None] + xp.zeros(x.shape[:2], dtype=x.dtype, device=x.device)

    def _counting(self) -> list[tuple[int, Expert]]:
        """The experts that count in any run, with their places; one that counts for nothing adds an exact zero."""
        counts = to_host(self.log_weights > -math.inf).any(axis=0)
        return [(e, expert) for e, expert in enumerate(self.experts) if counts[e]]


def n_hyperparameters(d: int) -> int:
    """Of both families."""
    return len(FAMILIES) * (d + 3)


def is_due(n: int, state: FitState | None) -> bool:
    """Whether the hyperparameters are fitted at n evaluations: by n alone, so that a resumed run does the same."""
    return is_cold(n, state) or n % max(1, n // REFITS) == 0


def failure_model(labels: Data, uniforms: Array, state: FitState | None, n_history: int) -> tuple[Mixture, Fit]:
    """The experts of R sets of labels; nothing is drawn from `uniforms`."""
    xp = namespace(labels.X)
    R, _, d = labels.X.shape
    p = d + 3
    posterior = Posterior.of(labels, n_history)
    state = None if state is None else _unfold(state, p, posterior)
    if state is None or is_due(n_history, state):
        draws = xp.zeros((2 * R, 0, p), dtype=labels.X.dtype, device=labels.X.device)
        found = fit(posterior, draws, state, EFFORT)
        theta, cost, n_cold = found.theta, found.cost, found.state.n_cold[:R]
    else:
        theta, n_cold = state.theta, state.n_cold[:R]
        cost = xp.full_like(theta[:, 0], float("nan"))
    folded = xp.concat([theta[:R], theta[R:]], axis=-1)
    nothing = xp.zeros((R, 0, 0), dtype=labels.X.dtype, device=labels.X.device)
    fitted = Fit(folded, cost[:R], xp.isnan(cost[:R]) & False, FitState(folded, nothing, n_cold))
    return _average(labels, posterior, theta), fitted


def _unfold(state: FitState, p: int, posterior: Posterior) -> FitState:
    """The two families' states from the one that is kept, whose Hessians are not: the prior's take their place."""
    xp = namespace(state.theta)
    theta = xp.concat([state.theta[:, :p], state.theta[:, p:]])
    return FitState(theta, 0.1 * xp.linalg.inv(posterior.precision), state.n_cold * 2)


def _average(labels: Data, posterior: Posterior, theta: Array) -> Mixture:
    """The experts at the hyperparameters theta (2 R, p), and their weights."""
    xp = namespace(theta)
    R, n, d = labels.X.shape
    penalty = posterior.penalty(theta[:, None])[0][:, 0]
    flat = xp.concat([0.0 * theta[:R, :d], 0.0 * theta[:R, d:] - 700.0], axis=-1)  # s2 = 0
    start = posterior.recall.nearest(theta[:, None], None)
    fitted, nll = _conditioned(labels, posterior.parts, theta, start)
    better = (nll + penalty)[:R] <= (nll + penalty)[R:]
    noisy = xp.where(better[:, None], theta[:R], theta[R:])
    noisy = xp.concat([noisy[:, :d], noisy[:, d : d + 1] - math.log(1.0 + NU), noisy[:, d + 1 :]], axis=-1)
    nu = xp.concat([xp.full_like(penalty[:R], NU), 0.0 * penalty[:R]])
    parts = Parts.of(repeated(labels, 2), nu)
    unfitted, more = _conditioned(labels, parts, xp.concat([flat, noisy]), None)
    scores = xp.stack(
        [
            -(nll + penalty)[:R],
            -(nll + penalty)[R:],
            -more[:R],
            -more[R:] - xp.where(better, penalty[:R], penalty[R:]),
        ],
        axis=-1,
    )
    host = to_host(labels.y)
    n_failed, n_ok = (host > 0.0).sum(axis=1), (host < 0.0).sum(axis=1)
    rate = np.array([_log_beta(k + 1, m + 1) for k, m in zip(n_ok.tolist(), n_failed.tolist(), strict=True)])
    scores = np.concatenate([to_host(scores), rate[:, None]], axis=1) + np.log(list(PRIOR.values()))
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    weights = np.where(weights < NEGLIGIBLE, 0.0, weights)
    weights /= weights.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        log_weights = like(np.log(weights), theta)
    log_rate = like(np.log((n_ok + 1.0) / (n_ok + n_failed + 2.0)), theta)
    return Mixture((*fitted, *unfitted), log_weights, log_rate, labels.y)


def _conditioned(labels: Data, parts: Parts, theta: Array, start: Array | None) -> tuple[tuple[Expert, Expert], Array]:
    """Two experts, at the two halves of theta (2 R, p), and -log Z of all rows."""
    xp = namespace(theta)
    R = labels.X.shape[0]
    sites = find_sites(covariance(theta[:, None], parts).K, parts.data, start, FIT_TOL)
    nll = xp.where(xp.isfinite(sites.log_z[:, 0]), -sites.log_z[:, 0], xp.inf)
    M = sites.L_inv[:, 0] * sites.root[:, 0, None, :]
    left_out = sites.left_out(parts.data.y[:, None])[:, 0]
    whole = Expert(parts.data.X, theta, parts.nu, sites.a[:, 0], M, left_out)
    return (whole.select(slice(0, R)), whole.select(slice(R, 2 * R))), nll


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
