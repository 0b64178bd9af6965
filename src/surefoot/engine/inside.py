"""The policy's maxima inside a region, where searches in the cube have led out of it.

Shapes    proposals (R, q, D); z (p,) the inputs that move.
"""

from __future__ import annotations

import numpy as np

from surefoot.acquisition.maximize import Proposals
from surefoot.acquisition.target import Target
from surefoot.backend import like, to_host
from surefoot.engine.domain import Region
from surefoot.numerics.constrained import Region as Limits
from surefoot.numerics.constrained import maximize_within

_MOST_CLIMBS = 4  # per run, from the best starts
_MAX_ITER = 30


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


def _climb(target: Target, start: np.ndarray, region: Region, reference: object) -> tuple[np.ndarray, float] | None:
    """The maximum (D,) that SLSQP finds from a start (D,), and its value; None if it finds nothing inside."""
    moving, moves = region.moving, region.moves

    def unit(z: np.ndarray) -> np.ndarray:
        return np.asarray(start + moves @ (z - start[moving]))

    def policy(z: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = target.values_and_gradients(like(unit(z)[None, None], reference))
        return float(to_host(value)[0, 0]), moves.T @ to_host(gradient)[0, 0]

    def margins(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        c, J = region.margins(unit(z))
        return c, J @ moves

    limits = Limits(np.zeros(len(moving)), np.ones(len(moving)), smooth=margins)
    distance = np.sqrt(((to_host(target.surrogate.X)[0] - start) ** 2).sum(axis=1).min())
    step = float(np.clip(0.3 * distance, 1e-7, 0.1))  # the length on which a policy varies, as in the cube
    found = maximize_within(policy, start[moving][None], limits, np.asarray([step]), _MAX_ITER)
    return (unit(found.x[0]), float(found.value[0])) if np.isfinite(found.value[0]) else None
