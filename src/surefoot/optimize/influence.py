"""What the failures depend on: how much of the variance of the learned P(success) each parameter explains.

Measure   Sobol' indices of the model's predictions, by samples that share some of their columns: the total index of a
          parameter (Jansen's estimate) and the closed index of a pair, Var(E[P | x_i, x_j]) / Var(P). Length scales
          do not tell: with few labels they overfit, and an average over the space does not.
Sample    Inputs are independent. Half of the values of each are uniform, half those of evaluations that succeeded:
          where one point in a hundred succeeds, a uniform sample alone would see next to nothing.
Shapes    samples (N, D), N such that about 10 000 predictions are made whatever d is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from surefoot.backend import engine
from surefoot.numerics.designs import generator, latin_hypercube
from surefoot.optimize.drawing import mappable
from surefoot.optimize.space import Space

if TYPE_CHECKING:
    from surefoot.optimize.result import Result

_PREDICTIONS = 10_000
_MOST, _LEAST = 1024, 64  # points of a sample
_PAIRED = 4  # parameters of the largest total indices, all of whose pairs are compared
_FLAT = 1e-8  # variance of P below which it does not vary
_ENOUGH = 0.8  # a pair that explains so much needs no second one beside it
_WORTH = 0.1  # what a second pair must explain beyond the first


@dataclass(frozen=True)
class Influence:
    """What P(success) depends on."""

    total: np.ndarray  # (d,) total index of each parameter: the share that would be lost without it
    pairs: tuple[tuple[int, int], ...]  # of real or integer parameters, the one that explains most first; up to two
    explained: tuple[float, ...]  # the share of the variance of P(success) that each pair explains, 0 to 1


def influence(result: Result) -> Influence:
    """What the learned P(success) of a result depends on; an error if nothing has succeeded."""
    d, candidates, samples = result.space.d, mappable(result), _samples(result, result.model.success_at)
    with engine(result.nfev):
        p = samples.probability(samples.one)
        variance = float(np.var(p))
        if variance < _FLAT:
            first_two = tuple(combinations(candidates, 2))[:1]
            return Influence(np.zeros(d), first_two, (0.0,) * len(first_two))
        total = samples.totals(p)
        compared = sorted(sorted(candidates, key=lambda i: -total[i])[:_PAIRED])
        closed: dict[tuple[int, ...], float] = {}
        for some in [*combinations(compared, 1), *combinations(compared, 2)]:
            q = samples.sharing(some)
            closed[some] = float(np.clip(np.mean((p - p.mean()) * (q - q.mean())) / variance, 0.0, 1.0))
    pairs = _chosen(closed, list(combinations(compared, 2)))
    return Influence(total, pairs, tuple(closed[pair] for pair in pairs))


def totals_of(result: Result, probability: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Total indices (d,) of any P at points (N, D) of the unit cube, over the same sample; 0 where it is flat."""
    samples = _samples(result, probability)
    p = probability(samples.one)
    return np.zeros(result.space.d) if float(np.var(p)) < _FLAT else samples.totals(p)


def _samples(result: Result, probability: Callable[[np.ndarray], np.ndarray]) -> _Samples:
    d = result.space.d
    n = int(np.clip(_PREDICTIONS // (d + 1 + _PAIRED * (_PAIRED + 1) // 2), _LEAST, _MOST))
    uniforms = latin_hypercube(2 * n, d, generator(0, 2, 0))
    return _Samples(result, probability, _sample(result, uniforms[:n]), _sample(result, uniforms[n:]))


@dataclass(frozen=True)
class _Samples:
    """Two independent samples, and P where some of their columns are exchanged."""

    result: Result
    probability: Callable[[np.ndarray], np.ndarray]
    one: np.ndarray  # (N, D)
    other: np.ndarray

    def totals(self, p: np.ndarray) -> np.ndarray:
        """The total index of each parameter, (d,); p: P at the one sample."""
        d, variance = self.result.space.d, float(np.var(p))
        return np.asarray([0.5 * np.mean((p - self.without(i)) ** 2) / variance for i in range(d)])

    def without(self, i: int) -> np.ndarray:
        """P at the one sample, parameter i drawn anew."""
        return self._mixed(self.one, self.other, [i])

    def sharing(self, some: Sequence[int]) -> np.ndarray:
        """P at the other sample, some parameters as in the one."""
        return self._mixed(self.other, self.one, some)

    def _mixed(self, base: np.ndarray, source: np.ndarray, some: Sequence[int]) -> np.ndarray:
        return self.probability(mixed(self.result.space, base, source, some))


def mixed(space: Space, base: np.ndarray, source: np.ndarray, some: Sequence[int]) -> np.ndarray:
    """The points `base` (N, D) with some parameters as in `source`."""
    units = base.copy()
    for i, (_, columns) in enumerate(space.columns()):
        if i in some:
            units[:, columns] = source[:, columns]
    return units


def _chosen(closed: Mapping[tuple[int, ...], float], pairs: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The pair that explains most, and where that is not enough, the one that adds most to it."""
    if not pairs:
        return ()
    first = max(pairs, key=lambda pair: closed[pair])
    gains = {pair: closed[pair] - sum(closed[k,] for k in pair if k in first) for pair in pairs if pair != first}
    second = max(gains, key=lambda pair: gains[pair], default=first)
    if closed[first] >= _ENOUGH or gains.get(second, 0.0) < _WORTH:
        return (first,)
    return first, second


def _sample(result: Result, uniforms: np.ndarray) -> np.ndarray:
    """Points (N, D) with independent inputs: the lower half of a uniform spreads, the upper one draws successes."""
    space = result.space
    units = space.from_uniform(2.0 * uniforms % 1.0)
    succeeded = result.history.units(space)[result.history.ok]
    for i, (_, columns) in enumerate(space.columns()):
        drawn = uniforms[:, i] >= 0.5
        places = ((2.0 * uniforms[drawn, i] - 1.0) * len(succeeded)).astype(int)
        units[drawn, columns] = succeeded[places][:, columns]
    return units
