"""The user's parameters together, and points in the unit cube.

Values    `x` of the user: a list of values in the order of the parameters, or a dict when bounds were a dict.
Shapes    units (..., D), D inputs; uniforms (n, d), d parameters.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError, shown
from surefoot.optimize.checks import is_a, plain_number
from surefoot.optimize.constraints import Constraint, constraints_of
from surefoot.optimize.given import as_mapping, is_frame, listed, pairs_of_limits, rows_of_frame
from surefoot.optimize.parameters import Categorical, Integer, Parameter, Real, Value


def _as_parameter(name: str, spec: Any) -> Parameter:
    parameter: Parameter
    if is_a(spec, Real, Integer, Categorical):
        parameter = spec
    else:
        pair = listed(spec)
        if pair is None or len(pair) != 2:
            raise InvalidInputError(
                f"expected (low, high), Real, Integer or Categorical for parameter {name!r}; got {shown(spec)}; "
                "try (0.0, 1.0)"
            )
        parameter = Real(*(v.item() if is_a(v, np.generic) else v for v in pair))
    parameter.check(name)
    return parameter


def _names_and_specs(bounds: Any) -> tuple[list[str], list[Any], bool]:
    """Names, what is said of each parameter, and whether points are dicts."""
    if is_a(bounds, Mapping):
        try:
            names, specs = list(bounds), list(bounds.values())
        except Exception:
            names, specs = [], []
        wrong = [name for name in names if not is_a(name, str) or not name]
        if wrong:
            raise InvalidInputError(f"expected names of parameters as text; got {shown(wrong[0])}; try {{'a': (0, 1)}}")
        names = [str(name) for name in names]
        if len(set(names)) != len(specs):
            raise InvalidInputError(
                f"expected a dict of bounds with a different name for each; got {shown(bounds)}; try {{'a': (0, 1)}}"
            )
        return names, specs, True
    given = pairs_of_limits(bounds) or listed(bounds)
    if given is None:
        raise InvalidInputError(
            f"expected bounds as a list of (low, high) or a dict of them; got {shown(bounds)}; "
            "try [(0, 1), (0, 1)] or {'a': (0, 1)}"
        )
    if len(given) == 2 and all(plain_number(bound) is not None for bound in given):
        raise InvalidInputError(
            f"expected a list of (low, high), one for each parameter; got the two numbers {shown(bounds)}; "
            f"try [{shown(bounds)}]"
        )
    return [f"x{i}" for i in range(len(given))], given, False


@dataclass(frozen=True)
class Space:
    """All parameters, in order; `named` tells whether points are dicts."""

    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    named: bool
    constraints: tuple[Constraint, ...] = ()  # known ones; what they leave is `surefoot.optimize.allowed`

    region = None  # the space itself is the whole cube

    @classmethod
    def of(cls, bounds: Any, constraints: Any = None) -> Space:
        """A space from a list or dict of bounds, or scipy.optimize.Bounds (or a space, returned as it is)."""
        if is_a(bounds, cls):
            space: Space = bounds
            return space if constraints is None else space.constrained(constraints)
        names, specs, named = _names_and_specs(bounds)
        if not specs:
            raise InvalidInputError("expected at least one parameter; got none; try bounds=[(0, 1)]")
        parameters = tuple(_as_parameter(name, spec) for name, spec in zip(names, specs, strict=True))
        return cls(tuple(names), parameters, named).constrained(constraints)

    def constrained(self, constraints: Any) -> Space:
        """The same parameters with these constraints and no others: one, a list, or a dict of them by name."""
        return replace(self, constraints=constraints_of(constraints, self.names, self.parameters))

    def violated(self, values: Sequence[Value]) -> list[Constraint]:
        """The constraints that do not hold at a validated point."""
        if not self.constraints:
            return []
        point = dict(zip(self.names, values, strict=True))
        return [constraint for constraint in self.constraints if not constraint.holds(point)]

    @property
    def d(self) -> int:
        """Number of parameters."""
        return len(self.parameters)

    @property
    def n_inputs(self) -> int:
        """Number of inputs of the engine."""
        return sum(p.n_columns for p in self.parameters)

    @property
    def n_values(self) -> float:
        """How many points there are: inf with a real parameter."""
        return math.prod(p.n_values for p in self.parameters)

    @property
    def free(self) -> np.ndarray:
        """Which inputs vary continuously, (D,)."""
        return np.concatenate([np.full(p.n_columns, p.n_values == math.inf) for p in self.parameters])

    @property
    def origin(self) -> np.ndarray:
        """Where the parameters' own zeros lie, (D,)."""
        return np.concatenate([p.origin for p in self.parameters])

    @property
    def pools(self) -> np.ndarray | None:
        """(k, D) the shares of k categories in their inputs; None where there is no category."""
        rows = []
        for p, columns in self.columns():
            if isinstance(p, Categorical) and p.n_columns > 1:
                rows.append(np.zeros(self.n_inputs))
                rows[-1][columns] = 1.0 / p.n_columns
        return np.stack(rows) if rows else None

    @property
    def is_continuous(self) -> bool:
        """Whether all parameters are real and none is fixed."""
        return all(p.n_values == math.inf for p in self.parameters)

    @property
    def has_steps(self) -> bool:
        """Whether any parameter moves by steps: an integer or a category with several values."""
        return any(1 < p.n_values < math.inf for p in self.parameters)

    def columns(self) -> Iterator[tuple[Parameter, slice]]:
        """Every parameter with its inputs of the engine."""
        start = 0
        for p in self.parameters:
            yield p, slice(start, start + p.n_columns)
            start += p.n_columns

    def validate(self, x: Any) -> tuple[Value, ...]:
        """The values of a user's x in the order of the parameters; an error if it is not a point of the space."""
        x = as_mapping(x)
        values = self._by_name(x) if is_a(x, Mapping) else self._in_order(x)
        out: list[Value] = []
        for name, p, raw in zip(self.names, self.parameters, values, strict=True):
            value = _scalar(raw)
            if not _accepts(p, value):
                raise InvalidInputError(
                    f"expected {p.describe()} for parameter {name!r}; got {shown(raw)}; "
                    "try a point inside the bounds, or widen them"
                )
            out.append(p.canonical(value))
        return tuple(out)

    def _by_name(self, x: Mapping[Any, Any]) -> list[Any]:
        try:
            x = dict(x)
        except Exception:
            x = {}
        unknown, missing = [key for key in x if key not in self.names], [n for n in self.names if n not in x]
        if unknown or missing:
            hint = f"without {shown(unknown)}" if unknown and not missing else f"adding {', '.join(missing)}"
            raise InvalidInputError(f"expected values for {', '.join(self.names)}; got {shown(x)}; try {hint}")
        return [x[name] for name in self.names]

    def _in_order(self, x: Any) -> list[Any]:
        values = listed(x)
        if values is None and self.d == 1 and not is_a(x, str, bytes):
            values = [x]
        if values is None:
            raise InvalidInputError(
                f"expected a point with {self.d} values ({', '.join(self.names)}); got {shown(x)}; try a list"
            )
        if len(values) != self.d:
            raise InvalidInputError(
                f"expected a point with {self.d} values ({', '.join(self.names)}); got {len(values)}: {shown(x)}; "
                "try one point per call, in the order of the bounds"
            )
        return values

    def points(self, given: Any) -> list[tuple[Value, ...]]:
        """The points of a user's list, array or data frame, or the one point that it is; all are validated."""
        if given is None:
            return []
        if is_frame(given):
            rows = rows_of_frame(given, self.names, by_position=not self.named)
            if rows is None:
                raise InvalidInputError(
                    f"expected a data frame with the columns {', '.join(self.names)}; "
                    f"got {shown(list(given.columns))}; try renaming the columns"
                )
            return [self.validate(row) for row in rows]
        several = None if is_a(as_mapping(given), Mapping) else listed(given)
        if several is None or (len(several) == self.d and not any(_holds_values(v) for v in several)):
            return [self.validate(given)]
        return [self.validate(point) for point in several]

    def encode(self, values: Sequence[Value]) -> np.ndarray:
        """Units (D,) of a validated point."""
        return np.asarray([u for p, v in zip(self.parameters, values, strict=True) for u in p.encode(v)])

    def decode(self, unit: np.ndarray) -> tuple[Value, ...]:
        """The point at these units (D,)."""
        return tuple(p.decode(unit[columns]) for p, columns in self.columns())

    def snap(self, units: np.ndarray) -> np.ndarray:
        """The nearest valid units, (..., D)."""
        if self.is_continuous:
            return np.asarray(np.clip(units, 0.0, 1.0))
        return np.concatenate([p.snap(units[..., columns]) for p, columns in self.columns()], axis=-1)

    def from_uniform(self, uniforms: np.ndarray) -> np.ndarray:
        """Valid units (n, D) for a design (n, d) in [0, 1)."""
        return np.concatenate([p.from_uniform(uniforms[:, i]) for i, p in enumerate(self.parameters)], axis=1)

    def neighbours(self, unit: np.ndarray) -> np.ndarray:
        """Units (k, D) of the points that differ in one integer or categorical parameter by one step."""
        found = [np.empty((0, self.n_inputs))]
        for p, columns in self.columns():
            others = p.neighbours(p.decode(unit[columns]))
            moved = np.repeat(unit[None], len(others), axis=0)
            if others:
                moved[:, columns] = [p.encode(other) for other in others]
            found.append(moved)
        return np.concatenate(found)

    def all_points(self) -> Iterator[tuple[Value, ...]]:
        """Every point of a finite space."""
        return itertools.product(*(p.values() for p in self.parameters))

    def to_user(self, values: Sequence[Value]) -> Any:
        """A point as the user's function gets it: dict, array of floats, or list when types are mixed."""
        if self.named:
            return dict(zip(self.names, values, strict=True))
        if all(isinstance(p, Real) for p in self.parameters):
            return np.asarray(values, dtype=float)
        return list(values)


def _holds_values(element: Any) -> bool:
    """Whether it can be a point itself, rather than one value of it."""
    return is_a(element, Mapping) or listed(element) is not None


def _scalar(raw: Any) -> Any:
    """A number or choice out of its NumPy wrapping; lists, which tuples become in JSON files, as tuples."""
    try:
        if is_a(raw, np.generic) or (is_a(raw, np.ndarray) and raw.ndim == 0):
            return raw.item()
        return tuple(_scalar(v) for v in raw) if type(raw) is list else raw
    except Exception:  # a list that holds itself
        return raw


def _accepts(p: Parameter, value: Any) -> bool:
    try:
        return p.accepts(value)
    except Exception:  # a number of the user's own that cannot be compared
        return False
