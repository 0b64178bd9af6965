"""The neighbourhood of a point, and the least P(success within all limits on outputs) in it.

Points    The neighbourhood is a box, cut off at the bounds. P is computed at a fixed set of its points: the point
          itself, the centres of the faces, the corners (64 of them where there are more), 32 points that fill it
          evenly, the corner towards which P falls along every parameter, and the evaluated points in it that failed or
          were outside limits. Integers are rounded as the space rounds them; categories do not move.
Shapes    units (c, D) of c centres; P (c,).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import InvalidInputError, shown
from surefoot.numerics.designs import generator, latin_hypercube
from surefoot.optimize.checks import is_a, plain_number
from surefoot.optimize.parameters import Categorical, Integer, Real
from surefoot.optimize.space import Space

if TYPE_CHECKING:
    from surefoot.optimize.result import Result

_INSIDE = 32  # points that fill the box
_CORNERS = 6  # parameters of which all corners are looked at: 2^6; of more parameters as many corners
_PER_CENT = re.compile(r"\s*(\d{1,3}(?:\.\d*)?|\.\d+)\s*%\s*")
_FORMS = (
    "expected within as None (the point alone), per cent of every range ('2 %') or a dict of half-widths in the "
    "parameters' units"
)


@dataclass(frozen=True)
class Neighbourhood:
    """How far parameters may lie from where they are meant to be."""

    space: Space
    share: float = 0.0  # of every range, either way
    half_widths: tuple[float, ...] = ()  # in the parameters' units, either way; none: the share counts

    @classmethod
    def of(cls, space: Space, within: Any) -> Neighbourhood:
        """The neighbourhood that a user asks for."""
        if within is None:
            return cls(space)
        if is_a(within, Mapping):
            return cls(space, half_widths=_half_widths(space, within))
        found = _PER_CENT.fullmatch(within) if is_a(within, str) else None
        share = float(found[1]) / 100.0 if found else -1.0
        if not 0.0 <= share <= 1.0:
            raise InvalidInputError(f"{_FORMS}; got {shown(within)}; try within='2 %'")
        return cls(space, share)

    @property
    def moving(self) -> list[int]:
        """The inputs of the engine that move, one for each numeric parameter that does."""
        widths = self.half_widths or (self.share,) * self.space.d
        numeric = zip(self.space.columns(), widths, strict=True)
        return [c.start for (p, c), w in numeric if w > 0.0 and not isinstance(p, Categorical) and p.n_values > 1]

    def ends(self, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest units in the box, (c, D) each."""
        low, high = units.copy(), units.copy()
        if not self.half_widths:
            low[:, self.moving] -= self.share
            high[:, self.moving] += self.share
        else:
            for (p, columns), width in zip(self.space.columns(), self.half_widths, strict=True):
                if columns.start in self.moving and isinstance(p, Real | Integer):
                    for row in range(len(units)):
                        value = p.decode(units[row, columns])
                        low[row, columns] = p.encode(max(p.low, value - width))
                        high[row, columns] = p.encode(min(p.high, value + width))
        return self.space.snap(low), self.space.snap(high)

    def least(self, result: Result, units: np.ndarray) -> np.ndarray:
        """The least P(success within all limits) in the neighbourhood of each point."""
        model, k, c = result.model, len(self.moving), len(units)
        ends = self.ends(units)
        signs = np.broadcast_to(_signs(k), (c, len(_signs(k)), k))
        p = model.works_at(self._placed(units, ends, signs).reshape(-1, units.shape[1])).reshape(c, -1)
        steepest = np.where(p[:, 1 : k + 1] < p[:, k + 1 : 2 * k + 1], 1.0, -1.0)  # where P falls along each parameter
        corner = model.works_at(self._placed(units, ends, steepest[:, None])[:, 0])
        return np.asarray(np.min([p.min(axis=1), corner, self._at_known(result, ends)], axis=0))

    def _placed(self, units: np.ndarray, ends: tuple[np.ndarray, np.ndarray], signs: np.ndarray) -> np.ndarray:
        """Points (c, m, D) where the moving inputs go the signs' share (c, m, k), -1 to 1, of the way to the ends."""
        centre, low, high = (part[:, None, self.moving] for part in (units, *ends))
        points = np.repeat(units[:, None], signs.shape[1], axis=1)
        points[..., self.moving] = centre + np.where(signs < 0.0, centre - low, high - centre) * signs
        return self.space.snap(points)

    def _at_known(self, result: Result, ends: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """The least P at the evaluated failures, and at what is outside limits, in each box; 1 where there is none."""
        failed = result.history.seen & ~result.within
        if not failed.any():
            return np.ones(len(ends[0]))
        at = result.history.units(self.space)[failed]
        inside = ((at >= ends[0][:, None] - 1e-12) & (at <= ends[1][:, None] + 1e-12)).all(axis=2)
        return np.asarray(np.where(inside, result.model.works_at(at), 1.0).min(axis=1))


def _signs(k: int) -> np.ndarray:
    """Where the points lie in a box with k sides, (m, k) in [-1, 1]: the centre, the faces + and -, the rest."""
    if k == 0:
        return np.zeros((1, 0))
    faces, random = np.eye(k), generator(0, 0, 0)
    if k <= _CORNERS:
        corners = np.stack(np.meshgrid(*([[-1.0, 1.0]] * k)), axis=-1).reshape(-1, k)
    else:
        corners = np.where(random.random((2**_CORNERS, k)) < 0.5, -1.0, 1.0)
    inside = 2.0 * latin_hypercube(_INSIDE, k, random) - 1.0
    return np.concatenate([np.zeros((1, k)), faces, -faces, corners, inside])


def _half_widths(space: Space, within: Mapping[Any, Any]) -> tuple[float, ...]:
    numeric = [name for name, p in zip(space.names, space.parameters, strict=True) if not isinstance(p, Categorical)]
    example = f"try within={{{numeric[0]!r}: 0.1}}" if numeric else "try within=None"
    found = dict.fromkeys(space.names, 0.0)
    try:
        items = list(within.items())
    except Exception:  # a mapping of the user's own
        items = [(within, None)]
    for name, given in items:
        width = plain_number(given)
        if not is_a(name, str) or name not in numeric or width is None or not 0.0 <= width < np.inf:
            what = f"{shown(name)}: {shown(given)}"
            raise InvalidInputError(
                f"{_FORMS}, at least 0, for parameters among {', '.join(numeric) or 'none'}; got {what}; {example}"
            )
        found[name] = float(width)
    return tuple(found.values())
