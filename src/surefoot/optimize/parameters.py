"""Kinds of parameters: real, integer, categorical, each with its image in the unit cube.

Columns   A real or integer parameter is one input of the engine, scaled to [0, 1] (of its logarithm if `log`); a
          categorical one is one 0/1 input per choice, so that all choices are equally far apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError

Value = Any  # float, int or one of the choices of a categorical parameter


def is_number(value: Any) -> bool:
    """Whether it is a real number, Python's or NumPy's, and no truth value."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _check_number(name: str, what: str, value: Any) -> float:
    if not is_number(value):
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
        return is_number(value) and self.low <= value <= self.high

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
        return is_number(value) and self.low <= value <= self.high and float(value).is_integer()

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
