"""Kinds of parameters: real, integer, categorical, each with its image in the unit cube.

Columns   A real or integer parameter is one input of the engine, scaled to [0, 1] (of its logarithm if `log`); a
          categorical one is one 0/1 input per choice, so that all choices are equally far apart. Above MAX_ONE_HOT
          choices each has a code of so many bits instead, all nearly equally far apart (see `codes`).
Fixed     A parameter with one value only (low = high, one choice) is a constant input.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError, shown
from surefoot.optimize.checks import as_truth, is_a, plain_number
from surefoot.optimize.codes import MAX_ONE_HOT, codes

_MOST_CHOICES = 100_000

Value = Any  # float, int or one of the choices of a categorical parameter


def _check_number(name: str, what: str, value: Any) -> float:
    number = plain_number(value)
    if number is None:
        raise InvalidInputError(
            f"expected a number for the {what} of parameter {name!r}; got {shown(value)}; try for instance (0.0, 1.0)"
        )
    try:
        finite = math.isfinite(number)
    except OverflowError:  # an integer beyond the largest float
        finite = False
    if not finite:
        raise InvalidInputError(
            f"expected a finite {what} for parameter {name!r}; got {shown(value)}; try a finite value, "
            "and log=True if the range spans orders of magnitude"
        )
    return float(number)


def _origin(low: float, high: float, log: bool) -> float:
    """Where 0 of the (logarithmic) scale lies if low is at 0 and high at 1; 0 for a range that is no range."""
    low, high = (math.log(low), math.log(high)) if log else (float(low), float(high))
    return -low / (high - low) if high > low else 0.0


@dataclass(frozen=True)
class Real:
    """A real parameter in [low, high], on a logarithmic scale if `log`."""

    low: float
    high: float
    log: bool = False

    n_columns = 1

    @property
    def n_values(self) -> float:
        """How many values there are."""
        return math.inf if self.low < self.high else 1

    @property
    def origin(self) -> tuple[float, ...]:
        """Where its own zero lies, of each column."""
        return (_origin(self.low, self.high, self.log),)

    def check(self, name: str) -> None:
        """Raise if the bounds make no sense."""
        low, high = (
            _check_number(name, "lower bound", self.low),
            _check_number(name, "upper bound", self.high),
        )
        as_truth(f"log of parameter {name!r}", self.log)
        if low > high:
            raise InvalidInputError(
                f"expected low < high for parameter {name!r} (low = high: fixed); got ({low}, {high}); "
                f"try ({high}, {low})"
            )
        if self.log and low <= 0.0:
            raise InvalidInputError(
                f"expected a positive lower bound for the log parameter {name!r}; got {low}; "
                "try a small positive bound, or log=False"
            )
        object.__setattr__(self, "low", plain_number(self.low))  # NumPy's numbers were accepted too
        object.__setattr__(self, "high", plain_number(self.high))

    def encode(self, value: Value) -> tuple[float, ...]:
        """Columns of a value."""
        if self.low == self.high:
            return (0.0,)
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
        if u in (0.0, 1.0):  # a logarithm would give a bound in its last bit
            return float(self.high if u else self.low)
        if self.log:
            value = math.exp(math.log(self.low) * (1.0 - u) + math.log(self.high) * u)
        else:
            value = self.low * (1.0 - u) + self.high * u
        return min(float(self.high), max(float(self.low), value))

    def decode_all(self, columns: np.ndarray) -> np.ndarray:
        """The values (m,) at columns (m, 1); a logarithmic one may differ from `decode` in its last bit."""
        u = columns[:, 0]
        if self.log:
            value = np.exp(math.log(self.low) * (1.0 - u) + math.log(self.high) * u)
        else:
            value = self.low * (1.0 - u) + self.high * u
        return np.asarray(np.clip(value, float(self.low), float(self.high)))

    def snap(self, columns: np.ndarray) -> np.ndarray:
        """The nearest valid columns."""
        return np.asarray(np.clip(columns, 0.0, 1.0 if self.low < self.high else 0.0))

    def from_uniform(self, u: np.ndarray) -> np.ndarray:
        """Columns (n, 1) for uniform numbers (n,)."""
        return u[:, None] if self.low < self.high else np.zeros((len(u), 1))

    def neighbours(self, value: Value) -> list[Value]:
        """Values one step away: none, a real parameter has no steps."""
        return []

    def accepts(self, value: Value) -> bool:
        """Whether the value lies in the range."""
        number = plain_number(value)
        return number is not None and self.low <= number <= self.high

    def canonical(self, value: Value) -> float:
        """An accepted value as it is stored."""
        return float(value)

    def values(self) -> list[Value]:
        """All values of a fixed parameter."""
        return [float(self.low)]

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

    @property
    def origin(self) -> tuple[float, ...]:
        """Where its own zero lies, of each column."""
        return (_origin(self.low, self.high, self.log),)

    def check(self, name: str) -> None:
        """Raise if the bounds make no sense."""
        low, high = (
            _check_number(name, "lower bound", self.low),
            _check_number(name, "upper bound", self.high),
        )
        as_truth(f"log of parameter {name!r}", self.log)
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

    def decode_all(self, columns: np.ndarray) -> np.ndarray:
        """The integers (m,), as floats, nearest to columns (m, 1)."""
        at = self._scale(self.low) + columns[:, 0] * (self._scale(self.high) - self._scale(self.low))
        return np.asarray(np.clip(np.round(np.exp(at) if self.log else at), self.low, self.high))

    def snap(self, columns: np.ndarray) -> np.ndarray:
        """The nearest valid columns."""
        flat = [self.encode(self.decode(row)) for row in columns.reshape(-1, 1)]
        return np.asarray(flat).reshape(columns.shape)

    def from_uniform(self, u: np.ndarray) -> np.ndarray:
        """Columns (n, 1) for uniform numbers (n,); without `log` every integer is equally likely."""
        if self.log:
            return self.snap(u[:, None])
        values = self.low + np.minimum(np.floor(u * self.n_values), self.n_values - 1)
        span = float(self.high) - float(self.low)
        units = (values - float(self.low)) / span if span > 0.0 else np.zeros_like(values)
        return np.asarray(units[:, None])

    def neighbours(self, value: Value) -> list[Value]:
        """The integers one step up and down."""
        return [v for v in (value - 1, value + 1) if self.low <= v <= self.high]

    def accepts(self, value: Value) -> bool:
        """Whether the value is an integer in the range."""
        number = plain_number(value)
        return number is not None and self.low <= number <= self.high and float(number).is_integer()

    def canonical(self, value: Value) -> int:
        """An accepted value as it is stored."""
        return int(value)

    def values(self) -> range:
        """All values."""
        return range(self.low, self.high + 1)

    def describe(self) -> str:
        """For messages."""
        return f"an integer in [{self.low}, {self.high}]"


@dataclass(frozen=True)
class Categorical:
    """A parameter that is one of several choices without an order."""

    choices: tuple[Value, ...]

    def __init__(self, choices: Iterable[Value]) -> None:
        try:
            found = tuple(itertools.islice(iter(choices), _MOST_CHOICES + 1))
        except Exception as error:
            raise InvalidInputError(
                f"expected a list of choices; got {shown(choices)} ({type(error).__name__}); "
                "try Categorical(['a', 'b'])"
            ) from None
        if len(found) > _MOST_CHOICES:
            raise InvalidInputError(
                f"expected at most {_MOST_CHOICES} choices; got more; try Integer(0, n) where they have an order"
            )
        object.__setattr__(self, "choices", tuple(_as_python(choice) for choice in found))

    @property
    def n_columns(self) -> int:
        """Inputs of the engine."""
        return min(len(self.choices), MAX_ONE_HOT)

    @property
    def n_values(self) -> int:
        """How many values there are."""
        return len(self.choices)

    def __reduce__(self) -> tuple[Any, ...]:  # without what is only cached: points are sent to workers with the space
        return (Categorical, (self.choices,))

    @property
    def _codes(self) -> np.ndarray:
        return codes(len(self.choices))  # (k, n_columns)

    @cached_property
    def _places(self) -> dict[Value, int]:
        """Where the choices stand that can be looked up."""
        return {choice: i for i, choice in enumerate(self.choices) if _is_plain(choice)}

    @property
    def origin(self) -> tuple[float, ...]:
        """Where its own zero lies, of each column: choices have none."""
        return (0.0,) * self.n_columns

    def check(self, name: str) -> None:
        """Raise unless there is something to choose, and the choices can be told apart."""
        others = [choice for choice in self.choices if not _is_plain(choice)]
        distinct = 0 < len(self.choices) == len(self._places) + len(others)
        for i, one in enumerate(others):
            equal = [_equal(one, other) for other in (one, *others[:i], *self._places)]
            if None in equal:
                raise InvalidInputError(
                    f"expected choices for parameter {name!r} that can be compared with ==; got {shown(one)}; "
                    "try names as choices, and look the objects up in your function"
                )
            distinct = distinct and not any(equal[1:])
        if not distinct:
            raise InvalidInputError(
                f"expected one or more distinct choices for parameter {name!r}; got {shown(list(self.choices))}; "
                "try Categorical(['a', 'b'])"
            )

    def index(self, value: Value) -> int | None:
        """Where the value stands among the choices; None if it is none of them."""
        if _is_plain(value):
            place = self._places.get(value)
            if place is not None or len(self._places) == len(self.choices):
                return place
        for i, choice in enumerate(self.choices):
            if choice is value or _equal(choice, value):
                return i
        return None

    def encode(self, value: Value) -> tuple[float, ...]:
        """Columns of a value."""
        place = self.index(value)
        return tuple(self._codes[place].tolist()) if place is not None else (0.0,) * self.n_columns

    def decode(self, columns: np.ndarray) -> Value:
        """The choice whose columns are nearest."""
        return self.choices[int(self._nearest(columns[None])[0])]

    def decode_all(self, columns: np.ndarray) -> np.ndarray:
        """The choices (m,) nearest to columns (m, c)."""
        table = np.empty(len(self.choices), dtype=object)
        table[:] = self.choices
        return np.asarray(table[self._nearest(columns)])

    def _nearest(self, columns: np.ndarray) -> np.ndarray:
        """The choice (...) nearest to each row of columns (..., c)."""
        if self.n_columns == self.n_values:
            return np.asarray(np.argmax(columns, axis=-1))
        return np.asarray(np.argmax(columns @ self._codes.T - 0.5 * np.sum(self._codes, axis=1), axis=-1))

    def snap(self, columns: np.ndarray) -> np.ndarray:
        """The nearest valid columns."""
        return np.asarray(self._codes[self._nearest(columns)])

    def from_uniform(self, u: np.ndarray) -> np.ndarray:
        """Columns (n, c) for uniform numbers (n,); every choice is equally likely."""
        k = len(self.choices)
        return np.asarray(self._codes[np.minimum(np.floor(u * k).astype(int), k - 1)])

    def neighbours(self, value: Value) -> list[Value]:
        """All other choices."""
        place = self.index(value)
        return [choice for i, choice in enumerate(self.choices) if i != place]

    def accepts(self, value: Value) -> bool:
        """Whether the value is one of the choices."""
        return self.index(value) is not None

    def canonical(self, value: Value) -> Value:
        """An accepted value as it is stored: the choice itself."""
        place = self.index(value)
        return value if place is None else self.choices[place]

    def values(self) -> tuple[Value, ...]:
        """All values."""
        return self.choices

    def describe(self) -> str:
        """For messages."""
        return f"one of {shown(list(self.choices))}"


def _as_python(choice: Value) -> Value:
    """NumPy's text and numbers as Python's, which files can hold; lists as tuples, as points have them."""
    if type(choice) in (list, tuple):
        with contextlib.suppress(RecursionError):  # a list that holds itself
            return tuple(_as_python(part) for part in choice)
    return choice.item() if is_a(choice, np.str_, np.bytes_, np.bool_, np.integer, np.floating) else choice


def _is_plain(value: Value) -> bool:
    """Whether a dict finds it: equal values have equal hashes, and comparing does not raise."""
    return value is None or type(value) in (str, int, bool, bytes) or (type(value) is float and value == value)


def _equal(one: Value, other: Value) -> bool | None:
    """Whether two values are equal; None if they cannot be compared. NaN is equal to NaN."""
    try:
        same = one == other
        if not is_a(same, bool, np.bool_):
            return None
        return bool(same) or bool(one != one and other != other)
    except Exception:
        return None


Parameter = Real | Integer | Categorical
