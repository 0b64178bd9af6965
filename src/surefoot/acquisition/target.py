"""What a search maximizes: a policy's score, weighted by the probability of success.

Product   [NH18, Eq. 10-11; Algorithm 2, line 5], in log space: log policy + log P. A policy that can be negative (MN,
          LCB) is first shifted by its value at the worst observation with sd = 0: the product with P then cannot turn a
          preference round, and whoever is worse than that is not wanted anyway.
Shapes    x (R, m, d), values (R, m), gradients (R, m, d).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from surefoot.acquisition.improvement import Partials
from surefoot.acquisition.registry import Policy
from surefoot.acquisition.score import JointScore, Score
from surefoot.acquisition.weight import Weight
from surefoot.backend import Array, namespace
from surefoot.gp.probability import Moments, chain
from surefoot.gp.surrogate import Surrogate

_TINY = 1e-12  # a shifted policy below it counts as this: the logarithm stays finite


@dataclass(frozen=True)
class Target:
    """A policy's score under the surrogate of the objective, weighted where failures have been seen."""

    policy: Policy
    score: Score | JointScore
    surrogate: Surrogate
    f_best: Array  # (R, 1)
    weights: tuple[Weight, ...] = ()
    y_worst: Array | None = None  # (R, 1) worst observation; with weights only

    @property
    def is_log(self) -> bool:
        """Whether values are logarithms of a positive quantity."""
        return self.policy.is_log or bool(self.weights)

    def select(self, runs: Array | None) -> Target:
        """The same for some runs only (None: all)."""
        if runs is None:
            return self
        return replace(
            self,
            score=self.score.select(runs),
            surrogate=self.surrogate.select(runs),
            f_best=self.f_best[runs],
            weights=tuple(weight.select(runs) for weight in self.weights),
            y_worst=None if self.y_worst is None else self.y_worst[runs],
        )

    @property
    def rough(self) -> Target | None:
        """A cheaper target that ranks points nearly alike; None: this one is cheap itself."""
        rough = self.score.rough if isinstance(self.score, JointScore) else None
        return None if rough is None else replace(self, score=rough)

    @property
    def of_moments(self) -> Score:
        """The score, where it is one of the moments at x alone."""
        assert isinstance(self.score, Score)  # who asks has asked `rises_with_sd`, which no other score says
        return self.score

    def unweighted(self, mu: Array, sd: Array) -> Partials:
        """The policy's part of the value and its partials; an upper bound of the value, as P <= 1."""
        return self._shifted(self.of_moments, mu, sd)

    def unweighted_at(self, x: Array) -> Array:
        """The policy's part of the value at x."""
        if isinstance(self.score, JointScore):
            return self.score.values(x)
        return self.unweighted(*self.surrogate.moments(x))[0]

    def bound(self, mu: Array, sd: Array) -> Array:
        """An upper bound of the value that is cheap for every policy."""
        score = self.of_moments
        return self._shifted(score if score.above is None else score.above, mu, sd)[0]

    def _shifted(self, score: Score, mu: Array, sd: Array) -> Partials:
        value, by_mu, by_sd = score(mu, sd)
        if self.y_worst is None or self.policy.is_log:
            return value, by_mu, by_sd
        xp = namespace(mu)
        floor, _, _ = score(self.y_worst + 0.0 * mu, 1e-9 * sd)  # sd = 0, but safe to divide by
        shifted = value - floor
        inside = shifted > _TINY
        safe = xp.where(inside, shifted, _TINY)
        return xp.log(safe), xp.where(inside, by_mu / safe, 0.0), xp.where(inside, by_sd / safe, 0.0)

    def weighted(self, value: Array, x: Array) -> Array:
        """The policy's part of the value with that of the weights at x."""
        for weight in self.weights:
            value = value + weight.values(x)
        return value

    def weight_bound(self, x: Array) -> Array | None:
        """An upper bound of what the weights add at x; None: 0."""
        bounds = [bound for weight in self.weights if (bound := weight.bound(x)) is not None]
        return sum(bounds[1:], start=bounds[0]) if bounds else None

    def values(self, x: Array) -> Array:
        """The weighted score at x."""
        return self.weighted(self.unweighted_at(x), x)

    def values_and_gradients(self, x: Array, moments: Moments | None = None) -> tuple[Array, Array]:
        """The weighted score at x and its gradient; `moments`: those of the surrogate at x, if they are known."""
        if isinstance(self.score, JointScore):
            value, gradient = self.score.values_and_gradients(x)
        else:
            value, gradient = chain(self.unweighted, self.surrogate, x, moments)
        for weight in self.weights:
            log_p, d_log_p = weight.values_and_gradients(x)
            value, gradient = value + log_p, gradient + d_log_p
        return value, gradient
