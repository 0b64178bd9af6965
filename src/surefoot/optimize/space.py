"""The user's parameters and their image in the unit cube.

Columns   A real or integer parameter is one input of the engine, scaled to [0, 1] (of its logarithm if `log`); a
          categorical one is one 0/1 input per choice, so that all choices are equally far apart.
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

Value = Any  # float, int or one of the choices of a categorical parameter


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _check_number(name: str, what: str, value: Any) -> float:
    if not _is_number(value):
        raise InvalidInputError(
            f"expected a number for the {what} of parameter {name!r}; got {value!r}; try for instance (0.0, 1.0)"
        )
    try:
        finite = math.isfinite(value)
    except OverflowError:  # an integer beyond the largest float
        finite = False
    if not finite:
        raise InvalidInputError(
            f"expected a finite {what} for parameter {name!r}; got {value!r}; try a finite value, "
            "and log=True if the range spans orders of magnitude"
        )
    return float(value)


@dataclass(frozen=True)
class Real:
    """A real parameter in [low, high], on a logarithmic scale if `log`."""

    low: float
    high: float
    log: bool = False

    n_columns = 1
    n_values = math.inf

    def check(self, name: str) -> None:
        """Raise if the bounds make no sense."""
        low, high = (
            _check_number(name, "lower bound", self.low),
            _check_number(name, "upper bound", self.high),
        )
        if not low < high:
            hint = f"try ({high}, {low})" if low > high else "try fixing the parameter in your function instead"
            raise InvalidInputError(f"expected low < high for parameter {name!r}; got ({low}, {high}); {hint}")
        if self.log and low <= 0.0:
            raise InvalidInputError(
                f"expected a positive lower bound for the log parameter {name!r}; got {low}; "
                "try a small positive bound, or log=False"
            )

    def encode(self, value: Value) -> tuple[float, ...]:
        """Columns of a value."""
        if self.log:
            span = math.log(self.high) - math.log(self.low)
            unit = (math.log(value) - math.log(self.low)) / span
        else:
            # halves, so that the widest range does not overflow; the narrowest would vanish by halving
            half = 0.5 if self.high / 2 - self.low / 2 > 1e300 else 1.0
            unit = (value * half - self.low * half) / (self.high * half - self.low * half)
        return (min(1.0, max(0.0, unit)),)

    def decode(self, columns: np.ndarray) -> float:
        """The value at these columns."""
        u = float(columns[0])
        if self.log:
            value = math.exp(math.log(self.low) * (1.0 - u) + math.log(self.high) * u)
        else:
            value = self.low * (1.0 - u) + self.high * u
        return min(float(self.high), max(float(self.low), value))

    def snap(self, columns: np.ndarray) -> np.ndarray:
        """The nearest valid columns."""
        return np.asarray(np.clip(columns, 0.0, 1.0))

    def from_uniform(self, u: np.ndarray) -> np.ndarray:
        """Columns (n, 1) for uniform numbers (n,)."""
        return u[:, None]

    def neighbours(self, value: Value) -> list[Value]:
        """Values one step away: none, a real parameter has no steps."""
        return []

    def accepts(self, value: Value) -> bool:
        """Whether the value lies in the range."""
        return _is_number(value) and self.low <= value <= self.high

    def describe(self) -> str:
        """For messages."""
        return f"a number in [{self.low}, {self.high}]"


@dataclass(frozen=True)
class Integer:
    """An integer parameter in {low, ..., high}, on a logarithmic scale if `log`."""

    low: int
    high: int
    log: bool = False

    n_columns = 1

    @property
    def n_values(self) -> int:
        """How many values there are."""
        return self.high - self.low + 1

    def check(self, name: str) -> None:
        """Raise if the bounds make no sense."""
        low, high = (
            _check_number(name, "lower bound", self.low),
            _check_number(name, "upper bound", self.high),
        )
        if low != round(low) or high != round(high):
            raise InvalidInputError(
                f"expected integer bounds for parameter {name!r}; got ({self.low}, {self.high}); try Real(...)"
            )
        if low > high:
            raise InvalidInputError(
                f"expected low <= high for parameter {name!r}; got ({self.low}, {self.high}); try ({high}, {low})"
            )
        if self.log and low <= 0:
            raise InvalidInputError(
                f"expected a positive lower bound for the log parameter {name!r}; got {self.low}; try 1 or log=False"
            )
        object.__setattr__(self, "low", int(self.low))  # 5.0 was accepted too
        object.__setattr__(self, "high", int(self.high))

    def _scale(self, value: float) -> float:
        return math.log(value) if self.log else float(value)

    def encode(self, value: Value) -> tuple[float, ...]:
        """Columns of a value."""
        span = self._scale(self.high) - self._scale(self.low)
        return ((self._scale(value) - self._scale(self.low)) / span if span > 0.0 else 0.0,)

    def decode(self, columns: np.ndarray) -> int:
        """The integer nearest to these columns."""
        at = self._scale(self.low) + float(columns[0]) * (self._scale(self.high) - self._scale(self.low))
        return min(self.high, max(self.low, round(math.exp(at) if self.log else at)))

    def snap(self, columns: np.ndarray) -> np.ndarray:
        """The nearest valid columns."""
        flat = [self.encode(self.decode(row)) for row in columns.reshape(-1, 1)]
        return np.asarray(flat).reshape(columns.shape)

    def from_uniform(self, u: np.ndarray) -> np.ndarray:
        """Columns (n, 1) for uniform numbers (n,); without `log` every integer is equally likely."""
        if self.log:
            return self.snap(u[:, None])
        values = self.low + np.minimum(np.floor(u * self.n_values), self.n_values - 1)
        return np.asarray([self.encode(v) for v in values])

    def neighbours(self, value: Value) -> list[Value]:
        """The integers one step up and down."""
        return [v for v in (value - 1, value + 1) if self.low <= v <= self.high]

    def accepts(self, value: Value) -> bool:
        """Whether the value is an integer in the range."""
        return _is_number(value) and self.low <= value <= self.high and float(value).is_integer()

    def describe(self) -> str:
        """For messages."""
        return f"an integer in [{self.low}, {self.high}]"


@dataclass(frozen=True)
class Categorical:
    """A parameter that is one of several choices without an order."""

    choices: tuple[Value, ...]

    def __init__(self, choices: Sequence[Value]) -> None:
        object.__setattr__(self, "choices", tuple(choices))

    @property
    def n_columns(self) -> int:
        """One 0/1 input per choice."""
        return len(self.choices)

    @property
    def n_values(self) -> int:
        """How many values there are."""
        return len(self.choices)

    def check(self, name: str) -> None:
        """Raise if there is nothing to choose."""
        if len(self.choices) == 0 or any(self.choices.count(c) > 1 for c in self.choices):
            raise InvalidInputError(
                f"expected one or more distinct choices for parameter {name!r}; got {list(self.choices)!r}; "
                "try Categorical(['a', 'b'])"
            )

    def encode(self, value: Value) -> tuple[float, ...]:
        """Columns of a value."""
        return tuple(float(choice == value) for choice in self.choices)

    def decode(self, columns: np.ndarray) -> Value:
        """The choice whose column is largest."""
        return self.choices[int(np.argmax(columns))]

    def snap(self, columns: np.ndarray) -> np.ndarray:
        """The nearest valid columns."""
        best = np.argmax(columns, axis=-1)
        return np.asarray(np.eye(len(self.choices))[best])

    def from_uniform(self, u: np.ndarray) -> np.ndarray:
        """Columns (n, k) for uniform numbers (n,); every choice is equally likely."""
        k = len(self.choices)
        return np.asarray(np.eye(k)[np.minimum(np.floor(u * k).astype(int), k - 1)])

    def neighbours(self, value: Value) -> list[Value]:
        """All other choices."""
        return [choice for choice in self.choices if choice != value]

    def accepts(self, value: Value) -> bool:
        """Whether the value is one of the choices."""
        return not isinstance(value, np.ndarray) and value in self.choices

    def describe(self) -> str:
        """For messages."""
        return f"one of {list(self.choices)!r}"


Parameter = Real | Integer | Categorical


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
