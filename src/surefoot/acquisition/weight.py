"""A probability that multiplies a policy: P(success), read off the moments of a surrogate by a link.

Caution   Where P < least the logarithm counts 21 times: in effect a chance constraint. The plain product of the paper
          (least = 0) goes on failing where the model of the objective is sure of a gain and P is merely small;
          docs/failures.md has the comparison.
Shapes    x (R, m, d), log P (R, m), gradients (R, m, d).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from surefoot.acquisition.improvement import Partials
from surefoot.backend import Array, namespace
from surefoot.gp.surrogate import Surrogate

_CAUTION = 20.0  # how many times more log P counts below `least`

Score = Callable[[Array, Array], Partials]


@dataclass(frozen=True)
class Weight:
    """log P of every run, to be added to the logarithm of a policy."""

    surrogate: Surrogate
    link: Score  # its moments -> log P and the partials
    least: float = 0.0  # below this P the weight is steep
    where: Array | None = None  # (R, 1) runs that are weighted; None: all

    def __call__(self, mu: Array, sd: Array) -> Partials:
        """The weight and its partials in the moments; 0 for the runs that are not weighted."""
        xp = namespace(mu)
        value, by_mu, by_sd = self.link(mu, sd)
        if self.least > 0.0:
            low = value < math.log(self.least)
            value = xp.where(low, value + _CAUTION * (value - math.log(self.least)), value)
            by_mu, by_sd = (xp.where(low, (1.0 + _CAUTION) * part, part) for part in (by_mu, by_sd))
        if self.where is not None:
            value, by_mu, by_sd = (xp.where(self.where, part, 0.0) for part in (value, by_mu, by_sd))
        return value, by_mu, by_sd

    def probability(self, x: Array) -> Array:
        """P itself at x, (R, m)."""
        return namespace(x).exp(self.link(*self.surrogate.moments(x))[0])

    def values(self, x: Array) -> Array:
        """The weight at x."""
        return self(*self.surrogate.moments(x))[0]

    def values_and_gradients(self, x: Array) -> tuple[Array, Array]:
        """The weight at x and its gradient."""
        return chain(self, self.surrogate, x)

    def select(self, runs: Array | slice) -> Weight:
        """The same for some runs only."""
        where = None if self.where is None else self.where[runs]
        return replace(self, surrogate=self.surrogate.select(runs), where=where)


def chain(score: Score, surrogate: Surrogate, x: Array) -> tuple[Array, Array]:
    """A function of the moments at x, and its gradient in x: the chain rule, written once."""
    mu, sd, grad_mu, grad_sd = surrogate.moments_and_gradients(x)
    value, by_mu, by_sd = score(mu, sd)
    return value, by_mu[..., None] * grad_mu + by_sd[..., None] * grad_sd
