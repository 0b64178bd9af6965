"""Maxima of a smooth function inside a region: a box, half-spaces and smooth limits, by SLSQP from several starts.

Region    lower <= x <= upper,  A x <= b,  c(x) >= 0. Limits are kept as limits: there is no penalty, and a maximum on
          a border is found to rounding.
Scale     From each start x0 SLSQP works on z = (x - x0)/step, with every limit divided by the length of its gradient
          at x0: function and limits then vary by about 1 however small the step, down to 1e-7 of the box.
Inside    SLSQP ends within `accuracy` (of the function, and of the limits in units of z); it is asked to meet the
          limits with 100 times that to spare. Of all the points that it looked at, the best one inside the region is
          the answer: where SLSQP fails the start is left.
Shapes    x (d,), starts (q, d); c (p,) with Jacobian (p, d); A (k, d).
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import Bounds, minimize

Function = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""x (d,) -> the value and its gradient (d,)."""
Limits = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""x (d,) -> c (p,), each at least 0 inside, and its Jacobian (p, d)."""

ACCURACY = 1e-10
_ROUNDING = 1e-12  # of b: half-spaces that are missed by less are met


@dataclass(frozen=True)
class Region:
    """Where x may be."""

    lower: np.ndarray  # (d,)
    upper: np.ndarray  # (d,)
    A: np.ndarray | None = None  # (k, d)
    b: np.ndarray | None = None  # (k,)
    smooth: Limits | None = None

    def limits(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All limits but the box, (k + p,) with their Jacobian: the half-spaces, then the smooth ones."""
        values, slopes = [np.zeros(0)], [np.zeros((0, len(x)))]
        if self.A is not None and self.b is not None:
            values.append(self.b - self.A @ x)
            slopes.append(-self.A)
        if self.smooth is not None:
            c, J = self.smooth(x)
            values.append(np.atleast_1d(c))
            slopes.append(np.atleast_2d(J))
        return np.concatenate(values), np.concatenate(slopes)

    def holds(self, x: np.ndarray, values: np.ndarray) -> bool:
        """Whether x, with these values of the limits, is inside."""
        slack = np.zeros_like(values)
        if self.b is not None:
            slack[: len(self.b)] = _ROUNDING * (1.0 + np.abs(self.b))
        in_box = bool(np.all(x >= self.lower) and np.all(x <= self.upper))
        return in_box and bool(np.all(values >= -slack))  # False for NaN


@dataclass(frozen=True)
class Maxima:
    """Where the search from each start ended."""

    x: np.ndarray  # (q, d)
    value: np.ndarray  # (q,) -inf where no point inside the region was met: x is then the start
    n_calls: int


@dataclass
class _Look:
    """Function and limits at the points that SLSQP asks for, each computed once, and the best one inside."""

    function: Function
    region: Region
    n_calls: int = 0
    best_x: np.ndarray | None = None
    best: float = -np.inf
    _last: dict[bytes, tuple[float, np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=dict)

    def at(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Value, gradient, limits, Jacobian at x, brought into the box."""
        x = np.clip(x, self.region.lower, self.region.upper)
        key = x.tobytes()
        if key not in self._last:
            value, gradient = self.function(x)
            limits, J = self.region.limits(x)
            self.n_calls += 1
            if value > self.best and self.region.holds(x, limits):
                self.best_x, self.best = x, float(value)
            self._last = {key: (float(value), gradient, limits, J)}
        return self._last[key]


class _StoppedError(Exception):
    """The function or a limit is not finite where SLSQP went: it cannot go on from there."""


def maximize_within(
    function: Function,
    starts: np.ndarray,
    region: Region,
    steps: np.ndarray,
    max_iter: int = 50,
    accuracy: float = ACCURACY,
) -> Maxima:
    """The best point inside the region that SLSQP comes to from each start (q, d).

    steps (q,): the length on which the function varies round each start. A start may lie outside the region.
    """
    found_x, found, n_calls = np.array(starts, dtype=float), np.full(len(starts), -np.inf), 0
    for i, (start, step) in enumerate(zip(found_x, steps, strict=True)):
        look = _Look(function, region)
        start = np.clip(start, region.lower, region.upper)
        with contextlib.suppress(_StoppedError, ValueError):  # ValueError: SLSQP's, of a point outside its bounds
            _slsqp(look, start, float(step), max_iter, accuracy)
        n_calls += look.n_calls
        if look.best_x is not None:
            found_x[i], found[i] = look.best_x, look.best
    return Maxima(found_x, found, n_calls)


def _slsqp(look: _Look, x0: np.ndarray, step: float, max_iter: int, accuracy: float) -> None:
    """Climb from x0; what is found is in `look`."""
    _, _, limits, J = look.at(x0)
    lengths = step * np.linalg.norm(J, axis=1)
    lengths = np.where((lengths > 0.0) & np.isfinite(lengths), lengths, 1.0)

    def finite(z: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        value, gradient, limits, J = look.at(x0 + step * z)
        if not (np.isfinite(value) and all(np.isfinite(a).all() for a in (gradient, limits, J))):
            raise _StoppedError
        return -value, -step * gradient, limits / lengths - 100.0 * accuracy, J * (step / lengths[:, None])

    constraints: Any = {"type": "ineq", "fun": lambda z: finite(z)[2], "jac": lambda z: finite(z)[3]}
    options: Any = {"maxiter": max_iter, "ftol": accuracy}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # SciPy < 1.16: it clips a step that rounding put out of bounds
        minimize(
            lambda z: finite(z)[0],
            np.zeros_like(x0),
            jac=lambda z: finite(z)[1],
            method="SLSQP",
            bounds=Bounds((look.region.lower - x0) / step, (look.region.upper - x0) / step),
            constraints=constraints if len(limits) else (),
            options=options,
        )
