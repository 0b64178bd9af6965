"""What matters: how much of the variation of the objective, and of P(success), each parameter explains, and how surely.

Objective Sobol' indices of functions drawn from the posterior, over the whole box, inputs independent and uniform:
          first (Saltelli 2010), what a parameter explains alone; total (Jansen 1999), what would be lost without it.
          Each drawn function is judged by a resample of the points, so that the spread over functions holds the model's
          uncertainty and that of the sample. Values are those that the model sees: compressed, where it compresses.
Failures  Total indices of P(success) (influence.py). Their uncertainty is a jackknife: the failure model is fitted
          again without one group of evaluations after another.
Intervals 90 %.
Shapes    d parameters, D inputs; samples (N, D), functions (…, S).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from surefoot.backend import engine, to_host
from surefoot.engine.success import Labels, fit_success
from surefoot.gp.hyperparameters import N_RANDOM_STARTS
from surefoot.numerics.designs import generator, latin_hypercube
from surefoot.optimize.influence import mixed, totals_of

if TYPE_CHECKING:
    from surefoot.optimize.result import Result

LEVEL = 0.9
_PREDICTIONS = 6000
_MOST, _LEAST = 1024, 128  # points of a sample
_FUNCTIONS = 128
_GROUPS = 8  # of the jackknife
_NORMAL = 1.645  # standard deviations on either side of 90 %
_STREAM = 3  # of generator(0, _STREAM, 0)


@dataclass(frozen=True)
class Shares:
    """An index of each parameter, and the interval in which it lies."""

    value: np.ndarray  # (d,)
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Importance:
    """What matters, parameter by parameter."""

    first: Shares  # of the objective
    total: Shares
    failures: Shares | None  # total indices of P(success); None: nothing is learned of failures


def importance(result: Result) -> Importance:
    """What matters in a result; an error if nothing has succeeded."""
    with engine(result.nfev):
        first, total = _of_objective(result)
        return Importance(first, total, _of_failures(result) if result.model.learns_failures else None)


def _of_objective(result: Result) -> tuple[Shares, Shares]:
    space = result.space
    n = int(np.clip(_PREDICTIONS // (space.d + 2), _LEAST, _MOST))
    rng = generator(0, _STREAM, 0)
    one, other = (space.from_uniform(latin_hypercube(n, space.d, rng)) for _ in range(2))
    points = np.concatenate([one, other, *(mixed(space, one, other, [i]) for i in range(space.d))])
    paths = to_host(result.map.fitted.objective.sample_paths(points[None], (rng,), _FUNCTIONS))[0]
    f = paths.reshape(space.d + 2, n, _FUNCTIONS)
    rows = rng.integers(n, size=(n, _FUNCTIONS))
    a, b, *ab = (np.take_along_axis(part, rows, axis=0) for part in f)  # (n, S) each
    variance = np.var(np.concatenate([a, b]), axis=0)
    variance = np.where(variance > 0.0, variance, np.inf)  # a flat function depends on nothing
    first = np.stack([np.mean((b - b.mean(axis=0)) * (part - a), axis=0) / variance for part in ab])
    total = np.stack([0.5 * np.mean((a - part) ** 2, axis=0) / variance for part in ab])
    return _spread(np.minimum(first, total)), _spread(total)  # by its estimate a part can be more than the whole


def _spread(indices: np.ndarray) -> Shares:
    """Of indices (d, S) of drawn functions."""
    low, middle, high = np.quantile(np.clip(indices, 0.0, 1.0), [0.5 - LEVEL / 2, 0.5, 0.5 + LEVEL / 2], axis=1)
    return Shares(middle, low, high)


def _of_failures(result: Result) -> Shares:
    total = totals_of(result, result.model.success_at)
    n = result.nfev
    group = generator(0, _STREAM, 1).permutation(n) % min(_GROUPS, n)
    without = np.stack([totals_of(result, _refitted(result, group != g)) for g in range(group.max() + 1)])
    g = len(without)
    sd = np.sqrt((g - 1) / g * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    low, high = (np.clip(total + side * _NORMAL * sd, 0.0, 1.0) for side in (-1.0, 1.0))
    return Shares(np.clip(total, 0.0, 1.0), low, high)


def _refitted(result: Result, keep: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """P(success) as learned from some of the evaluations."""
    batch, model = result.batch, result.settings.spec.failures
    assert model is not None  # P(success) is learned
    parts = (None if a is None else a[:, keep] for a in (batch.seen, batch.kinds))
    labels = Labels(batch.X[:, keep], batch.failed[:, keep], *parts)
    p = 0 if model.tells_kinds else model.n_hyperparameters(batch.X.shape[-1])
    draws = generator(0, _STREAM, 2).random((1, N_RANDOM_STARTS, p))
    if not labels.failed.any():
        return lambda units: np.ones(len(units))
    weight, _ = fit_success(labels, model, None, draws)
    return partial(_probability, weight.probability)


def _probability(of: Callable[[np.ndarray], np.ndarray], units: np.ndarray) -> np.ndarray:
    return np.asarray(to_host(of(units[None]))[0])
