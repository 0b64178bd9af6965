"""A probability that multiplies a policy: P(success).

Caution   Where P < least the logarithm counts 21 times: in effect a chance constraint. The plain product of the paper
          (least = 0) goes on failing where the model of the objective is sure of a gain and P is merely small;
          docs/evidence/failures.md has the comparison.
Smooth    A calibrated P needs no kink: below `least` the weight bends down with the square of the logarithm, which a
          gradient search follows along a border.
Trust     Where failures are at random, P tells where some happened and not where others will: log P counts only as
          far as it is trusted, and so does `least`. Below a trust of 0.9 the weight bends less, below 0.5 not at all:
          one failure beside the optimum would otherwise close it for the rest of the run.
Cost      Where a failure costs c times what a success costs, the policy per unit of cost is P / (P + (1 - P) c) times
          the policy, and `least` becomes c least, or 1 - (1 - least) / c where c > 1. c = 1 is the plain product.
Sparing   Where failures are counted `least` rises to SPARING, all the way at 1.
Shapes    x (R, m, d), log P (R, m), gradients (R, m, d).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from surefoot.backend import Array, clip, namespace
from surefoot.gp.probability import Bounded, Probability

_CAUTION = 20.0  # how many times more log P counts below `least`
_BEND = 200.0  # how strongly a smooth weight bends down below `least`
SPARING = 0.95  # `least` of a run that is to fail no more


@dataclass(frozen=True)
class Weight:
    """log P of every run, to be added to the logarithm of a policy."""

    of: Probability
    least: float = 0.0  # below this P the weight is steep
    where: Array | None = None  # (R, 1) runs that are weighted; None: all
    smooth: bool = False  # below `least` it bends down instead of having a kink
    cost: float = 1.0  # of a failure, in successes
    trust: Array | None = None  # (R, 1) at most 1: what log P and `least` are multiplied with; None: 1
    sparing: Array | None = None  # (R, 1) how far `least` is raised, 0 to 1; None: 0

    def probability(self, x: Array) -> Array:
        """P itself at x, (R, m)."""
        return namespace(x).exp(self.of.log_p(x))

    def values(self, x: Array) -> Array:
        """The weight at x; 0 for the runs that are not weighted."""
        return self._cautious(self.of.log_p(x))[0]

    def bound(self, x: Array) -> Array | None:
        """An upper bound of the weight at x that is cheap; None: there is none but 0."""
        bound = self.of.log_p_bound(x) if isinstance(self.of, Bounded) else None
        return None if bound is None else self._cautious(bound)[0]

    def values_and_gradients(self, x: Array) -> tuple[Array, Array]:
        """The weight at x and its gradient."""
        log_p, gradient = self.of.log_p_and_gradient(x)
        value, slope = self._cautious(log_p)
        return value, slope[..., None] * gradient

    def _cautious(self, log_p: Array) -> tuple[Array, Array]:
        """The weight, and its derivative in log P."""
        xp = namespace(log_p)
        value, slope = log_p, xp.ones_like(log_p)
        if self.cost != 1.0:
            p = xp.exp(log_p)
            paid = p + (1.0 - p) * self.cost
            value, slope = value - xp.log(paid), slope - (1.0 - self.cost) * p / paid
        if self.trust is not None:
            value, slope = self.trust * value, self.trust * slope
        if self.least > 0.0:
            below = xp.minimum(log_p - self._log_least(log_p), 0.0 * log_p)
            if self.smooth:
                bend = _BEND if self.trust is None else _BEND * clip(2.5 * (self.trust - 0.5), 0.0, 1.0)
                value, slope = value - bend * below * below, slope - 2.0 * bend * below
            else:
                value, slope = value + _CAUTION * below, xp.where(below < 0.0, slope + _CAUTION, slope)
        if self.where is not None:
            value, slope = (xp.where(self.where, part, 0.0) for part in (value, slope))
        return value, slope

    def asked(self) -> Array:
        """The P below which a point is avoided, (R, 1)."""
        xp = namespace(self.of.rates)
        zero = xp.zeros_like(self.of.rates[:, :1])
        return xp.exp(zero + self._log_least(zero))

    def _log_least(self, reference: Array) -> Array | float:
        """log of the least P asked for: a number, or (R, 1)."""
        xp = namespace(reference)
        least = self.least * self.cost if self.cost <= 1.0 else 1.0 - (1.0 - self.least) / self.cost
        log_least: Array | float = math.log(least)
        if self.sparing is not None:
            log_least = xp.log(least + self.sparing * max(SPARING - least, 0.0))
        return log_least if self.trust is None else log_least + xp.log(self.trust)

    def select(self, runs: Array | slice) -> Weight:
        """The same for some runs only."""
        where, trust, sparing = (None if a is None else a[runs] for a in (self.where, self.trust, self.sparing))
        return replace(self, of=self.of.select(runs), where=where, trust=trust, sparing=sparing)
