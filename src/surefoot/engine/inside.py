"""The policy's maxima inside a region, where searches in the cube have led out of it.

Shapes    proposals (R, q, D); z (p,) the inputs that move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.acquisition.maximize import Proposals
from surefoot.acquisition.target import Target
from surefoot.backend import Array, like, to_host
from surefoot.engine.domain import Region
from surefoot.numerics.constrained import Function, maximize_within
from surefoot.numerics.constrained import Region as Limited

_MOST_CLIMBS = 3  # per run, from the best starts
_MAX_ITER, _ACCURACY = 15, 1e-6


def climb_inside(target: Target, proposals: Proposals, region: Region) -> Proposals:
    """Proposals inside the region, best first: those that are, and in place of the others maxima inside.

    Searches for these begin where the search in the cube began, at points inside.
    """
    assert proposals.start is not None  # of a search by gradients
    x, value, start = (np.array(to_host(a)) for a in (proposals.x, proposals.value, proposals.start))
    for r in range(len(x)):
        outside = np.flatnonzero(~region.allowed(x[r]))
        x[r, outside], value[r, outside] = start[r, outside], -np.inf
        if len(outside) and len(region.moving):
            own = target.select(like([r], proposals.x))
            at_start = to_host(own.values(like(start[r, outside][None], proposals.x)))[0]
            order = outside[np.argsort(-np.nan_to_num(at_start, nan=-np.inf), kind="stable")][:_MOST_CLIMBS]
            value[r, outside] = at_start
            found_x, found = _climb(own, start[r, order], region, proposals.x)
            better = np.isfinite(found)
            x[r, order[better]], value[r, order[better]] = found_x[better], found[better]
    rows = np.arange(len(x))[:, None]
    order = np.argsort(-np.nan_to_num(value, nan=-np.inf), axis=1, kind="stable")
    return Proposals(like(x[rows, order], proposals.x), like(value[rows, order], proposals.x))


@dataclass(frozen=True)
class Slices:
    """The parts of a region that are reached from points inside by the inputs that move, as a search wants them."""

    starts: np.ndarray  # (q, D)
    region: Region

    @property
    def origins(self) -> np.ndarray:
        """(q, p) the points themselves, in the inputs that move."""
        return np.asarray(self.starts[:, self.region.moving])

    def units(self, z: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Points (m, D) of the cube, z (m, p) being of the parts `rows`."""
        return np.asarray(self.starts[rows] + (z - self.origins[rows]) @ self.region.moves.T)

    def seen(self, function: Function) -> Function:
        """A function of points of the cube, with its derivatives (…, D), as one of z."""

        def of_moving(z: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            value, slopes = function(self.units(z, rows), rows)
            return value, slopes @ self.region.moves

        return of_moving

    def limits(self, smooth: Function | None = None) -> Limited:
        """Where z may be; `smooth` are further limits, of points of the cube."""
        straight = self.region.straight
        c, J = _margins(self.region, self.starts)
        A = -J[0][straight] @ self.region.moves
        b = c[:, straight] + self.origins @ A.T
        curved: list[Function] = [] if straight.all() else [self._curved]
        curved += [] if smooth is None else [smooth]

        def all_of(x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            found = [limit(x, rows) for limit in curved]
            return np.concatenate([c for c, _ in found], axis=1), np.concatenate([J for _, J in found], axis=1)

        zero, one = np.zeros(A.shape[1]), np.ones(A.shape[1])
        return Limited(zero, one, A, b, self.seen(all_of) if curved else None)

    def _curved(self, x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        c, J = _margins(self.region, x)
        return c[:, ~self.region.straight], J[:, ~self.region.straight]


def _margins(region: Region, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The region's margins at points (m, D), (m, k), and their derivatives (m, k, D)."""
    found = [region.margins(unit) for unit in x]
    return np.stack([c for c, _ in found]), np.stack([J for _, J in found])


def _climb(target: Target, starts: np.ndarray, region: Region, reference: Array) -> tuple[np.ndarray, np.ndarray]:
    """The maxima (q, D) found from starts (q, D), and their values (q,); -inf where nothing inside was found."""
    parts = Slices(starts, region)

    def policy(x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value, gradient = target.values_and_gradients(like(x[None], reference))
        return to_host(value)[0], to_host(gradient)[0]

    found = maximize_within(
        parts.seen(policy), parts.origins, parts.limits(), lengths(target, starts), _MAX_ITER, _ACCURACY
    )
    return parts.units(found.x, np.arange(len(starts))), found.value


def lengths(target: Target, starts: np.ndarray) -> np.ndarray:
    """(q,) on which a policy varies round each start (q, D): a part of the way to the nearest evaluation elsewhere."""
    gaps = np.sqrt(((starts[:, None] - to_host(target.surrogate.X)[0]) ** 2).sum(axis=2))
    nearest = np.min(gaps, axis=1, where=gaps > 0.0, initial=1.0)
    return np.asarray(np.clip(0.3 * nearest, 1e-7, 0.1))
