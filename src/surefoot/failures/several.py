"""Several readings of the same failures, weighed by how well each predicts the labels that it has not seen.

Readings  together  one map of all failures;
          against   a map of each kind of reason, everything else counting as no failure of that kind;
          apart     a map of each kind from its own failures and the successes: failures of other kinds say nothing.
          The last two multiply: P(success) = prod_k P(no failure of kind k). A mesh that collapses on the left and a
          solver that diverges on the right are two simple regions, not one complicated one. A simulator that checks one
          thing after another never says what else would have failed: `against` learns a little too much from that,
          `apart` nothing at all, which is better as soon as there are successes enough.
Weights   exp(sum_i log P(label_i | the others)) of each reading.
Shapes    one run: x (1, m, d), log P (1, m).
"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.backend import Array, namespace, to_host
from surefoot.gp.probability import Probability, log_mean, mean_slopes


@dataclass(frozen=True)
class Reading:
    """Maps that multiply."""

    maps: Probability  # one row for each
    n_maps: int
    log_weight: float

    def log_p(self, x: Array) -> Array:
        """log of the product at x (1, m, d)."""
        xp = namespace(x)
        return xp.sum(self.maps.log_p(xp.concat([x] * self.n_maps)), axis=0, keepdims=True)

    def log_p_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """log of the product at x and its gradient."""
        xp = namespace(x)
        value, gradient = self.maps.log_p_and_gradient(xp.concat([x] * self.n_maps))
        return xp.sum(value, axis=0, keepdims=True), xp.sum(gradient, axis=0, keepdims=True)


@dataclass(frozen=True)
class Several:
    """P(success) of one run: an average of readings."""

    readings: tuple[Reading, ...]

    @property
    def rates(self) -> Array:
        """(1, d) root mean square slope of P along each input, over the cube."""
        return mean_slopes(self, self.readings[0].maps.rates[:1])

    def log_p(self, x: Array) -> Array:
        """log P at x."""
        return log_mean([reading.log_weight + reading.log_p(x) for reading in self.readings])

    def log_p_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """log P at x and its gradient."""
        xp = namespace(x)
        found = [reading.log_p_and_gradient(x) for reading in self.readings]
        terms = [reading.log_weight + value for reading, (value, _) in zip(self.readings, found, strict=True)]
        total = log_mean(terms)
        gradient = xp.zeros_like(x)
        for term, (_, slope) in zip(terms, found, strict=True):
            gradient = gradient + xp.exp(term - total)[..., None] * slope
        return total, gradient

    def select(self, runs: Array | slice | None) -> Several:  # noqa: ARG002  (there is one run)
        """The one run."""
        return self


@dataclass(frozen=True)
class ByRun:
    """Runs whose probabilities are of unequal shapes: one after another."""

    runs: tuple[Probability, ...]

    @property
    def rates(self) -> Array:
        """(R, d) those of the runs."""
        found = [run.rates for run in self.runs]
        return namespace(found[0]).concat(found)

    def log_p(self, x: Array) -> Array:
        """log P at x."""
        return namespace(x).concat([run.log_p(x[r : r + 1]) for r, run in enumerate(self.runs)])

    def log_p_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """log P at x and its gradient."""
        found = [run.log_p_and_gradient(x[r : r + 1]) for r, run in enumerate(self.runs)]
        xp = namespace(x)
        return xp.concat([value for value, _ in found]), xp.concat([slope for _, slope in found])

    def select(self, runs: Array | slice | None) -> ByRun:
        """Those of some runs only (None: all)."""
        if runs is None:
            return self
        if isinstance(runs, slice):
            return ByRun(self.runs[runs])
        return ByRun(tuple(self.runs[r] for r in to_host(runs).tolist()))
