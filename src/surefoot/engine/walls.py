"""Walls: values so large that they would hide all other differences, such as penalties and blow-ups.

Bound     A value beyond a bound counts as that bound. What is usual is told by the first successes that lie apart:
          later ones are where y is low, and a start from a known design lies on one spot. The bound is FAR times as
          far above their median as their least value is below it.
Limits    Where outputs have limits, differences count most at a centre: of y at the best feasible value, of an output
          at its limit. Bounds are then on either side, FAR times the median distance from it, and never inside limits.
Shapes    as in batch.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from surefoot.engine.batch import Batch
from surefoot.engine.limits import centred
from surefoot.engine.spec import Limit

FIRST, _FEWEST = 14, 4  # successes that tell what is usual: at most, and at least
APART = 0.05  # of the cube, the largest coordinate: those that count
FAR = 300.0


def without_walls(batch: Batch, limits: Sequence[Limit] = ()) -> Batch:
    """The batch with walls of y, and of the outputs that have limits, brought down to their bounds."""
    centre = centred(batch, limits).centre if limits else None
    y = _bounded(batch.X, batch.y, batch.ok, centre, 0.0)
    if batch.outputs is None:
        return batch if y is batch.y else replace(batch, y=y)
    outputs = batch.outputs.copy()
    for j, limit in enumerate(limits):
        known = batch.ok & np.isfinite(outputs[:, j])
        half = 0.5 * (limit.upper - limit.lower)
        middle = np.full((len(y), 1), limit.centre)
        outputs[:, j] = _bounded(batch.X, outputs[:, j], known, middle, half if np.isfinite(half) else 0.0)
    return replace(batch, y=y, outputs=outputs)


def _bounded(X: np.ndarray, y: np.ndarray, ok: np.ndarray, centre: np.ndarray | None, least: float) -> np.ndarray:
    """y (R, n) within the bounds of each run; itself where nothing is beyond them. least: of a spread."""
    bounds = np.tile([-np.inf, np.inf], (len(y), 1))
    for r, own in enumerate(ok):
        first = y[r, _apart(X[r], np.flatnonzero(own))]
        if len(first) >= _FEWEST:
            bounds[r] = _usual(first, None if centre is None else float(centre[r, 0]), least)
    low, high = bounds[:, :1], bounds[:, 1:]
    walls = ok & ((y < low) | (y > high))
    return np.where(walls, np.clip(y, low, high), y) if bool(walls.any()) else y


def _apart(X: np.ndarray, places: np.ndarray) -> list[int]:
    """The first of these places whose points X (n, D) are not beside an earlier one of them."""
    found: list[int] = []
    for place in places.tolist():
        if not found or np.abs(X[found] - X[place]).max(axis=1).min() > APART:
            found.append(place)
            if len(found) == FIRST:
                break
    return found


def _usual(y: np.ndarray, centre: float | None, least: float) -> tuple[float, float]:
    """Between which values y is no wall, from the first ones."""
    with np.errstate(over="ignore"):
        middle = float(np.median(y)) if centre is None else centre
        spread = middle - float(y.min()) if centre is None else max(float(np.median(np.abs(y - middle))), least)
        if not spread > 0.0:
            return -np.inf, np.inf
        return -np.inf if centre is None else middle - FAR * spread, middle + FAR * spread
