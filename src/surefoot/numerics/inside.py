"""Uniform points of a part of the unit cube of which only the excess is known: how far a point lies outside.

Purpose   The part may be a millionth of the cube, curved, in pieces, or a union of cells (rounded integers).
Finding   Subset simulation [Au & Beck 2001]: the fifth of the points that exceeds least is kept and multiplied by moves
          that exceed no more; again, until points lie inside. Pieces are found in proportion to their size.
Moves     Hit-and-run by slice sampling [Neal 2003]: a uniform point on a bracket of a line; while it is outside, the
          bracket shrinks to it. Lines run along the difference of two other points, which has the shape of the part
          whatever that is, or along an axis. The uniform distribution stays as it is.
Shapes    points (m, d) in [0, 1]; excess (m,), 0 inside and positive outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

Excess = Callable[[np.ndarray], np.ndarray]

_KEPT = 0.2  # share of the points that is kept at each level
_ENOUGH = 25  # points inside, of which the others are made
_MOST_LEVELS = 60
_MOST_STALLED = 4  # levels without progress
_MOST_SHRINKS = 60
_REACH = 2.0  # of a bracket, in differences of two points


@dataclass(frozen=True)
class Found:
    """Points inside, and how large the part is."""

    points: np.ndarray  # (n, d); none if none was found
    share: float  # of the cube, roughly: 0 if none was found
    n_tries: int  # points whose excess was computed


def find_inside(excess: Excess, d: int, n: int, rng: np.random.Generator, starts: np.ndarray | None = None) -> Found:
    """n points inside, nearly uniform and nearly independent; `starts` (k, d) are tried where nothing else is found."""
    n_tries, hit = 0, np.empty((0, d))

    def counted(points: np.ndarray) -> np.ndarray:
        nonlocal n_tries, hit
        n_tries += len(points)
        over = excess(points)
        if len(hit) < n:  # where the excess says nothing but yes or no, points inside are met by chance
            hit = np.concatenate([hit, points[over <= 0.0]])[:n]
        return over

    points = rng.random((n, d))
    share, last, stalled = 1.0, np.inf, 0
    for _ in range(_MOST_LEVELS):
        over = counted(points)
        enough = np.count_nonzero(over <= 0.0) >= min(_ENOUGH, _KEPT * n)
        level = 0.0 if enough else float(np.quantile(over, _KEPT, method="lower"))
        kept = points[over <= level]
        if level == 0.0:
            share *= len(kept) / n
            seeds = kept[rng.integers(len(kept), size=n)]
            return Found(walk(seeds, counted, 0.0, kept, rng, 3 * d + 10), share, n_tries)
        stalled = 0 if level < last else stalled + 1
        if stalled > _MOST_STALLED:
            break
        last, share = level, share * len(kept) / n
        seeds = kept[rng.integers(len(kept), size=n)]
        points = walk(seeds, counted, level, kept, rng, d + 5)
    if len(hit) == 0 and starts is not None:
        counted(starts)
    if len(hit) == 0:
        return Found(hit, 0.0, n_tries)
    share = len(hit) / n_tries
    seeds = hit[rng.integers(len(hit), size=n)]
    return Found(walk(seeds, counted, 0.0, hit, rng, 5 * d + 20), share, n_tries)


def walk(
    points: np.ndarray, excess: Excess, level: float, others: np.ndarray, rng: np.random.Generator, n_steps: int
) -> np.ndarray:
    """Points (m, d) that exceed at most `level`, moved n_steps times; `others` (k, d) tell the shape of the part."""
    points = points.copy()
    m, d = points.shape
    span = np.maximum(np.ptp(others, axis=0), 1e-15)
    for _ in range(n_steps):
        first, second = (others[rng.integers(len(others), size=m)] for _ in range(2))
        along_axis = rng.random((m, 1)) < 0.5
        axis = rng.integers(d, size=m)
        width = np.where(rng.random(m) < 0.5, 1.0, span[axis])[:, None]
        line = np.where(along_axis, np.eye(d)[axis] * width, _REACH * (first - second))
        low, high = _in_cube(points, line, np.asarray(-rng.random(m)))
        left = np.flatnonzero(high > low)
        for _ in range(_MOST_SHRINKS):
            if len(left) == 0:
                break
            t = low[left] + (high[left] - low[left]) * rng.random(len(left))
            tried = np.clip(points[left] + t[:, None] * line[left], 0.0, 1.0)
            outside = excess(tried) > level
            points[left[~outside]] = tried[~outside]
            left, t = left[outside], t[outside]
            low[left], high[left] = np.where(t < 0.0, t, low[left]), np.where(t < 0.0, high[left], t)
    return points


def _in_cube(points: np.ndarray, line: np.ndarray, low: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The brackets [low, low + 1] of each line, as far as they lie in the cube."""
    with np.errstate(divide="ignore", invalid="ignore"):
        to_zero, to_one = -points / line, (1.0 - points) / line
    still = line == 0.0
    below = np.where(still, -np.inf, np.minimum(to_zero, to_one)).max(axis=1)
    above = np.where(still, np.inf, np.maximum(to_zero, to_one)).min(axis=1)
    return np.maximum(low, np.minimum(below, 0.0)), np.minimum(low + 1.0, np.maximum(above, 0.0))


def spread(candidates: np.ndarray, n: int, kept: np.ndarray) -> np.ndarray:
    """Indices of n of the candidates (m, d), each the farthest from those before it and from `kept` (k, d)."""
    near = cdist(candidates, kept).min(axis=1) if len(kept) else np.full(len(candidates), np.inf)
    chosen = []
    for _ in range(n):
        chosen.append(int(np.argmax(near)))
        near = np.minimum(near, cdist(candidates, candidates[chosen[-1:]])[:, 0])
    return np.asarray(chosen, dtype=int)
