"""The simulator near a point as linear in f_L, f_S and the trees' conductances, and the posterior that follows.

Outputs step in xi because the conductances do (emulator.py), so a loss has a minimum on either side of many steps, and
a search ends in any of them. The conductances are known at every xi without simulating, steps and all, and in them the
outputs are smooth. So a few simulations tell the loss at all xi near the point, beyond the steps as before them.

Shapes    G values of xi, N measured values; points (3,) in the unit cube of the bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from surefoot.pulmonary.arrays import Floats

# In the unit interval: as far as xi must go for a tree's conductance to be again what it was before steps. In the
# paper's bounds, 0.67 wide, that is 0.0153 at most.
REACH = 0.023
_N_NEAR, _N_FAR = 601, 201  # values of xi within that reach, and over the whole unit interval
_STEP = 0.01  # of finite differences in f_L and f_S, in the unit cube: short against the curvature
_ALIKE = 0.01  # changes of the conductances below this share of the largest are not told apart

Simulate = Callable[[Floats], "list[Floats | None]"]
"""units (m, 3) -> what the data would show (N,) each, in units of the noise; None where the simulation failed."""
Trees = Callable[[Floats], Floats]
"""xi (G,) in the unit interval -> logarithms of the trees' conductances (G, trees)."""


@dataclass(frozen=True)
class Tangent:
    """g at a point and its slopes there."""

    point: Floats
    there: Floats  # (N,) g at the point, in units of the noise
    by_stiffness: Floats  # (N, 2) slopes in f_L and f_S
    by_conductance: Floats  # (N, trees) slopes in the conductances' logarithms
    xi: Floats  # (G,) the whole unit interval, finely within REACH of the point
    logs: Floats  # (G, trees) logarithms of the conductances there, less those at the point

    def posterior(self, measured: Floats) -> tuple[Floats, Floats, Floats]:
        """Mode (3,), mean (3,) and covariance (3, 3) of the posterior if g were its tangent.

        Given xi it is normal in f_L and f_S; over xi it is summed, so that all modes count by what they hold.
        """
        A = self.by_stiffness
        rest = (measured - self.there)[:, None] - self.by_conductance @ self.logs.T  # (N, G)
        covariance = np.linalg.inv(A.T @ A + 12.0 * np.eye(2))  # 1/12: the variance of a uniform prior
        moves = covariance @ A.T @ rest  # (2, G)
        log_density = -0.5 * np.sum((rest - A @ moves) ** 2, axis=0) - 6.0 * np.sum(moves**2, axis=0)
        cells = np.gradient(self.xi)
        weight = cells * np.exp(log_density - log_density.max())
        weight /= weight.sum()
        ridge = np.stack([*(self.point[:2, None] + moves), self.xi])  # (3, G): the best point of every xi
        spread = np.cov(ridge, aweights=weight, ddof=0)
        spread[:2, :2] += covariance
        spread[2, 2] += weight @ cells**2 / 12.0  # of xi within a cell
        return ridge[:, np.argmax(log_density)], ridge @ weight, spread


def make_tangent(simulate: Simulate, point: Floats, there: Floats, trees: Trees) -> Tangent:
    """By differences: both ways in f_L and f_S, and at one xi per tree, those with the least alike conductances."""
    columns = []
    for i in range(2):
        ends = [(float(point[i]), there)]
        units = np.repeat(point[None], 2, axis=0)
        units[:, i] = np.clip(point[i] + np.array([-_STEP, _STEP]), 0.0, 1.0)
        ends += [(float(u[i]), g) for u, g in zip(units, simulate(units), strict=True) if g is not None]
        (low, at_low), (high, at_high) = min(ends, key=lambda end: end[0]), max(ends, key=lambda end: end[0])
        columns.append((at_high - at_low) / max(high - low, 1e-12))
    near = np.clip(point[2] + np.linspace(-REACH, REACH, _N_NEAR), 0.0, 1.0)
    xi = np.union1d(near, np.linspace(0.0, 1.0, _N_FAR))
    logs = trees(xi) - trees(point[2:])
    window = np.flatnonzero((xi >= near[0]) & (xi <= near[-1]))
    pivots = qr(logs[window].T, mode="r", pivoting=True)[1]  # each xi adds what those before it tell least of
    chosen = window[pivots[: logs.shape[1]]]
    found = simulate(np.column_stack([np.repeat(point[None, :2], len(chosen), axis=0), xi[chosen]]))
    ran = [i for i, g in enumerate(found) if g is not None]
    changes = np.reshape([g - there for g in found if g is not None], (len(ran), there.size))
    slopes = np.linalg.lstsq(logs[chosen[ran]], changes, rcond=_ALIKE)[0]
    return Tangent(point, there, np.stack(columns, axis=1), slopes.T, xi, logs)
