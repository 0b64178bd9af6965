"""Probabilities over the unit cube, of R runs: what a failure model is to whoever weighs a policy with it.

`Latent` reads one off the moments of a surrogate. A model that is no single process (several experts, several reasons)
answers the same three questions in a way of its own.
Shapes    x (R, m, d), log P (R, m), gradients (R, m, d).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self, runtime_checkable

from surefoot.backend import Array
from surefoot.gp.surrogate import Surrogate

Moments = tuple[Array, Array, Array, Array]
"""mu, sd and their gradients at x."""
Link = Callable[[Array, Array], tuple[Array, Array, Array]]
"""mu, sd -> a value and its partials in them."""


class Probability(Protocol):
    """log P(success) of R runs."""

    @property
    def rates(self) -> Array:
        """(R, d) how fast it varies along each input; see `Surrogate.rates`."""

    def log_p(self, x: Array) -> Array:
        """log P at x."""

    def log_p_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """log P at x and its gradient."""

    def select(self, runs: Array | slice | None) -> Self:
        """Those of some runs only (None: all)."""


@runtime_checkable
class Bounded(Protocol):
    """A probability that has cheap bounds for screening."""

    def log_p_bound(self, x: Array) -> Array | None:
        """An upper bound of log P at x; None: there is none that pays."""


@dataclass(frozen=True)
class Latent:
    """A probability that is a function of a surrogate's mean and standard deviation."""

    surrogate: Surrogate
    link: Link  # -> log P

    @property
    def rates(self) -> Array:
        """(R, d) those of the surrogate."""
        return self.surrogate.rates

    def log_p(self, x: Array) -> Array:
        """log P at x."""
        return self.link(*self.surrogate.moments(x))[0]

    def log_p_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """log P at x and its gradient."""
        return chain(self.link, self.surrogate, x)

    def select(self, runs: Array | slice | None) -> Latent:
        """Those of some runs only (None: all)."""
        return replace(self, surrogate=self.surrogate.select(runs))


def chain(score: Link, surrogate: Surrogate, x: Array, moments: Moments | None = None) -> tuple[Array, Array]:
    """A function of the moments at x (if known: `moments`), and its gradient in x: the chain rule, written once."""
    mu, sd, grad_mu, grad_sd = surrogate.moments_and_gradients(x) if moments is None else moments
    value, by_mu, by_sd = score(mu, sd)
    return value, by_mu[..., None] * grad_mu + by_sd[..., None] * grad_sd
