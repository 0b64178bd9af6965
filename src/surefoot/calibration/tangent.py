"""The simulator near a point as linear in the parameters, and the posterior that follows.

A stepped parameter (box.py) enters through its features. The outputs step in it because these do, so a loss has a
minimum on either side of many steps, and a search ends in any of them. The features are known at every value without
simulating, steps and all. So a few simulations tell the loss at all values near the point, beyond the steps as before
them.

Shapes    p smooth parameters, F features, N measured values; G values of the stepped parameter (G = 1 without one);
          points (d,) in the unit cube.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from surefoot.calibration.box import Box, Floats

_N_NEAR, _N_FAR = 601, 201  # values of a stepped parameter within its reach, and over the whole unit interval
_STEP = 0.01  # of finite differences in the smooth parameters, in the unit cube: short against the curvature
_ALIKE = 0.01  # changes of the features below this share of the largest are not told apart

Simulate = Callable[[Floats], "list[Floats | None]"]
"""units (m, d) -> what the data would show (N,) each, in units of the noise; None where the simulation failed."""


@dataclass(frozen=True)
class Tangent:
    """g at a point and its slopes there."""

    box: Box
    point: Floats
    there: Floats  # (N,) g at the point, in units of the noise
    slopes: Floats  # (N, p) in the smooth parameters
    by_feature: Floats  # (N, F) slopes in the features
    grid: Floats  # (G,) of the stepped parameter: the whole unit interval, finely within reach of the point
    changes: Floats  # (G, F) features there, less those at the point

    def posterior(self, measured: Floats) -> tuple[Floats, Floats, Floats]:
        """Mode (d,), mean (d,) and covariance (d, d) of the posterior if g were its tangent.

        Given the stepped parameter it is normal in the others; over that it is summed, so that all modes count by what
        they hold.
        """
        A, smooth, step = self.slopes, self.box.smooth, self.box.step
        rest = (measured - self.there)[:, None] - self.by_feature @ self.changes.T  # (N, G)
        covariance = np.linalg.inv(A.T @ A + 12.0 * np.eye(len(smooth)))  # 1/12: the variance of a uniform prior
        moves = covariance @ A.T @ rest  # (p, G)
        log_density = -0.5 * np.sum((rest - A @ moves) ** 2, axis=0) - 6.0 * np.sum(moves**2, axis=0)
        cells = np.ones(1) if step is None else np.gradient(self.grid)
        weight = cells * np.exp(log_density - log_density.max())
        weight /= weight.sum()
        ridge = np.empty((self.box.d, self.grid.size))  # the best point of every value of the stepped parameter
        ridge[smooth] = self.point[smooth, None] + moves
        if step is not None:
            ridge[step] = self.grid
        spread = np.cov(ridge, aweights=weight, ddof=0).reshape(self.box.d, self.box.d)
        spread[np.ix_(smooth, smooth)] += covariance
        if step is not None:
            spread[step, step] += weight @ cells**2 / 12.0  # within a cell
        return ridge[:, np.argmax(log_density)], ridge @ weight, spread


def make_tangent(simulate: Simulate, point: Floats, there: Floats, box: Box) -> Tangent:
    """By differences: both ways in the smooth parameters, and one simulation per feature of the stepped one."""
    columns = []
    for i in box.smooth:
        ends = [(float(point[i]), there)]
        units = np.repeat(point[None], 2, axis=0)
        units[:, i] = np.clip(point[i] + np.array([-_STEP, _STEP]), 0.0, 1.0)
        ends += [(float(u[i]), g) for u, g in zip(units, simulate(units), strict=True) if g is not None]
        (low, at_low), (high, at_high) = min(ends, key=lambda end: end[0]), max(ends, key=lambda end: end[0])
        columns.append((at_high - at_low) / max(high - low, 1e-12))
    slopes = np.stack(columns, axis=1) if columns else np.empty((there.size, 0))
    if box.step is None:
        return Tangent(box, point, there, slopes, np.empty((there.size, 0)), np.zeros(1), np.empty((1, 0)))
    return Tangent(box, point, there, slopes, *_features(simulate, point, there, box, box.step))


def _features(simulate: Simulate, point: Floats, there: Floats, box: Box, step: int) -> tuple[Floats, Floats, Floats]:
    """by_feature, grid and changes, by simulations at the values within reach whose features are least alike."""
    near = np.clip(point[step] + np.linspace(-box.reach, box.reach, _N_NEAR), 0.0, 1.0)
    grid = np.union1d(near, np.linspace(0.0, 1.0, _N_FAR))
    changes = box.features_at(grid) - box.features_at(point[step : step + 1])
    window = np.flatnonzero((grid >= near[0]) & (grid <= near[-1]))
    pivots = qr(changes[window].T, mode="r", pivoting=True)[1]  # each adds what those before it tell least of
    chosen = window[pivots[: changes.shape[1]]]
    units = np.repeat(point[None], len(chosen), axis=0)
    units[:, step] = grid[chosen]
    found = simulate(units)
    ran = [i for i, g in enumerate(found) if g is not None]
    differences = np.reshape([g - there for g in found if g is not None], (len(ran), there.size))
    slopes = np.linalg.lstsq(changes[chosen[ran]], differences, rcond=_ALIKE)[0]
    return slopes.T, grid, changes
