"""The user's parameters together, and points in the unit cube.

Values    `x` of the user: a list of values in the order of the parameters, or a dict when bounds were a dict.
Shapes    units (..., D), D inputs; uniforms (n, d), d parameters.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError
from surefoot.optimize.parameters import Categorical, Integer, Parameter, Real, Value


def _length(x: Any) -> int:
    """len, or -1 for an array without axes."""
    return -1 if isinstance(x, np.ndarray) and x.ndim == 0 else len(x)


def _as_parameter(name: str, spec: Any) -> Parameter:
    if isinstance(spec, (Real, Integer, Categorical)):
        parameter = spec
    elif isinstance(spec, (str, bytes)) or not isinstance(spec, (Sequence, np.ndarray)) or _length(spec) != 2:
        raise InvalidInputError(
            f"expected (low, high), Real, Integer or Categorical for parameter {name!r}; got {spec!r}; try (0.0, 1.0)"
        )
    else:
        parameter = Real(*(v.item() if isinstance(v, np.generic) else v for v in spec))
    parameter.check(name)
    return parameter


@dataclass(frozen=True)
class Space:
    """All parameters, in order; `named` tells whether points are dicts."""

    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    named: bool

    @classmethod
    def of(cls, bounds: Any) -> Space:
        """A space from a list of bounds or a dict of them (or a space, returned as it is)."""
        if isinstance(bounds, Space):
            return bounds
        if isinstance(bounds, Mapping):
            names, specs, named = [str(name) for name in bounds], list(bounds.values()), True
        elif (
            isinstance(bounds, (Sequence, np.ndarray)) and not isinstance(bounds, (str, bytes)) and _length(bounds) >= 0
        ):
            specs, named = list(bounds), False
            names = [f"x{i}" for i in range(len(specs))]
        else:
            raise InvalidInputError(
                f"expected bounds as a list of (low, high) or a dict of them; got {bounds!r}; "
                "try [(0, 1), (0, 1)] or {'a': (0, 1)}"
            )
        if not specs:
            raise InvalidInputError("expected at least one parameter; got none; try bounds=[(0, 1)]")
        parameters = tuple(_as_parameter(name, spec) for name, spec in zip(names, specs, strict=True))
        return cls(tuple(names), parameters, named)

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
        return np.concatenate([np.full(p.n_columns, isinstance(p, Real)) for p in self.parameters])

    @property
    def is_continuous(self) -> bool:
        """Whether all parameters are real."""
        return all(isinstance(p, Real) for p in self.parameters)

    def _columns(self) -> Iterator[tuple[Parameter, slice]]:
        start = 0
        for p in self.parameters:
            yield p, slice(start, start + p.n_columns)
            start += p.n_columns

    def validate(self, x: Any) -> tuple[Value, ...]:
        """The values of a user's x in the order of the parameters; an error if it is not a point of the space."""
        if isinstance(x, Mapping):
            unknown, missing = set(x) - set(self.names), set(self.names) - set(x)
            if unknown or missing:
                raise InvalidInputError(
                    f"expected values for {', '.join(self.names)}; got {dict(x)!r}; "
                    + (f"try without {sorted(map(str, unknown))}" if unknown else f"try adding {sorted(missing)}")
                )
            values = [x[name] for name in self.names]
        else:
            if isinstance(x, (str, bytes)) or (not isinstance(x, (Sequence, np.ndarray)) and self.d > 1):
                raise InvalidInputError(
                    f"expected a point with {self.d} values ({', '.join(self.names)}); got {x!r}; try a list"
                )
            values = list(x) if isinstance(x, (Sequence, np.ndarray)) else [x]
            if len(values) != self.d:
                raise InvalidInputError(
                    f"expected a point with {self.d} values ({', '.join(self.names)}); got {len(values)}: {x!r}; "
                    "try one point per call, in the order of the bounds"
                )
        out: list[Value] = []
        for name, p, raw in zip(self.names, self.parameters, values, strict=True):
            value = (
                raw.item() if isinstance(raw, np.generic) or (isinstance(raw, np.ndarray) and raw.ndim == 0) else raw
            )
            if isinstance(p, Categorical) and isinstance(value, list):
                value = tuple(value)  # what a tuple becomes in a JSON file
            if not p.accepts(value):
                raise InvalidInputError(
                    f"expected {p.describe()} for parameter {name!r}; got {value!r}; "
                    "try a point inside the bounds, or widen them"
                )
            out.append(int(value) if isinstance(p, Integer) else float(value) if isinstance(p, Real) else value)
        return tuple(out)

    def encode(self, values: Sequence[Value]) -> np.ndarray:
        """Units (D,) of a validated point."""
        return np.asarray([u for p, v in zip(self.parameters, values, strict=True) for u in p.encode(v)])

    def decode(self, unit: np.ndarray) -> tuple[Value, ...]:
        """The point at these units (D,)."""
        return tuple(p.decode(unit[columns]) for p, columns in self._columns())

    def snap(self, units: np.ndarray) -> np.ndarray:
        """The nearest valid units, (..., D)."""
        if self.is_continuous:
            return np.asarray(np.clip(units, 0.0, 1.0))
        return np.concatenate([p.snap(units[..., columns]) for p, columns in self._columns()], axis=-1)

    def from_uniform(self, uniforms: np.ndarray) -> np.ndarray:
        """Valid units (n, D) for a design (n, d) in [0, 1)."""
        return np.concatenate([p.from_uniform(uniforms[:, i]) for i, p in enumerate(self.parameters)], axis=1)

    def neighbours(self, unit: np.ndarray) -> np.ndarray:
        """Units (k, D) of the points that differ in one integer or categorical parameter by one step."""
        values = self.decode(unit)
        found = []
        for (p, columns), value in zip(self._columns(), values, strict=True):
            for other in p.neighbours(value):
                moved = unit.copy()
                moved[columns] = p.encode(other)
                found.append(moved)
        return np.asarray(found).reshape(-1, self.n_inputs)

    def all_points(self) -> Iterator[tuple[Value, ...]]:
        """Every point of a finite space."""
        return itertools.product(
            *(p.choices if isinstance(p, Categorical) else range(int(p.low), int(p.high) + 1) for p in self.parameters)
        )

    def to_user(self, values: Sequence[Value]) -> Any:
        """A point as the user's function gets it: dict, array of floats, or list when types are mixed."""
        if self.named:
            return dict(zip(self.names, values, strict=True))
        if self.is_continuous:
            return np.asarray(values, dtype=float)
        return list(values)
