"""The evidence of a regression: the marginal likelihood [NH18, section 2.1], or with a prior the posterior density.

Noise     lam = sigma^2/sigma_f^2 is estimated within [min_lam(n), MAX_LAM], or held at the floor (no noise). A bound of
          sigma itself moves sigma_f (likelihood.py), not the box. Where the
          correlation matrix is not positive definite the likelihood is -inf; a start that lies there climbs
          a ladder of lam until it leaves, and `Screened.raised` says so.
Shapes    theta (R, S, p), p = d + 1: (log ell, log lam); mean and scale are profiled out (likelihood.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from surefoot.backend import Array, clip, contiguous, like, namespace, to_host
from surefoot.gp.hyperparameters import SUBSET, Screened
from surefoot.gp.kernels import Kernel
from surefoot.gp.likelihood import Data, make_data, negative_log_likelihood, select_runs
from surefoot.gp.priors import Prior
from surefoot.gp.priors import none as no_prior
from surefoot.numerics.subsets import spread

MIN_ELL, MAX_ELL = 5e-3, 20.0  # in the unit cube: 1/200 of a side; 20 sides is flat to one part in 800
MIN_LAM, MAX_LAM = 1e-14, 1.0  # 1e-14: the smallest nugget that Cholesky can see at n = 100


def min_lam(n: int) -> float:
    """The floor of lam at n points: Cholesky's rounding errors grow with the norm of C, which is up to n.

    Below it the factorization fails here and works there by luck, and the search runs into a ragged wall.
    """
    return MIN_LAM * max(1.0, n / 100.0)


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


def box(data: Data, n_starts: int, last: tuple[float, float]) -> tuple[Array, Array]:
    """Bounds (R, S, d + 1) of theta: those of the length scales, and `last` for what follows them, in logarithms."""
    xp = namespace(data.X)
    R, _, d = data.X.shape
    sides = ([math.log(ell)] * d + [math.log(end)] for ell, end in zip((MIN_ELL, MAX_ELL), last, strict=True))
    arrays = (xp.asarray(side, dtype=data.X.dtype, device=data.X.device) for side in sides)
    lower, upper = (xp.asarray(xp.broadcast_to(a, (R, n_starts, d + 1)), copy=True) for a in arrays)
    return lower, upper


def _inside_first(mask: list[float], k: int) -> list[int]:
    """k columns in their order: those inside the mask, evenly, and as many others as are missing."""
    inside = spread([i for i, v in enumerate(mask) if v > 0.0], k)
    return sorted(inside + [i for i, v in enumerate(mask) if v == 0.0][: k - len(inside)])


@dataclass(frozen=True)
class Regression:
    """The evidence of R regressions; see `hyperparameters.Evidence`."""

    data: Data
    kernel: Kernel
    estimate_noise: bool
    prior: Prior = no_prior
    # evaluations so far, failed ones included: rows left out and rows masked out then make no difference
    n_evaluated: int | None = None

    @property
    def n_points(self) -> int:
        """Points of each run."""
        return int(self.data.X.shape[1])

    @property
    def n_history(self) -> int:
        """Evaluations of each run so far: it also decides the floor of lam."""
        return self.n_points if self.n_evaluated is None else self.n_evaluated

    def cost(self, theta: Array, runs: Array | None, gradient: bool = True) -> tuple[Array, Array]:
        """Negative log likelihood and the prior's penalty."""
        nll, slope = negative_log_likelihood(theta, select_runs(self.data, runs), self.kernel.select(runs), gradient)
        penalty, more = self.prior(theta)
        xp = namespace(theta)
        return nll + penalty, xp.where(xp.isfinite(nll)[..., None], slope + more, 0.0)

    def bounds(self, n_starts: int) -> tuple[Array, Array]:
        """The box."""
        lowest = min_lam(self.n_history)
        free = self.estimate_noise or self.data.noise_variance is not None
        return box(self.data, n_starts, (lowest, MAX_LAM if free else lowest))

    def starts(self, uniforms: Array) -> Array:
        """Starts of a cold search."""
        return cold_starts(self.data.X.shape[-1], uniforms)

    def subset(self) -> Regression:
        """SUBSET points, evenly through the history: the design, the search, the last ones."""
        data = self.data
        if data.mask is None:
            keep = like(spread(range(self.n_points), SUBSET), data.X)
            X, y = (contiguous(a[:, keep]) for a in (data.X, data.y))  # sums round as memory lies
            few = make_data(X, y, None, data.noise_variance, data.least_noise)
        else:  # of each run its own: points inside the mask, then others that fill the row
            columns = like([_inside_first(row, SUBSET) for row in to_host(data.mask).tolist()], data.X)
            rows = like(range(columns.shape[0]), data.X)[:, None]
            X, y, mask = (a[rows, columns] for a in (data.X, data.y, data.mask))
            few = make_data(X, y, mask, data.noise_variance, data.least_noise)
        return replace(self, data=few, n_evaluated=self.n_history)

    def screen(self, theta: Array, lower: Array, upper: Array) -> Screened:
        """Raise lam tenfold where C is not positive definite, until it is."""
        xp = namespace(theta)
        theta = clip(theta, lower, upper)
        cost, _ = self.cost(theta, None, gradient=False)
        raised = ~xp.isfinite(cost)
        for _ in range(14):
            bad = ~xp.isfinite(cost)
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
            again, _ = self.cost(theta, None, gradient=False)
            cost = xp.where(bad, again, cost)
        return Screened(theta, cost, lower, upper, raised)
