"""The policy's maxima inside a region, where searches in the cube have led out of it.

Shapes    proposals (R, q, D); z (p,) the inputs that move.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.acquisition.maximize import Proposals
from surefoot.acquisition.target import Target
from surefoot.backend import like, to_host
from surefoot.engine.domain import Region
from surefoot.numerics.constrained import Region as Limited
from surefoot.numerics.constrained import maximize_within

Limits = Callable[[np.ndarray], tuple[Any, np.ndarray]]
_MOST_CLIMBS = 3  # per run, from the best starts
_CALLS = 20  # of the policy in one climb, and two more per input: near its end SLSQP searches along rounding


def climb_inside(target: Target, proposals: Proposals, region: Region) -> Proposals:
    """Proposals inside the region, best first: those that are, and in place of the others what SLSQP finds.

    It begins where the search in the cube began, at points inside.
    """
    assert proposals.start is not None  # of a search by gradients
    x, value, start = (np.array(to_host(a)) for a in (proposals.x, proposals.value, proposals.start))
    for r in range(len(x)):
        outside = np.flatnonzero(~region.allowed(x[r]))
        x[r, outside], value[r, outside] = start[r, outside], -np.inf
        if len(outside) and len(region.moving):
            own = target.select(like([r], proposals.x))
            at_start = to_host(own.values(like(start[r, outside][None], proposals.x)))[0]
            order = outside[np.argsort(-np.nan_to_num(at_start, nan=-np.inf), kind="stable")]
            value[r, outside] = at_start
            for i in order[:_MOST_CLIMBS]:
                found = _climb(own, start[r, i], region, proposals.x)
                if found is not None:
                    x[r, i], value[r, i] = found
    rows = np.arange(len(x))[:, None]
    order = np.argsort(-np.nan_to_num(value, nan=-np.inf), axis=1, kind="stable")
    return Proposals(like(x[rows, order], proposals.x), like(value[rows, order], proposals.x))


@dataclass(frozen=True)
class Slice:
    """The part of a region that is reached from a point by the inputs that move, as a search by SLSQP wants it."""

    start: np.ndarray  # (D,) inside
    region: Region

    @property
    def origin(self) -> np.ndarray:
        """(p,) the point itself, in the inputs that move."""
        return np.asarray(self.start[self.region.moving])

    def unit(self, z: np.ndarray) -> np.ndarray:
        """The point (D,) of the cube."""
        return np.asarray(self.start + self.region.moves @ (z - self.origin))

    def seen(self, function: Limits) -> Limits:
        """A function of points of the cube, with its derivatives (…, D), as one of z."""

        def of_moving(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            value, slopes = function(self.unit(z))
            return value, slopes @ self.region.moves

        return of_moving

    def limits(self, smooth: Limits | None = None) -> Limited:
        """Where z may be; `smooth` are further limits, of points of the cube."""
        straight = self.region.straight
        c, J = self.region.margins(self.start)
        A = -J[straight] @ self.region.moves
        curved: list[Limits] = [] if straight.all() else [self._curved]
        curved += [] if smooth is None else [smooth]

        def all_of(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            found = [limit(x) for limit in curved]
            return np.concatenate([c for c, _ in found]), np.concatenate([J for _, J in found])

        zero, one = np.zeros(len(self.origin)), np.ones(len(self.origin))
        return Limited(zero, one, A, c[straight] + A @ self.origin, self.seen(all_of) if curved else None)

    def _curved(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        c, J = self.region.margins(x)
        return c[~self.region.straight], J[~self.region.straight]


def _climb(target: Target, start: np.ndarray, region: Region, reference: object) -> tuple[np.ndarray, float] | None:
    """The maximum (D,) that SLSQP finds from a start (D,), and its value; None if it finds nothing inside."""
    part = Slice(start, region)
    most = _CALLS + 2 * len(part.origin)
    n_calls = 0

    def policy(x: np.ndarray) -> tuple[Any, np.ndarray]:
        nonlocal n_calls
        n_calls += 1
        if n_calls > most:
            return np.nan, np.zeros(len(x))  # the search ends with what it has
        value, gradient = target.values_and_gradients(like(x[None, None], reference))
        return float(to_host(value)[0, 0]), to_host(gradient)[0, 0]

    distance = np.sqrt(((to_host(target.surrogate.X)[0] - start) ** 2).sum(axis=1).min())
    step = float(np.clip(0.3 * distance, 1e-7, 0.1))  # the length on which a policy varies, as in the cube
    found = maximize_within(part.seen(policy), part.origin[None], part.limits(), np.asarray([step]))
    return (part.unit(found.x[0]), float(found.value[0])) if np.isfinite(found.value[0]) else None
