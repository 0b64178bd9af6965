"""Variances of many candidates from above, without most of their cost.

Purpose   The mean of a candidate costs O(n), its variance O(n^2): at n = 1000 the variances of some thousand candidates
          cost more than the whole refit. But 1 - sum of v_i^2 over the first rows of v = L^-1 k(x) is the variance
          given the first observations only, an upper bound that falls to the variance as rows are added. The first
          observations are the space-filling design, so the bound is good early.
Shapes    candidates x (R, m, d).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.backend import Array, like, namespace

if TYPE_CHECKING:
    from surefoot.gp.posterior import Posterior

_FIRST_ROWS = 32  # of v in the first bound; doubled each round


class ExactBounds:
    """Bounds of the exact process's sd; see `surrogate.Bounds`."""

    def __init__(self, post: Posterior, x: Array) -> None:
        xp = namespace(x)
        R, m, _ = x.shape
        self._post = post
        self._rows = like(range(R), x)[:, None]
        self._K = post.cross_correlations(x)  # (R, m, n)
        self.mu = post.quick_mean(self._K)
        self.index = xp.broadcast_to(like(range(m), x)[None], (R, m))
        self._explained = xp.zeros_like(self.mu)  # sum of v_i^2 over the rows done
        self._start, self._width = 0, _FIRST_ROWS

    @property
    def sd(self) -> Array:
        """(R, m) upper bounds."""
        return self._post.sd(self._explained)

    @property
    def is_exact(self) -> bool:
        """Whether all rows are done."""
        return bool(self._start == self._K.shape[2])

    def tighten(self) -> None:
        """Add the next rows, twice as many as before."""
        xp = namespace(self._K)
        stop = min(self._K.shape[2], self._start + self._width)
        v = self._post.factor.whiten_rows(xp.matrix_transpose(self._K), self._start, stop)
        self._explained = self._explained + xp.sum(v * v, axis=1)
        self._start, self._width = stop, 2 * self._width

    def keep(self, columns: Array) -> None:
        """Go on with these candidates (R, k) only."""
        at = (self._rows, columns)
        self.index, self.mu, self._explained, self._K = (a[at] for a in (self.index, self.mu, self._explained, self._K))

    def exact(self, columns: Array) -> tuple[Array, Array]:
        """mu and sd of some candidates (R, k)."""
        xp = namespace(self._K)
        v = self._post.factor.L_inv @ xp.matrix_transpose(self._K[self._rows, columns])
        return self.mu[self._rows, columns], self._post.sd(xp.sum(v * v, axis=1))
