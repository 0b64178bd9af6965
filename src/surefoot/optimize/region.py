"""The part of a space that known constraints allow, as functions of points in the unit cube.

Excess    How far a point is outside: the violated margins, each in units of its median over the cube, summed.
Views     What users see of the engine's values, where that is something else (a grid, which the engine numbers).
Shapes    units (m, D); margins (m, k) of k inequalities, functions, and limits of computed parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.numerics.designs import generator, kronecker
from surefoot.optimize.constraints import Constraint
from surefoot.optimize.equalities import solve
from surefoot.optimize.parameters import Categorical, Integer, Real, Value
from surefoot.optimize.space import Space

_TABLE = 4096  # values of a parameter whose views are tabulated
_SAMPLE = 256  # points from which the scales of margins are taken
_STEP = 1e-7  # of differences, for functions
_TOLERANCE = 1e-9  # of an equality, in the unit cube
_ANY = 1.7320508  # a number that makes no expression simpler than it is
_FAR = 1e6  # excess of a margin that has no value

View = Callable[[Value], Any]


class Region:
    """What is allowed, given a space without constraints of its own."""

    def __init__(
        self,
        space: Space,
        constraints: Sequence[Constraint],
        views: Mapping[str, View] | None = None,
        constants: Mapping[str, Any] | None = None,
    ) -> None:
        self.space, self.constraints = space, tuple(constraints)
        self._views = {} if views is None else dict(views)
        self._constants = {} if constants is None else dict(constants)  # parameters that are not in the space
        self._columns = dict(zip(space.names, space.columns(), strict=True))
        known = {n: p.values()[0] for n, p in zip(space.names, space.parameters, strict=True) if p.n_values == 1}
        known = {n: self.view(n, value) for n, value in known.items()} | self._constants
        self.known = {n: float(v) for n, v in known.items() if isinstance(v, (int, float))}
        self.equalities = solve(space, self.constraints, self.known)
        sample = np.abs(self._raw_margins(space.from_uniform(kronecker(_SAMPLE, space.d, generator(0, 0, 0)))))
        finite = np.where(np.isfinite(sample) & (sample > 0.0), sample, np.nan)
        self._scales = np.asarray([_middle(column) for column in finite.T])  # (k,)

    # --- points as the user sees them

    def columns(self, units: np.ndarray) -> dict[str, np.ndarray]:
        """The user's values (m,) of each parameter at points (m, D)."""
        found = {}
        for name, (p, at) in self._columns.items():
            values = p.decode_all(units[:, at])
            if isinstance(p, Integer) and max(abs(p.low), abs(p.high)) < 2**53:
                values = values.astype(np.int64)
            found[name] = values if name not in self._views else _viewed(p, values, self._views[name])
        for name, value in self._constants.items():
            found[name] = np.full(len(units), value)
        return found

    def view(self, name: str, value: Value) -> Any:
        """What the user sees of one of the engine's values."""
        return self._views.get(name, _same)(value)

    def point(self, values: Sequence[Value]) -> dict[str, Any]:
        """The user's point of the engine's values."""
        pairs = zip(self.space.names, values, strict=True)
        return {name: self.view(name, value) for name, value in pairs} | self._constants

    def violated(self, values: Sequence[Value]) -> list[Constraint]:
        """The constraints that the engine's values do not meet."""
        point = self.point(values)
        return [c for c in self.constraints if not c.holds(point)]

    def holds(self, values: Sequence[Value]) -> bool:
        """Whether the engine's values are allowed, by Python's arithmetic and by NumPy's."""
        if self.violated(values):
            return False
        one = {name: np.asarray([value]) for name, value in self.point(values).items()}
        return all((c.margins(one) >= 0.0).all() for c in self.constraints if c.comparison is not None)

    def settle(self, values: Sequence[Value]) -> tuple[Value, ...]:
        """The engine's values with computed parameters such that equalities hold as written."""
        if not self.equalities.equations:
            return tuple(values)
        settled = self.equalities.settle(self.point(values), self._real)
        return tuple(settled[n] if n in self._reals() else v for n, v in zip(self.space.names, values, strict=True))

    def _reals(self) -> set[str]:
        return {name for name, (p, _) in self._columns.items() if isinstance(p, Real)}

    def _real(self, name: str) -> Real:
        p = self._columns[name][0]
        assert isinstance(p, Real)  # equalities among others are refused
        return p

    # --- margins

    def project(self, units: np.ndarray) -> np.ndarray:
        """Points (m, D) with the computed parameters."""
        return self.equalities.project(units)

    def _raw_margins(self, units: np.ndarray) -> np.ndarray:
        """(m, k): of all constraints but equalities, then of the limits of computed parameters."""
        units = self.project(units)
        computed = units[:, self.equalities.computed]
        columns = self.columns(np.clip(units, 0.0, 1.0))
        return np.concatenate([c.margins(columns) for c in self.constraints] + [computed, 1.0 - computed], axis=1)

    def excess(self, units: np.ndarray) -> np.ndarray:
        """How far points (m, D) are outside, (m,), when computed parameters are computed; 0 where allowed."""
        short = np.maximum(-self._raw_margins(units), 0.0)
        over = np.where(np.isfinite(short), np.maximum(short / self._scales, np.where(short > 0.0, 1e-300, 0.0)), _FAR)
        return np.asarray(np.minimum(over, _FAR).sum(axis=1))

    def allowed(self, units: np.ndarray) -> np.ndarray:
        """Whether points (m, D) are allowed, (m,), to the last bits of functions."""
        inside = self.excess(units) <= 0.0
        return np.asarray(inside & (np.abs(self.project(units) - units).max(axis=1, initial=0.0) <= _TOLERANCE))

    @cached_property
    def moving(self) -> np.ndarray:
        """(q,) inputs that are free and not computed."""
        free = np.flatnonzero(self.space.free)
        return free[~np.isin(free, self.equalities.computed)]

    @cached_property
    def moves(self) -> np.ndarray:
        """(D, q) how all inputs move with each of those: itself, and those that are computed from it."""
        moves = np.eye(self.space.n_inputs)[:, self.moving]
        moves[self.equalities.computed] = -self.equalities.coefficients[:, self.moving]
        return moves

    @cached_property
    def straight(self) -> np.ndarray:
        """(k,) which margins are linear in the inputs that move: logarithmic parameters bend them."""
        bent = {n for n, (p, _) in self._columns.items() if isinstance(p, Real) and p.log and p.n_values > 1}
        moving = {n for n, (p, _) in self._columns.items() if isinstance(p, Real) and p.n_values > 1}
        found = []
        for c in self.constraints:
            for link in () if c.comparison is None else c.comparison.links:
                if link.kind != "equal":  # as if the others, which do not move, were known numbers
                    held = {n: self.known.get(n, _ANY) for n in link.margin.names if n not in moving}
                    affine = link.margin.affine(held)
                    found.append(affine is not None and not bent & set(affine.slopes))
            found += [False] * (c.comparison is None)
        return np.asarray(found + [True] * (2 * len(self.equalities.computed)), dtype=bool)

    def margins(self, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The scaled margins (k,) at a point (D,) and their derivatives (k, D) in the free inputs.

        Functions that say yes or no have the derivative 0.
        """
        values, slopes = [], []
        columns = self.columns(np.clip(unit, 0.0, 1.0)[None])
        names = [n for n, (p, _) in self._columns.items() if isinstance(p, Real)]
        rates = np.asarray([_rate(self._real(n), columns[n][0]) for n in names])
        at = [self._columns[n][1].start for n in names]
        for c in self.constraints:
            for link in () if c.comparison is None else c.comparison.links:
                if link.kind != "equal":
                    value, gradient = link.margin.values_and_gradients(columns, names)
                    row = np.zeros(len(unit))
                    row[at] = gradient[0] * rates
                    values.append(value[0])
                    slopes.append(row)
            if c.comparison is None:
                margin, row = self._differences(c, unit)
                values.append(margin)
                slopes.append(row)
        for column in self.equalities.computed:
            values += [unit[column], 1.0 - unit[column]]
            slopes += [np.eye(len(unit))[column], -np.eye(len(unit))[column]]
        return np.asarray(values) / self._scales, np.asarray(slopes) / self._scales[:, None]

    def _differences(self, c: Constraint, unit: np.ndarray) -> tuple[float, np.ndarray]:
        """The margin of a function and its differences along the free inputs."""
        free = np.flatnonzero(self.space.free)
        steps = np.where(unit[free] > 0.5, -_STEP, _STEP)
        around = np.repeat(unit[None], len(free) + 1, axis=0)
        around[1 + np.arange(len(free)), free] += steps
        margins = c.margins(self.columns(np.clip(around, 0.0, 1.0)))[:, 0]
        row = np.zeros(len(unit))
        row[free] = (margins[1:] - margins[0]) / steps
        return float(margins[0]), row

    def distances(self, values: Sequence[Value]) -> list[tuple[Constraint, float]]:
        """Of each inequality that is a text: how far its border is from a point, in shares of the ranges."""
        point = self.point(values)
        one = {name: np.asarray([value]) for name, value in point.items()}
        numeric = {n: p for n, (p, _) in self._columns.items() if not isinstance(p, Categorical) and p.n_values > 1}
        found = []
        for c in self.constraints:
            for link in () if c.comparison is None else c.comparison.links:
                if link.kind != "equal":
                    names = [n for n in link.margin.names if n in numeric]
                    value, gradient = link.margin.values_and_gradients(one, names)
                    rates = [_rate(numeric[n], float(point[n])) for n in names]
                    slope = float(np.linalg.norm(gradient[0] * rates))
                    found.append((c, abs(float(value[0])) / slope if slope > 0.0 else math.inf))
        return found


def _same(value: Value) -> Value:
    return value


def _middle(column: np.ndarray) -> float:
    found = column[~np.isnan(column)]
    return float(np.median(found)) if len(found) else 1.0


def _rate(p: Real | Integer, value: float) -> float:
    """How a parameter changes with its input of the engine."""
    return value * math.log(p.high / p.low) if p.log else float(p.high) - float(p.low)


def _viewed(p: Integer | Categorical | Real, values: np.ndarray, view: View) -> np.ndarray:
    """The views of the engine's values (m,)."""
    if isinstance(p, Real):
        return values
    if p.n_values > _TABLE:
        return np.asarray([view(value) for value in values.tolist()])
    every = list(p.values())
    table = np.empty(len(every), dtype=object)
    table[:] = [view(value) for value in every]
    low = p.low if isinstance(p, Integer) else 0
    picked = table[np.asarray(values, dtype=int) - low]
    numbers = all(isinstance(value, (int, float)) for value in table)
    return np.asarray(picked, float if numbers and any(isinstance(value, float) for value in table) else object)
