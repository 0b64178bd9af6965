"""Where the posterior is: a region of the unit cube, found from a start and moved with the draws.

Region    a cube of half-width 5 in coordinates z where the posterior's covariance is the identity: u = centre + C z. It
          starts where the simulator's tangent says (tangent.py; a few simulations from the optimum) and is moved and
          scaled to the draws after each round.
Shapes    units (m, d), points (d,), draws (S, d); N measured values.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from surefoot.calibration.box import Box, Floats
from surefoot.calibration.tangent import Simulate, make_tangent
from surefoot.errors import SurefootError
from surefoot.numerics.designs import kronecker

HALF_WIDTH = 5.0  # of the region, in standard deviations of the posterior
_MAX_MOVES, _LONGEST = 8, 0.15  # to the first region, and the longest, in the unit cube
_SHORTENED = (1.0, 0.5, 0.25)


@dataclass
class Pool:
    """Every simulation made for the emulator."""

    simulate: Simulate
    units: list[Floats] = field(default_factory=list)
    predicted: list[Floats] = field(default_factory=list)
    failed: list[Floats] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.units) + len(self.failed)

    def add(self, units: Floats) -> list[Floats | None]:
        """Simulate more points and keep them."""
        found = self.simulate(units)
        for unit, predicted in zip(units, found, strict=True):
            if predicted is None:
                self.failed.append(unit)
            else:
                self.units.append(unit)
                self.predicted.append(predicted)
        return found

    def best(self, measured: Floats) -> tuple[Floats, Floats]:
        """The simulation nearest to the data: its units (d,) and what it predicts (N,)."""
        i = int(np.argmin([np.sum((measured - predicted) ** 2) for predicted in self.predicted]))
        return self.units[i], self.predicted[i]


@dataclass(frozen=True)
class Region:
    """A cube in z, u = centre + C z."""

    centre: Floats  # (d,)
    C: Floats  # (d, d), lower triangular

    def z(self, units: Floats) -> Floats:
        """Coordinates (m, d) of units."""
        return np.asarray(np.linalg.solve(self.C, (units - self.centre).T).T)

    def distance(self, a: Floats, b: Floats) -> float:
        """Between two points (d,), in standard deviations."""
        return float(np.linalg.norm(np.linalg.solve(self.C, a - b)))

    def inside(self, units: Floats, half_width: float = HALF_WIDTH) -> Floats:
        """Which units (m, d) lie in the region and in the unit cube."""
        cube = np.all((units >= 0.0) & (units <= 1.0), axis=1)
        return np.asarray(cube & np.all(np.abs(self.z(units)) <= half_width, axis=1))

    def corners(self) -> tuple[Floats, Floats]:
        """The least box round the region within the unit cube."""
        reach = HALF_WIDTH * np.sum(np.abs(self.C), axis=1)
        return np.clip(self.centre - reach, 0.0, 1.0), np.clip(self.centre + reach, 0.0, 1.0)

    def lattice(self, n: int, rng: np.random.Generator) -> Floats:
        """n points spread evenly over the region within the unit cube, out to 4/5 of its half-width."""
        for factor in (1, 4, 16, 64):
            z = 0.8 * HALF_WIDTH * (2.0 * kronecker(factor * n, self.centre.size, rng) - 1.0)
            units = self.centre + z @ self.C.T
            units = units[self.inside(units)]
            if len(units) >= n:
                break
        return units[:n]


def first_region(pool: Pool, start: Floats, measured: Floats, box: Box) -> Region:
    """From a start that runs, moves to the mode of the tangent's posterior; the region is that of the last tangent.

    Gauss-Newton moves, but they see beyond the steps of a stepped parameter. While nothing simulated is better than the
    point, a move is halved, twice at most. The next starts from the best simulation so far; if that is less than one
    standard deviation away, there is none. From the optimum it is one move.
    """
    pool.add(start[None])
    if not pool.units:
        raise SurefootError(f"expected a start at which the simulator runs; it failed at {start}; try more evaluations")
    point, there = pool.best(measured)
    for _ in range(_MAX_MOVES):
        old = point
        mode, mean, covariance = make_tangent(pool.add, point, there, box).posterior(measured)
        region = Region(mean, np.asarray(np.linalg.cholesky(covariance), dtype=np.float64))
        move = mode - point
        move *= min(1.0, _LONGEST / max(float(np.max(np.abs(move))), 1e-12))
        for factor in _SHORTENED:
            pool.add(np.clip(point + factor * move, 0.0, 1.0)[None])
            point, there = pool.best(measured)
            if point is not old:
                break
        if region.distance(old, point) < 1.0:
            break
    # the mode is out of reach where the simulator fails or the tangent does not hold: stay with what was simulated
    return region if region.distance(point, mode) < 1.0 else Region(point, region.C)


def n_first(box: Box) -> int:
    """Simulations that first_region makes with one move, at most."""
    n_features: int = box.features_at(np.array([0.5])).shape[1]
    return 1 + 2 * len(box.smooth) + n_features + len(_SHORTENED)


def next_region(old: Region, draws: Floats) -> Region:
    """The region that fits draws (S, d); if they crowd at the old one's edge it is moved and widened instead."""
    centre = np.asarray(draws.mean(axis=0))
    if np.mean(np.any(np.abs(old.z(draws)) > 0.8 * HALF_WIDTH, axis=1)) > 0.1:
        return Region(centre, 1.5 * old.C)
    covariance = np.cov(draws.T).reshape(old.C.shape) + 1e-14 * np.eye(centre.size)
    return Region(centre, np.asarray(np.linalg.cholesky(covariance), dtype=np.float64))


def has_settled(old: Region, new: Region, best: Floats) -> bool:
    """Whether the centre moved by less than half a standard deviation, no width changed by half, and best is inside."""
    shift = np.abs(old.z(new.centre[None]))[0]
    ratio = np.linalg.svd(np.linalg.solve(old.C, new.C), compute_uv=False)
    return bool(np.all(shift < 0.5) and np.all((ratio > 0.5) & (ratio < 1.5)) and new.inside(best[None])[0])
