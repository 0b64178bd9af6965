"""The domain that known constraints leave: every point that the engine makes is allowed.

Pool      Points inside, found once and nearly uniform (numerics/inside.py); all of them if the space is small.
New ones  begin at points of the pool and walk inside. Their random numbers come from the uniform draws that are
          asked for, so that suggesting stays pure.
Borders   A point outside is brought in on the way to the nearest point of the pool, by bisection to the last bit.
          What users get is checked as they would check it, in their units.
Shapes    units (m, D); uniforms (m, d).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from surefoot.engine.domain import Domain
from surefoot.errors import InvalidInputError
from surefoot.numerics.designs import generator
from surefoot.numerics.inside import Found, find_inside, spread, walk
from surefoot.optimize.contradictions import contradiction, linear_rows, point_inside
from surefoot.optimize.parameters import Categorical, Parameter, Real, Value
from surefoot.optimize.region import Region, View
from surefoot.optimize.space import Space

_POOL = 512
_MOST_LISTED = 50_000  # points of a finite space that is looked at as a whole
_MOST_SPREAD = 200  # points at once that are spread evenly: a design
_MORE = 8  # candidates for each of them
_STEPS = 3  # of a walk from a point of the pool
_BISECTIONS = 54
_RESTORATIONS = 5  # steps that bring free inputs back after an integer has moved
_INSIDE, _NEAR = 1e-9, 1e-6  # scaled margins that such steps aim at, and that they keep
_MOST_NAMED = 10  # constraints in a message
_NO_ROOM = 1e-12  # of the ranges


def domain_of(
    space: Space, views: Mapping[str, View] | None = None, constants: Mapping[str, Any] | None = None
) -> Domain:
    """What the engine is given: the space itself, or what its constraints allow of it.

    views: what users see of the engine's values, by parameter; constants: parameters that are not in the space.
    InvalidInputError if nothing is allowed, or no allowed point is found.
    """
    return Allowed(Region(space, space.constraints, views, constants)) if space.constraints else space


class Allowed:
    """The allowed part of a space."""

    def __init__(self, region: Region) -> None:
        self.region, self._space = region, region.space
        self.d, self.n_inputs = self._space.d, self._space.n_inputs
        self.free, self.is_continuous = self._space.free, self._space.is_continuous
        self.has_steps, self.pools = self._space.has_steps, self._space.pools
        self.encode = self._space.encode
        self._last: dict[bytes, np.ndarray] = {}  # the last design, by the draws that it was made of
        found = self._listed() if self._space.n_values <= _MOST_LISTED else self._searched()
        self.share = found.share
        self._pool, self._pool_units = found.points, self._units(found.points)

    # --- the pool

    def _listed(self) -> Found:
        """All allowed points of a finite space, as uniform draws that lead to them."""
        space = self._space
        units = np.asarray([space.encode(values) for values in space.all_points()])
        allowed = [unit for unit in units[self.region.allowed(units)] if self.region.holds(space.decode(unit))]
        if not allowed:
            raise self._refused(f"none of all {len(units)} points of the space is allowed")
        columns = [
            [_uniform_of(p, v) for p, v in zip(space.parameters, space.decode(unit), strict=True)] for unit in allowed
        ]
        return Found(np.asarray(columns), len(allowed) / len(units), len(units))

    def _searched(self) -> Found:
        rows = linear_rows(self.region)
        starts = None
        if rows:
            possible, values = point_inside(self.region, rows)
            if not possible:
                numbers = contradiction(self.region, rows)
                raise self._refused("no point of the space meets all of these within the bounds", numbers)
            if values is not None:
                pairs = zip(self._space.parameters, values, strict=True)
                starts = np.asarray([[_uniform_of(p, v) for p, v in pairs]])
        found = find_inside(self._excess, self.d, _POOL, generator(0, 0, 0), starts)
        if len(found.points) == 0:
            raise self._refused(f"no point that meets them was found in {found.n_tries} tries")
        units = self._units(found.points)
        sure = np.asarray([self.region.holds(self.region.settle(self._space.decode(unit))) for unit in units])
        if not sure.any():
            raise self._refused(f"no point that meets them to the last bit was found in {found.n_tries} tries")
        if self.free.any() and (np.ptp(units[sure], axis=0)[self.free] <= _NO_ROOM).all():
            attempt = "== for an equality, or fixed parameters"
            raise self._refused("they leave no room to move", attempt=attempt)
        return Found(found.points[sure], found.share, found.n_tries)

    def _refused(self, why: str, numbers: Sequence[int] | None = None, attempt: str = "") -> InvalidInputError:
        """What to raise; numbers: of the constraints that are to be named, None for all."""
        constraints = self.region.constraints
        named = [str(c) for i, c in enumerate(constraints) if numbers is None or i in numbers]
        told = " and ".join(map(repr, named[:_MOST_NAMED]))
        told += f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        return InvalidInputError(
            f"expected constraints that leave points to evaluate; got {told}: {why}; "
            f"try {attempt or 'other bounds, or fewer constraints'}"
        )

    def _units(self, uniforms: np.ndarray) -> np.ndarray:
        return self.region.project(self._space.from_uniform(uniforms))

    def _excess(self, uniforms: np.ndarray) -> np.ndarray:
        return self.region.excess(self._space.from_uniform(uniforms))

    # --- the domain

    @cached_property
    def n_values(self) -> float:
        """Number of points; of a large finite space at most so many."""
        return len(self._pool) if self._space.n_values <= _MOST_LISTED else self._space.n_values

    def from_uniform(self, uniforms: np.ndarray) -> np.ndarray:
        """Allowed points (m, D): those of the draws where they are allowed, others in the place of the rest."""
        uniforms = np.array(uniforms)
        key, even = uniforms.tobytes(), len(uniforms) <= _MOST_SPREAD
        if key in self._last:  # a design is asked for again with each of its points
            return self._last[key].copy()
        bad = np.flatnonzero(self._excess(uniforms) > 0.0)
        if len(bad):
            rng = generator(zlib.crc32(key), 0, len(bad))
            begin = self._pool[rng.integers(len(self._pool), size=(_MORE if even else 1) * len(bad))]
            new = walk(begin, self._excess, 0.0, self._pool, rng, _STEPS)
            if even:
                kept = np.delete(uniforms, bad, axis=0)
                scale = np.maximum(np.ptp(self._pool, axis=0), _NO_ROOM)
                new = new[spread(new / scale, len(bad), kept / scale)]
            uniforms[bad] = new
        found = self._units(uniforms)
        if even:
            self._last = {key: found.copy()}
        return found

    def snap(self, units: np.ndarray) -> np.ndarray:
        """Allowed points near to points (..., D)."""
        flat = self.region.project(self._space.snap(units).reshape(-1, self.n_inputs))
        bad = np.flatnonzero(self.region.excess(flat) > 0.0)
        if len(bad):
            flat[bad] = self._brought_in(flat[bad])
        return np.asarray(np.clip(flat, 0.0, 1.0)).reshape(units.shape)

    def _brought_in(self, units: np.ndarray) -> np.ndarray:
        """Points (m, D) on the way to the nearest points of the pool, as soon as they are allowed."""
        goal = self._pool_units[np.argmin(cdist(units, self._pool_units), axis=1)]
        low, high = np.zeros((len(units), 1)), np.ones((len(units), 1))
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            outside = (self.region.excess(_between(units, goal, middle)) > 0.0)[:, None]
            low, high = np.where(outside, middle, low), np.where(outside, high, middle)
        found = self.region.project(self._space.snap(_between(units, goal, high)))
        return np.where((self.region.excess(found) > 0.0)[:, None], goal, found)

    def neighbours(self, unit: np.ndarray) -> np.ndarray:
        """Allowed points (k, D) one step away in an input that is not free; free ones move where they must."""
        found = self._space.neighbours(unit)
        for i in np.flatnonzero(~self.region.allowed(found)) if len(found) and len(self.region.moving) else ():
            found[i] = self._restored(found[i])
        return found[self.region.allowed(found)] if len(found) else found

    def _restored(self, unit: np.ndarray) -> np.ndarray:
        """A point (D,) whose free inputs have moved by the least that meets linearized constraints; or nearly so."""
        moves, moving = self.region.moves, self.region.moving
        for _ in range(_RESTORATIONS):
            margins, slopes = self.region.margins(unit)
            near = ~(margins > _NEAR)  # those that are met must not be left while others are met
            finite = np.isfinite(margins[near]).all() and np.isfinite(slopes[near]).all()
            if (margins >= 0.0).all() or not finite:
                break
            wanted = np.maximum(_INSIDE - margins[near], 0.0)
            step = np.linalg.lstsq(slopes[near] @ moves, wanted, rcond=None)[0]
            unit = unit + moves @ (np.clip(unit[moving] + step, 0.0, 1.0) - unit[moving])
        return unit

    def all_points(self) -> Iterator[tuple[Value, ...]]:
        """All allowed values of a finite space."""
        return (values for values in self._space.all_points() if self.region.holds(values))

    def decode(self, unit: np.ndarray) -> tuple[Value, ...]:
        """The values at a point (D,): allowed as users check it, brought in by the least that does it."""
        values = self.region.settle(self._space.decode(unit))
        if self.region.holds(values):
            return values
        goal = self._pool_units[np.argmin(cdist(unit[None], self._pool_units)[0])]
        for power in range(-54, 1):
            moved = self._space.snap(self.region.project(_between(unit[None], goal[None], np.asarray(2.0**power))))
            values = self.region.settle(self._space.decode(moved[0]))
            if self.region.holds(values):
                return values
        return self.region.settle(self._space.decode(goal))


def _uniform_of(p: Parameter, value: Value) -> float:
    """A uniform number from which `from_uniform` makes the value."""
    if isinstance(p, Categorical):
        return ((p.index(value) or 0) + 0.5) / p.n_values
    if isinstance(p, Real) or p.log:
        return p.encode(value)[0]
    return float((value - p.low + 0.5) / p.n_values)


def _between(start: np.ndarray, goal: np.ndarray, share: np.ndarray) -> np.ndarray:
    return np.asarray((1.0 - share) * start + share * goal)
