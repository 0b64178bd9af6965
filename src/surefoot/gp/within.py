"""P(every limited output lies within its limits), of R runs with k outputs each.

Notation  P = prod_j P(lower_j <= f_j(x) <= upper_j), f_j the process of output j; in log space, with exact gradients.
Shapes    the processes are rows (k R): output 1 of all runs, output 2 of all runs, …; lower and upper (k R, 1), in the
          units of the processes; x (R, m, d), log P (R, m), slack (R, m, 2 k).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from surefoot.backend import Array, like, namespace
from surefoot.gp.surrogate import Surrogate
from surefoot.numerics.normal import log_interval, log_pi

_ROUNDING = 1e-6  # of a process's scale: how far a quick mean may be off


@dataclass(frozen=True)
class Within:
    """A `Probability`: that all outputs lie within their limits."""

    surrogate: Surrogate  # k R of them
    lower: Array  # (k R, 1), -inf: no limit
    upper: Array
    n_runs: int

    @property
    def n_outputs(self) -> int:
        """Outputs of each run, k."""
        return int(self.lower.shape[0]) // self.n_runs

    @property
    def rates(self) -> Array:
        """(R, d) of the output that varies fastest along each input."""
        rates = self.surrogate.rates
        return namespace(rates).max(self._by_output(rates), axis=0)

    def log_p(self, x: Array) -> Array:
        """log P at x."""
        xp = namespace(x)
        mu, sd = self.surrogate.moments(self._tiled(x))
        value, _, _ = log_interval((self.lower - mu) / sd, (self.upper - mu) / sd)
        return xp.sum(self._by_output(value), axis=0)

    def log_p_bound(self, x: Array) -> Array | None:
        """An upper bound of log P at x that costs little more than the means; None: there is none that pays.

        Where a mean is inside its limits it says nothing. Where it is outside P rises with sd, which is bounded too.
        """
        bounds = self.surrogate.bounds(self._tiled(x))
        if bounds is None:
            return None
        bounds.tighten()
        xp = namespace(x)
        outside = xp.maximum(self.lower - bounds.mu, bounds.mu - self.upper)
        far = outside > _ROUNDING
        value, _ = log_pi(xp.where(far, _ROUNDING - outside, 0.0) / bounds.sd)
        return xp.sum(self._by_output(xp.where(far, value, 0.0)), axis=0)

    def log_p_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """log P at x and its gradient."""
        xp = namespace(x)
        mu, sd, grad_mu, grad_sd = self.surrogate.moments_and_gradients(self._tiled(x))
        a, b = (self.lower - mu) / sd, (self.upper - mu) / sd
        value, by_a, by_b = log_interval(a, b)
        # where the derivative is 0 the limit may be infinite
        turn = xp.where(by_a == 0.0, 0.0, a) * by_a + xp.where(by_b == 0.0, 0.0, b) * by_b
        gradient = (-(by_a + by_b) / sd)[..., None] * grad_mu + (-turn / sd)[..., None] * grad_sd
        return xp.sum(self._by_output(value), axis=0), xp.sum(self._by_output(gradient), axis=0)

    def slack_and_gradient(
        self, x: Array, spare: Array | float, sides: Sequence[int] | None = None
    ) -> tuple[Array, Array]:
        """How far mu +- spare sd of each output is inside its lower and its upper limit, (R, m, 2 k), and its gradient.

        spare: of all points or of each, (m,). An infinite limit has infinite slack. sides: some of the 2 k (None: all).
        """
        xp = namespace(x)
        k = self.n_outputs
        chosen = range(2 * k) if sides is None else sides
        output = like([side % k for side in chosen], x)
        sign = like([1.0 if side < k else -1.0 for side in chosen], x)[:, None, None]
        bound = xp.concat([self._by_output(self.lower), self._by_output(self.upper)])[like(list(chosen), x)]
        moments = self.surrogate.moments_and_gradients(self._tiled(x))
        mu, sd, grad_mu, grad_sd = (self._by_output(part)[output] for part in moments)
        spared = spare + 0.0 * sd
        slack = sign * (mu - bound) - spared * sd  # (2 k, R, m)
        gradient = sign[..., None] * grad_mu - spared[..., None] * grad_sd
        return xp.moveaxis(slack, 0, 2), xp.moveaxis(gradient, 0, 2)

    def add_points(self, x: Array) -> Within:
        """After e more points x (R, e, d), believed to return the present means."""
        return replace(self, surrogate=self.surrogate.add_points(self._tiled(x)))

    def select(self, runs: Array | slice | None) -> Within:
        """That of some runs only (None: all)."""
        if runs is None:
            return self
        xp = namespace(self.lower)
        chosen = like(range(self.n_runs), self.lower)[runs]
        rows = xp.concat([chosen + j * self.n_runs for j in range(self.n_outputs)])
        return Within(self.surrogate.select(rows), self.lower[rows], self.upper[rows], int(chosen.shape[0]))

    def _tiled(self, x: Array) -> Array:
        return namespace(x).concat([x] * self.n_outputs)

    def _by_output(self, a: Array) -> Array:
        """(k R, …) as (k, R, …)."""
        return namespace(a).reshape(a, (self.n_outputs, self.n_runs, *a.shape[1:]))
