"""Known constraints on the parameters: what users write, and what it says of a point.

Written   Text ("d_inner + 0.001 <= d_outer", see surefoot.formulas), or a function of the point as a dict that returns
          True or a number >= 0 where the point is allowed.
Margin    Of each comparison in a chain: >= 0 where it holds (> 0 if strict), by how much. A function that says yes or
          no has the margins 0 and -1. What has no value (NaN) does not hold.
Equality  Holds to 1e-9 of its terms: 0.1 + 0.2 + 0.7 is not 1 for a computer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import InvalidInputError, described, shown
from surefoot.formulas import Comparison, parse_comparison
from surefoot.optimize.checks import is_a, plain_number
from surefoot.optimize.given import listed
from surefoot.optimize.parameters import Categorical, Parameter

EQUAL_TO = 1e-9  # of the terms of an equality
_MOST = 1000  # constraints

Given = str | Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Constraint:
    """One of them."""

    text: str  # as it was written; of a function its name
    name: str = ""  # if the user gave it one
    comparison: Comparison | None = None
    function: Callable[[dict[str, Any]], Any] | None = None  # neither: a function that a file cannot hold

    def __str__(self) -> str:
        return f"{self.name}: {self.text}" if self.name else self.text

    def margins_at(self, point: Mapping[str, Any]) -> list[float]:
        """The margin of each comparison at one point, as Python computes it; of an equality 0 or less."""
        if self.comparison is None:
            return [self._called(dict(point))]
        return [
            _at_most_zero(link.margin.at(point), point, link.margin.names) if link.kind == "equal"
            else _strictly(link.margin.at(point), link.kind)
            for link in self.comparison.links
        ]  # fmt: skip

    def holds(self, point: Mapping[str, Any]) -> bool:
        """Whether a point is allowed."""
        return all(margin >= 0.0 for margin in self.margins_at(point))

    def margins(self, points: Mapping[str, np.ndarray]) -> np.ndarray:
        """The margins (m, k) of m points, without those of equalities; -inf where there is none."""
        if self.comparison is None:
            names, columns = list(points), list(points.values())
            rows = zip(*columns, strict=True)
            return np.asarray([[self._called(dict(zip(names, row, strict=True)))] for row in rows]).reshape(-1, 1)
        links = [link for link in self.comparison.links if link.kind != "equal"]
        found = [_strictly_all(link.margin.values(points), link.kind) for link in links]
        return np.stack(found, axis=1) if found else np.empty((len(next(iter(points.values()))), 0))

    def _called(self, point: dict[str, Any]) -> float:
        if self.function is None:
            raise InvalidInputError(
                f"expected the function {self.text} of a constraint, which no file can hold; got none; "
                "try giving the same constraints again: constraints=[...]"
            )
        plain = {name: _python(value) for name, value in point.items()}
        try:
            said = self.function(dict(plain))
        except Exception as error:
            raise InvalidInputError(
                f"expected the constraint {self.text} to return True, False or a number; got {described(error)} at "
                f"{shown(plain)}; try returning False where a point is not allowed"
            ) from error
        if is_a(said, bool, np.bool_):
            return 0.0 if said else -1.0
        number = plain_number(said)
        if number is None:
            raise InvalidInputError(
                f"expected the constraint {self.text} to return True, False or a number (>= 0: allowed); got "
                f"{shown(said)} at {shown(point)}; try `return a <= b`"
            )
        return -math.inf if number != number else float(number)


def _name_of(function: Any) -> str:
    try:
        return str(getattr(function, "__name__", type(function).__name__))
    except Exception:  # an object that does not like to be looked at
        return type(function).__name__


def _python(value: Any) -> Any:
    """A value as the user's function gets it elsewhere."""
    return value.item() if is_a(value, np.generic) else value


def _strictly(margin: float, kind: str) -> float:
    """A margin that is negative wherever the comparison does not hold."""
    return -math.inf if margin != margin else -math.ulp(0.0) if kind == "strict" and margin == 0.0 else margin


def _strictly_all(margins: np.ndarray, kind: str) -> np.ndarray:
    margins = np.where(np.isnan(margins), -np.inf, margins)
    return np.where(margins == 0.0, -math.ulp(0.0), margins) if kind == "strict" else margins


def _at_most_zero(residual: float, point: Mapping[str, Any], names: Sequence[str]) -> float:
    """0 if an equality holds to rounding, less if not."""
    terms = max((abs(float(point[name])) for name in names), default=1.0)
    return (
        0.0 if abs(residual) <= EQUAL_TO * max(terms, 1e-300) else -abs(residual) if residual == residual else -math.inf
    )


def constraints_of(given: Any, names: Sequence[str], parameters: Sequence[Parameter]) -> tuple[Constraint, ...]:
    """The constraints that a user gave: one, a list, or a dict of them by name."""
    if given is None:
        return ()
    pairs = _pairs(given)
    if pairs is None:
        raise InvalidInputError(
            f"expected constraints as a list of texts and functions; got {shown(given)}; try ['a + b <= 1']"
        )
    if len(pairs) > _MOST:
        raise InvalidInputError(f"expected at most {_MOST} constraints; got {len(pairs)}; try a function for many")
    return tuple(_constraint(name, one, names, parameters) for name, one in pairs)


def _pairs(given: Any) -> list[tuple[str, Any]] | None:
    """Names, which may be empty, and constraints; None if it is nothing of the kind."""
    try:
        if is_a(given, Mapping):
            return [(str(name), one) for name, one in given.items()]
    except Exception:  # an object that does not like to be looked at
        return None
    if is_a(given, str, Constraint) or callable(given):
        return [("", given)]
    several = listed(given)
    return None if several is None else [("", one) for one in several]


def _constraint(name: str, given: Any, names: Sequence[str], parameters: Sequence[Parameter]) -> Constraint:
    if is_a(given, Constraint):
        one: Constraint = given
        return one
    if callable(given):
        return Constraint(_name_of(given), name, function=given)
    if not is_a(given, str):
        raise InvalidInputError(f"expected the constraint as text or function; got {shown(given)}; try 'a + b <= 1'")
    comparison = parse_comparison(given, names)
    if not comparison.names:
        raise InvalidInputError(
            f"expected a constraint on parameters, of {', '.join(names)}; got {shown(given)}, which names none; "
            f"try {names[0]} <= 1"
        )
    kinds = dict(zip(names, parameters, strict=True))
    for named in comparison.names:
        p = kinds[named]
        if isinstance(p, Categorical) and not all(plain_number(choice) is not None for choice in p.choices):
            raise InvalidInputError(
                f"expected numbers in the constraint {shown(given)}; got {named!r}, {p.describe()}; "
                f"try a function: lambda x: x[{named!r}] == …"
            )
    return Constraint(comparison.text, name, comparison)
