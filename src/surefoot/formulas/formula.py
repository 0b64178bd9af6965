"""A parsed expression: its value and gradient at many points at once, its value at one, and whether it is affine.

Program   The tree in postfix order, run on a stack: no depth of nesting can exhaust Python's own stack.
Gradient  Forward mode: beside every value of the stack stand its partial derivatives in the names.
Invalid   What has no value (the root of -1, 1/0, an overflow) is NaN or an infinity, and never an exception.
Shapes    values (n,), gradients (n, k) for k names.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

CONSTANTS = {"pi": math.pi, "e": math.e}
NUMBER, NAME, CALL = "number", "name", "call"  # instructions; CALL has (function, number of arguments)
Instruction = tuple[str, Any]

# name: (for arrays, for one number, derivative given argument and value)
_ONE: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]] = {
    "neg": (np.negative, operator.neg, lambda a, v: -np.ones_like(v)),
    "sqrt": (np.sqrt, math.sqrt, lambda a, v: 0.5 / v),
    "exp": (np.exp, math.exp, lambda a, v: v),
    "log": (np.log, math.log, lambda a, v: 1.0 / a),
    "log10": (np.log10, math.log10, lambda a, v: 1.0 / (a * math.log(10.0))),
    "log2": (np.log2, math.log2, lambda a, v: 1.0 / (a * math.log(2.0))),
    "abs": (np.abs, abs, lambda a, v: np.sign(a)),
    "sin": (np.sin, math.sin, lambda a, v: np.cos(a)),
    "cos": (np.cos, math.cos, lambda a, v: -np.sin(a)),
    "tan": (np.tan, math.tan, lambda a, v: 1.0 + v * v),
    "asin": (np.arcsin, math.asin, lambda a, v: 1.0 / np.sqrt(1.0 - a * a)),
    "acos": (np.arccos, math.acos, lambda a, v: -1.0 / np.sqrt(1.0 - a * a)),
    "atan": (np.arctan, math.atan, lambda a, v: 1.0 / (1.0 + a * a)),
    "sinh": (np.sinh, math.sinh, lambda a, v: np.cosh(a)),
    "cosh": (np.cosh, math.cosh, lambda a, v: np.sinh(a)),
    "tanh": (np.tanh, math.tanh, lambda a, v: 1.0 - v * v),
}
# name: (for arrays, for two numbers, both derivatives given arguments and value)
_TWO: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]] = {
    "+": (np.add, operator.add, lambda a, b, v: (np.ones_like(v), np.ones_like(v))),
    "-": (np.subtract, operator.sub, lambda a, b, v: (np.ones_like(v), -np.ones_like(v))),
    "*": (np.multiply, operator.mul, lambda a, b, v: (b, a)),
    "/": (np.divide, operator.truediv, lambda a, b, v: (1.0 / b, -v / b)),
    "**": (np.power, math.pow, lambda a, b, v: (b * np.power(a, b - 1.0), v * np.log(a))),
    "min": (np.minimum, min, lambda a, b, v: (1.0 * (a <= b), 1.0 * (a > b))),
    "max": (np.maximum, max, lambda a, b, v: (1.0 * (a >= b), 1.0 * (a < b))),
    "hypot": (np.hypot, math.hypot, lambda a, b, v: (a / v, b / v)),
    "atan2": (np.arctan2, math.atan2, lambda a, b, v: (b / (a * a + b * b), -a / (a * a + b * b))),
}
# as they are called, and with how many arguments
FUNCTIONS = {
    **{name: (1, 1) for name in _ONE if name != "neg"},
    "min": (2, 20),
    "max": (2, 20),
    "hypot": (2, 2),
    "atan2": (2, 2),
}


@dataclass(frozen=True)
class Affine:
    """constant + sum of slopes times names."""

    slopes: Mapping[str, float]
    constant: float


@dataclass(frozen=True)
class Formula:
    """An expression over names."""

    program: tuple[Instruction, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names in it, in the order in which they come."""
        return tuple(dict.fromkeys(arg for kind, arg in self.program if kind == NAME))

    def minus(self, other: Formula) -> Formula:
        """The difference of two: by IEEE's rules it has the sign that comparing them has."""
        return Formula((*self.program, *other.program, (CALL, ("-", 2))))

    def at(self, point: Mapping[str, float]) -> float:
        """The value at one point, by Python's own arithmetic; NaN where there is none."""
        stack: list[float] = []
        try:
            for kind, arg in self.program:
                if kind == CALL:
                    name, n = arg
                    stack[-n:] = [(_ONE[name] if n == 1 else _TWO[name])[1](*stack[-n:])]
                else:
                    stack.append(arg if kind == NUMBER else float(point[arg]))
        except (ValueError, ArithmeticError):
            return math.nan
        return stack[0]

    def values(self, points: Mapping[str, np.ndarray]) -> np.ndarray:
        """The values (n,) at n points."""
        stack: list[Any] = []
        with np.errstate(all="ignore"):
            for kind, arg in self.program:
                if kind == CALL:
                    name, n = arg
                    stack[-n:] = [(_ONE[name] if n == 1 else _TWO[name])[0](*stack[-n:])]
                else:
                    stack.append(np.float64(arg) if kind == NUMBER else np.asarray(points[arg], float))
        return np.broadcast_to(stack[0], np.shape(next(iter(points.values()))))

    def values_and_gradients(
        self, points: Mapping[str, np.ndarray], wrt: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The values (n,) at n points, and the partial derivatives (n, k) in the names of `wrt`."""
        n_points = len(next(iter(points.values())))
        unit = {name: np.eye(len(wrt))[i] for i, name in enumerate(wrt)}
        none = np.zeros(len(wrt))
        stack: list[tuple[np.ndarray, np.ndarray]] = []
        with np.errstate(all="ignore"):
            for kind, arg in self.program:
                if kind == CALL:
                    name, n = arg
                    stack[-n:] = [_applied(name, stack[-n:])]
                elif kind == NUMBER:
                    stack.append((np.full(n_points, arg), np.broadcast_to(none, (n_points, len(wrt)))))
                else:
                    slope = unit.get(arg, none)
                    stack.append((np.asarray(points[arg], float), np.broadcast_to(slope, (n_points, len(wrt)))))
        return stack[0]

    def affine(self, known: Mapping[str, float] | None = None) -> Affine | None:
        """The expression as an affine one, with the values of some names given; None if it is not affine."""
        known = {} if known is None else known
        stack: list[Affine | None] = []
        for kind, arg in self.program:
            if kind == CALL:
                name, n = arg
                stack[-n:] = [_combined(name, stack[-n:])]
            elif kind == NUMBER or arg in known:
                stack.append(Affine({}, float(arg if kind == NUMBER else known[arg])))
            else:
                stack.append(Affine({arg: 1.0}, 0.0))
        return stack[0]


def _applied(name: str, args: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """A function's value and gradient from those of its arguments."""
    if len(args) == 1:
        (a, da), (evaluate, _, slope) = args[0], _ONE[name]
        value = evaluate(a)
        return value, _times(slope(a, value), da)
    (a, da), (b, db) = args
    evaluate, _, slopes = _TWO[name]
    value = evaluate(a, b)
    in_a, in_b = slopes(a, b, value)
    return value, _times(in_a, da) + _times(in_b, db)


def _times(slope: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """slope times gradient, where 0 times anything (log of a negative base of a constant power, say) is 0."""
    return np.where(gradient == 0.0, 0.0, slope[:, None] * gradient)


def _combined(name: str, args: list[Affine | None]) -> Affine | None:
    """A function of affine arguments, if it is affine too."""
    if any(arg is None for arg in args):
        return None
    found = [arg for arg in args if arg is not None]
    if all(not arg.slopes for arg in found):
        numbers = [(NUMBER, arg.constant) for arg in found]
        return Affine({}, Formula((*numbers, (CALL, (name, len(found))))).at({}))
    first, last = found[0], found[-1]
    if name == "neg":
        return _scaled(first, -1.0)
    if name in ("+", "-"):
        sign = 1.0 if name == "+" else -1.0
        slopes = {k: first.slopes.get(k, 0.0) + sign * last.slopes.get(k, 0.0) for k in {**first.slopes, **last.slopes}}
        return Affine({k: v for k, v in slopes.items() if v != 0.0}, first.constant + sign * last.constant)
    if name == "*" and not (first.slopes and last.slopes):
        return _scaled(last, first.constant) if last.slopes else _scaled(first, last.constant)
    if name == "/" and not last.slopes and last.constant != 0.0:
        return _scaled(first, 1.0 / last.constant)
    return first if name == "**" and not last.slopes and last.constant == 1.0 else None


def _scaled(affine: Affine, factor: float) -> Affine:
    slopes = {name: factor * slope for name, slope in affine.slopes.items()} if factor != 0.0 else {}
    return Affine(slopes, factor * affine.constant)
