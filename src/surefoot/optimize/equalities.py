"""Linear equalities among real parameters: one parameter of each is computed from the others.

Notation  E u = f in the unit cube, u_p = offset - coefficients u_rest for the parameters p that are computed.
Shapes    units (m, D), one input per real parameter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.formulas import Formula
from surefoot.optimize.constraints import Constraint
from surefoot.optimize.parameters import Real
from surefoot.optimize.space import Space

_NO_PIVOT = 1e-12  # relative to the largest coefficient
_ULPS = 32  # by which parameters are moved so that an equality holds as written
_INSTEAD = "leaving one of its parameters out of the bounds, and computing it from the others inside your function"


@dataclass(frozen=True)
class Equality:
    """residual = 0, and which parameter is computed from it."""

    constraint: Constraint
    residual: Formula
    slopes: Mapping[str, float]  # in the user's units
    computed: str = ""


@dataclass(frozen=True)
class Equalities:
    """All of them, solved."""

    equations: tuple[Equality, ...]
    computed: np.ndarray  # (k,) inputs of the engine
    offset: np.ndarray  # (k,)
    coefficients: np.ndarray  # (k, D), 0 in the computed inputs

    def project(self, units: np.ndarray) -> np.ndarray:
        """Points (m, D) with the computed inputs, which may lie outside of [0, 1]."""
        if len(self.computed) == 0:
            return units
        units = units.copy()
        units[:, self.computed] = self.offset - units @ self.coefficients.T
        return units

    def settle(self, point: Mapping[str, Any], limits: Callable[[str], Real]) -> dict[str, Any]:
        """A point with computed parameters such that each equality holds as written, if some numbers nearby do."""
        point = dict(point)
        for _ in range(2 if len(self.equations) > 1 else 1):
            for equation in self.equations:
                _settle(equation, point, limits)
        return point


def _settle(equation: Equality, point: dict[str, Any], limits: Callable[[str], Real]) -> None:
    name, slope = equation.computed, equation.slopes[equation.computed]
    low, high = float(limits(name).low), float(limits(name).high)
    for _ in range(3):
        residual = equation.residual.at(point)
        if residual == 0.0:
            return
        point[name] = min(high, max(low, point[name] - residual / slope))
    others = [other for other in equation.slopes if other != name][-4:]  # the last terms of a sum move it most finely
    total = sum(abs(slope * point[n]) for n, slope in equation.slopes.items())
    quantum = 0.25 * math.ulp(total)  # sums are rounded to their last bit
    for wobble in range(_ULPS):  # of another parameter, where no value of this one does it
        for steps in range(-_ULPS, _ULPS + 1):
            tried = {**point, name: point[name] + steps * max(math.ulp(point[name]), quantum / abs(slope))}
            if others and wobble:
                other = others[wobble % len(others)]
                step = max(math.ulp(point[other]), quantum / abs(equation.slopes[other]))
                tried[other] = point[other] - (wobble // len(others) + 1) * step
            if equation.residual.at(tried) == 0.0 and all(limits(n).accepts(tried[n]) for n in equation.slopes):
                point.update(tried)
                return


def solve(space: Space, constraints: Sequence[Constraint], known: Mapping[str, float]) -> Equalities:
    """The equalities among constraints, solved; `known` are the values of fixed parameters."""
    found = []
    for constraint in constraints:
        for link in () if constraint.comparison is None else constraint.comparison.links:
            if link.kind == "equal":
                found.append(_linear(space, constraint, link.margin, known))
    D = space.n_inputs
    inputs = {name: columns.start for name, (_, columns) in zip(space.names, space.columns(), strict=True)}
    ranges = {name: (p.low, p.high - p.low) for name, p in _reals(space).items()}
    E, f = np.zeros((len(found), D)), np.zeros(len(found))
    for i, (equation, constant) in enumerate(found):
        for name, slope in equation.slopes.items():
            low, width = ranges[name]
            E[i, inputs[name]] = slope * width
            f[i] -= slope * low
        f[i] -= constant
    names = {column: name for name, column in inputs.items()}
    equations, computed, rows = [], [], []
    scale = np.abs(E).max(initial=0.0)
    for i, (equation, _) in enumerate(found):  # Gauss-Jordan
        pivot = int(np.argmax(np.abs(E[i])))
        if abs(E[i, pivot]) <= _NO_PIVOT * scale:
            if abs(f[i]) > 1e-9 * max(scale, abs(f[i])):
                raise InvalidInputError(
                    f"expected equalities that can hold together; got {equation.constraint}, which contradicts the "
                    f"ones before it; try leaving it out"
                )
            continue
        f[i] /= E[i, pivot]
        E[i] /= E[i, pivot]
        for j in range(len(found)):
            if j != i:
                f[j] -= E[j, pivot] * f[i]
                E[j] -= E[j, pivot] * E[i]
        equations.append(Equality(equation.constraint, equation.residual, equation.slopes, names[pivot]))
        computed.append(pivot)
        rows.append(i)
    coefficients = E[rows].reshape(-1, D)
    coefficients[:, computed] = 0.0
    return Equalities(tuple(equations), np.asarray(computed, dtype=int), f[rows], coefficients)


def _reals(space: Space) -> dict[str, Real]:
    pairs = zip(space.names, space.parameters, strict=True)
    return {name: p for name, p in pairs if isinstance(p, Real) and p.low < p.high and not p.log}


def _linear(
    space: Space, constraint: Constraint, residual: Formula, known: Mapping[str, float]
) -> tuple[Equality, float]:
    """An equality with its slopes and constant; an error if it is curved, or not among real parameters."""
    affine = residual.affine(known)
    if affine is None:
        raise InvalidInputError(f"expected a linear equality; got {constraint}, which is curved; try {_INSTEAD}")
    others = [name for name in affine.slopes if name not in _reals(space)]
    if others:
        raise InvalidInputError(
            f"expected an equality among real parameters that are not logarithmic; got {constraint}, where "
            f"{', '.join(others)} is an integer, a category or logarithmic; try {_INSTEAD}"
        )
    if not affine.slopes and affine.constant != 0.0:
        raise InvalidInputError(f"expected an equality that can hold; got {constraint}, which never does; try another")
    return Equality(constraint, residual, affine.slopes), affine.constant
