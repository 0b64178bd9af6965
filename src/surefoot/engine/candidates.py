"""Candidates for the policy search, drawn on the host, and points that are new.

Shapes   R runs, D inputs; candidates (R, m, D).
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from surefoot.engine.domain import Domain
from surefoot.numerics.designs import Generators, kronecker

CLOUD_SCALES = 10.0 ** -np.arange(1.0, 7.0)  # of the clouds round the incumbents
_N_INCUMBENTS = 3
_PER_SCALE = 16
_PER_INCUMBENT = 32  # neighbours in integers and categories
_JUMP_DECADES = 1.5  # of the widths by which integers move: many levels need short moves too
TRIES = 256  # random points, before all points of a space are looked at
ENUMERATED = 1e6  # points of a space that are all looked at


def lattice(domain: Domain, generators: Generators) -> np.ndarray:
    """Evenly spread candidates, other ones for each run and iteration."""
    m = min(500 + 250 * domain.d, 3000)
    return np.stack([domain.from_uniform(kronecker(m, domain.d, rng)) for rng in generators])


def uniform(domain: Domain, generators: Generators, m: int) -> np.ndarray:
    """Independent uniform candidates."""
    return np.stack([domain.from_uniform(rng.random((m, domain.d))) for rng in generators])


def clouds(domain: Domain, X: np.ndarray, y: np.ndarray, ok: np.ndarray, generators: Generators) -> np.ndarray:
    """Points round the three best evaluations of each run (failed ones where fewer succeeded) at every scale.

    In half of them only some inputs move. Where there are integers or categories, points one step away join them.
    """
    scale = np.repeat(CLOUD_SCALES, _PER_SCALE)[:, None]  # (s, 1)
    free = domain.free
    out = []
    for X_r, y_r, ok_r, rng in zip(X, y, ok, generators, strict=True):
        best = np.argsort(np.where(ok_r, y_r, np.inf), kind="stable")[:_N_INCUMBENTS]
        shape = (len(best), len(scale), X.shape[-1])
        # integers and categories move by jumps: a wide proposal for some of them, then rounding
        jump = 0.5 * (rng.random(shape) < 0.3)
        if domain.has_steps:
            jump = jump * 10.0 ** (-_JUMP_DECADES * rng.random(shape))
        width = np.where(free, scale, jump)
        sparse = rng.random(shape) < min(1.0, 2.0 / X.shape[-1])
        sparse |= np.arange(shape[1])[:, None] % 2 == 0
        moved = X_r[best][:, None, :] + np.where(sparse, width, 0.0) * rng.standard_normal(shape)
        moved = moved.reshape(-1, X.shape[-1])
        if domain.has_steps:
            moved = np.concatenate([moved, _steps(domain, X_r[best], rng)])
        out.append(domain.snap(moved))
    return np.stack(out)


def _steps(domain: Domain, incumbents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Neighbours (m, D) of points (k, D), as many whatever the points; their free inputs move a little at any scale."""
    around = [np.concatenate([domain.neighbours(x), x[None]]) for x in incumbents]
    drawn = np.concatenate([some[rng.integers(len(some), size=_PER_INCUMBENT)] for some in around])
    width = np.where(domain.free, rng.choice(CLOUD_SCALES, (len(drawn), 1)), 0.0)
    return np.asarray(drawn + width * rng.standard_normal(drawn.shape))


def first_new(proposals: np.ndarray, taken: np.ndarray, min_distance: float) -> int | None:
    """Index of the first proposal (q, D) farther than min_distance from every taken point (n, D), if any."""
    if len(taken) == 0:
        return 0
    for i, x in enumerate(proposals):
        if np.abs(taken - x).max(axis=1).min() > min_distance:
            return i
    return None


def any_new(domain: Domain, taken: np.ndarray, min_distance: float, rng: np.random.Generator) -> np.ndarray | None:
    """A random new point: the farthest of many from all taken ones; None if there is none, or none was drawn."""
    tries = domain.from_uniform(rng.random((TRIES, domain.d)))
    if len(taken) == 0:
        return np.asarray(tries[0])
    distance = cdist(tries, taken, "chebyshev").min(axis=1)
    best = int(np.argmax(distance))
    if distance[best] > min_distance:
        return np.asarray(tries[best])
    if domain.n_values > ENUMERATED:
        return None
    seen = {x.tobytes() for x in np.round(taken, 9) + 0.0}
    for values in domain.all_points():
        unit = domain.encode(values)
        if (np.round(unit, 9) + 0.0).tobytes() not in seen:
            return unit
    return None
