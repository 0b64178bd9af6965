"""A policy ready to be evaluated: as a function of the moments at x, or of those at x together with fixed points.

Shapes    mu, sd (R, m); q (R, m, M) covariances with the fixed points; values (R, m).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from surefoot.acquisition.improvement import Partials
from surefoot.backend import Array, namespace
from surefoot.gp.joint import Joint

JointPartials = tuple[Array, Array, Array, Array]
"""A value and its partials in mu, sd and q."""

_LEAST = 1e-12  # nats: what tells less counts as this, and its logarithm stays finite


@dataclass(frozen=True)
class Score:
    """A policy of the moments: function(mu, sd, *parameters), every parameter with a leading run axis."""

    function: Callable[..., Partials]
    parameters: tuple[Array, ...] = ()
    above: Score | None = None  # nowhere lower and much cheaper; None: this score is cheap itself

    def __call__(self, mu: Array, sd: Array) -> Partials:
        """The score (R, m) and its partials in mu and sd."""
        return self.function(mu, sd, *self.parameters)

    def select(self, runs: Array | None) -> Score:
        """The same for some runs only (None: all)."""
        if runs is None:
            return self
        above = None if self.above is None else self.above.select(runs)
        return Score(self.function, tuple(a[runs] for a in self.parameters), above)

    def where(self, counts: Array) -> Score:
        """The same, but 0 in the runs in which it does not count: (R, 1)."""

        def function(mu: Array, sd: Array, counts: Array, *parameters: Array) -> Partials:
            xp = namespace(mu)
            value, by_mu, by_sd = self.function(mu, sd, *parameters)
            return xp.where(counts, value, 0.0), xp.where(counts, by_mu, 0.0), xp.where(counts, by_sd, 0.0)

        above = None if self.above is None else self.above.where(counts)
        return Score(function, (counts, *self.parameters), above)


@dataclass(frozen=True)
class JointScore:
    """A policy of f(x) and f at fixed points: function(mu, sd, q, parameters, partials)."""

    function: Callable[[Array, Array, Array, tuple[Array, ...], bool], JointPartials]
    joint: Joint
    parameters: tuple[Array, ...]
    rough: JointScore | None = None  # cheaper, and ranks points nearly alike; None: this one is cheap itself

    def values(self, x: Array) -> Array:
        """The score at x."""
        return self.function(*self.joint.moments(x), self.parameters, False)[0]

    def values_and_gradients(self, x: Array) -> tuple[Array, Array]:
        """The score at x and its gradient."""
        mu, sd, q, pullback = self.joint.moments_and_pullback(x)
        value, *by = self.function(mu, sd, q, self.parameters, True)
        return value, pullback(*by)

    def select(self, runs: Array | None) -> JointScore:
        """The same for some runs only (None: all)."""
        if runs is None:
            return self
        rough = None if self.rough is None else self.rough.select(runs)
        own = tuple(a[runs] for a in self.parameters)
        return JointScore(self.function, self.joint.select(runs), own, rough)

    def where(self, counts: Array) -> JointScore:
        """The same, but 0 in the runs in which it does not count: (R, 1)."""

        def function(mu: Array, sd: Array, q: Array, own: tuple[Array, ...], partials: bool) -> JointPartials:
            xp = namespace(mu)
            counts, *parameters = own
            value, by_mu, by_sd, by_q = self.function(mu, sd, q, tuple(parameters), partials)
            value, by_mu, by_sd = (xp.where(counts, a, 0.0) for a in (value, by_mu, by_sd))
            return value, by_mu, by_sd, xp.where(counts[..., None], by_q, 0.0)

        rough = None if self.rough is None else self.rough.where(counts)
        return JointScore(function, self.joint, (counts, *self.parameters), rough)


def log_of(value: Array, by_mu: Array, by_sd: Array, by_q: Array) -> JointPartials:
    """The logarithm of a value that is positive but for rounding and chance, and its partials."""
    xp = namespace(value)
    safe = xp.where(value > _LEAST, value, _LEAST)
    inside = value > _LEAST
    by_mu, by_sd = (xp.where(inside, by / safe, 0.0) for by in (by_mu, by_sd))
    return xp.log(safe), by_mu, by_sd, xp.where(inside[..., None], by_q / safe[..., None], 0.0)
