"""A probability that multiplies a policy: P(success).

Caution   Where P < least the logarithm counts 21 times: in effect a chance constraint. The plain product of the paper
          (least = 0) goes on failing where the model of the objective is sure of a gain and P is merely small;
          docs/failures.md has the comparison.
Shapes    x (R, m, d), log P (R, m), gradients (R, m, d).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from surefoot.backend import Array, namespace
from surefoot.gp.probability import Probability

_CAUTION = 20.0  # how many times more log P counts below `least`
_BEND = 200.0  # how strongly a smooth weight bends down below `least`


@dataclass(frozen=True)
class Weight:
    """log P of every run, to be added to the logarithm of a policy."""

    of: Probability
    least: float = 0.0  # below this P the weight is steep
    where: Array | None = None  # (R, 1) runs that are weighted; None: all
    smooth: bool = False  # below `least` it bends down instead of having a kink

    def probability(self, x: Array) -> Array:
        """P itself at x, (R, m)."""
        return namespace(x).exp(self.of.log_p(x))

    def values(self, x: Array) -> Array:
        """The weight at x; 0 for the runs that are not weighted."""
        return self._cautious(self.of.log_p(x))[0]

    def values_and_gradients(self, x: Array) -> tuple[Array, Array]:
        """The weight at x and its gradient."""
        log_p, gradient = self.of.log_p_and_gradient(x)
        value, slope = self._cautious(log_p)
        return value, slope[..., None] * gradient

    def _cautious(self, log_p: Array) -> tuple[Array, Array]:
        """The weight, and its derivative in log P."""
        xp = namespace(log_p)
        slope = xp.ones_like(log_p)
        if self.least > 0.0 and self.smooth:
            below = xp.minimum(log_p - math.log(self.least), 0.0 * log_p)
            log_p = log_p - _BEND * below * below
            slope = slope - 2.0 * _BEND * below
        elif self.least > 0.0:
            low = log_p < math.log(self.least)
            log_p = xp.where(low, log_p + _CAUTION * (log_p - math.log(self.least)), log_p)
            slope = xp.where(low, 1.0 + _CAUTION, slope)
        if self.where is not None:
            log_p, slope = (xp.where(self.where, part, 0.0) for part in (log_p, slope))
        return log_p, slope

    def select(self, runs: Array | slice) -> Weight:
        """The same for some runs only."""
        return replace(self, of=self.of.select(runs), where=None if self.where is None else self.where[runs])
