"""What a search maximizes: a policy's score, weighted by the probability of success [NH18, Eq. 10-11].

Weight    The failure labels h (+1 failed, -1 succeeded) have a Gaussian process of their own, h ~ N(h_hat, s_h^2), and
          P(success) = Phi(0 | h_hat, s_h^2): the probability of improvement of h on 0. Hence the same code as PI.
Product   In log space: log policy + log P. A policy that can be negative (MN, LCB) is first shifted by its value at
          the worst observation with sd = 0: the product with P then cannot turn a preference round, and whoever is
          worse than that is not wanted anyway.
Caution   Where P < min_success the logarithm counts 21 times: in effect a chance constraint. The plain product of the
          paper (min_success = 0) goes on failing where the model of the objective is sure of a gain and P is merely
          small; docs/failures.md has the comparison.
Shapes    x (R, m, d), values (R, m), gradients (R, m, d).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from surefoot.acquisition.improvement import Partials, log_pi
from surefoot.acquisition.registry import Policy, Score
from surefoot.backend import Array, namespace
from surefoot.gp.posterior import Posterior, moments, moments_and_gradients, select_runs

_CAUTION = 20.0  # how many times more log P counts below min_success
_TINY = 1e-12  # a shifted policy below it counts as this: the logarithm stays finite


@dataclass(frozen=True)
class Target:
    """A policy's score under the posterior of the objective, weighted where failures have been seen."""

    policy: Policy
    score: Score
    post: Posterior
    f_best: Array  # (R, 1)
    success: Posterior | None = None  # posterior of the failure labels; None: nothing has failed
    y_worst: Array | None = None  # (R, 1) worst observation; with `success` only
    link: Callable[[Array, Array], Partials] | None = None  # moments of `success` to log P; None: label regression
    min_success: float = 0.0  # below this P(success) the weight is steep
    has_failed: Array | None = None  # (R, 1) where a failure has been seen; None: in every run
    zero: Array | None = None  # (R, 1) the user's y = 0 among standardized values; None: 0
    unit: Array | None = None  # (R, 1) a step of 1 in the user's y, among standardized values; None: 1

    @property
    def is_log(self) -> bool:
        """Whether values are logarithms of a positive quantity."""
        return self.policy.is_log or self.success is not None

    def _log_success(self, h_hat: Array, s_h: Array) -> Partials:
        """log P and its partials in the moments of the labels; 0 for the runs of a batch without any failure."""
        log_p = log_pi(h_hat, s_h, 0.0) if self.link is None else self.link(h_hat, s_h)
        xp = namespace(h_hat)
        value, by_mu, by_sd = log_p
        if self.min_success > 0.0:
            low = value < math.log(self.min_success)
            value = xp.where(low, value + _CAUTION * (value - math.log(self.min_success)), value)
            by_mu, by_sd = (xp.where(low, (1.0 + _CAUTION) * part, part) for part in (by_mu, by_sd))
        if self.has_failed is not None:
            value, by_mu, by_sd = (xp.where(self.has_failed, part, 0.0) for part in (value, by_mu, by_sd))
        return value, by_mu, by_sd

    def select(self, runs: Array | None) -> Target:
        """The same for some runs only (None: all)."""
        if runs is None:
            return self
        return replace(
            self,
            score=self.score.select(runs),
            post=select_runs(self.post, runs),
            f_best=self.f_best[runs],
            success=None if self.success is None else select_runs(self.success, runs),
            y_worst=None if self.y_worst is None else self.y_worst[runs],
            has_failed=None if self.has_failed is None else self.has_failed[runs],
            zero=None if self.zero is None else self.zero[runs],
            unit=None if self.unit is None else self.unit[runs],
        )

    def unweighted(self, mu: Array, sd: Array) -> Partials:
        """The policy's part of the value and its partials; an upper bound of the value, as P <= 1."""
        return self._shifted(self.score, mu, sd)

    def bound(self, mu: Array, sd: Array) -> Array:
        """An upper bound of the value that is cheap for every policy."""
        return self._shifted(self.score if self.score.above is None else self.score.above, mu, sd)[0]

    def _shifted(self, score: Score, mu: Array, sd: Array) -> Partials:
        value, by_mu, by_sd = score(mu, sd)
        if self.success is None or self.policy.is_log:
            return value, by_mu, by_sd
        xp = namespace(mu)
        assert self.y_worst is not None  # set together with `success`
        floor, _, _ = score(self.y_worst + 0.0 * mu, 1e-9 * sd)  # sd = 0, but safe to divide by
        shifted = value - floor
        inside = shifted > _TINY
        safe = xp.where(inside, shifted, _TINY)
        return xp.log(safe), xp.where(inside, by_mu / safe, 0.0), xp.where(inside, by_sd / safe, 0.0)

    def log_success(self, x: Array) -> Array:
        """log P(success) at x, (R, m); 0 while nothing has failed."""
        if self.success is None:
            return 0.0 * x[..., 0]
        value, _, _ = self._log_success(*moments(self.success, x))
        return value

    def values(self, x: Array) -> Array:
        """The weighted score at x."""
        value, _, _ = self.unweighted(*moments(self.post, x))
        return value if self.success is None else value + self.log_success(x)

    def raw_values(self, x: Array) -> Array:
        """The weighted policy, not its log, counted from the user's zero: relative changes mean something there."""
        value = self.values(x)
        if self.is_log:
            return namespace(x).exp(value)
        return value if self.zero is None or not self.policy.is_level else value + self.zero

    def raw_unit(self) -> Array:
        """What counts as 1 among raw values (R, 1): 1 in the user's units of y, if the policy has units."""
        ones = namespace(self.f_best).ones_like(self.f_best)
        return ones if self.unit is None or not self.policy.is_in_units_of_y else self.unit

    def values_and_gradients(self, x: Array) -> tuple[Array, Array]:
        """The weighted score at x and its gradient: the chain rule through (mu, sd), written once."""
        value, gradient = _chain(self.unweighted, self.post, x)
        if self.success is not None:
            log_p, d_log_p = _chain(self._log_success, self.success, x)
            value, gradient = value + log_p, gradient + d_log_p
        return value, gradient


def _chain(score: Callable[[Array, Array], Partials], post: Posterior, x: Array) -> tuple[Array, Array]:
    mu, sd, grad_mu, grad_sd = moments_and_gradients(post, x)
    value, by_mu, by_sd = score(mu, sd)
    return value, by_mu[..., None] * grad_mu + by_sd[..., None] * grad_sd
