"""What a test problem is: a function on a box together with the facts that are known about it.

Notation: d inputs; x of shape (..., d) gives f of shape (...); f_star is the least value on the box.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.errors import InvalidInputError, shown

Array = NDArray[np.float64]


class Counts(TypedDict, total=False):
    """Of minima on the box, where they are known."""

    n_local_minima: int | None
    n_global_minima: int | None


@dataclass(frozen=True)
class Problem:
    """A function to minimize on a box, and what is known of its minima (None or () where nothing is).

    `function` is vectorised: it takes x of shape (..., d) and returns f of shape (...). `n_local_minima` and
    `n_global_minima` are counts on the box, `minimizers` all the points that take the least value `f_star`.
    """

    name: str
    abbreviation: str
    function: Callable[[Array], Array] = field(repr=False)
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    n_local_minima: int | None = None
    n_global_minima: int | None = None
    minimizers: tuple[tuple[float, ...], ...] = field(default=(), repr=False)
    f_star: float | None = None

    def __post_init__(self) -> None:
        # Lists are accepted and stored as tuples of floats, so that a record can be hashed and not changed.
        object.__setattr__(self, "lower", tuple(float(v) for v in self.lower))
        object.__setattr__(self, "upper", tuple(float(v) for v in self.upper))
        object.__setattr__(self, "minimizers", tuple(tuple(float(v) for v in x) for x in self.minimizers))
        if not self.lower or len(self.lower) != len(self.upper):
            raise InvalidInputError(
                f"{self.name}: expected as many lower as upper bounds and at least one; "
                f"came {len(self.lower)} and {len(self.upper)}; try one pair for each input"
            )
        for i, (low, high) in enumerate(self.bounds):
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise InvalidInputError(
                    f"{self.name}: expected finite bounds with low < high; input {i} came as "
                    f"({low}, {high}); try the smaller number first"
                )
        for x in self.minimizers:
            inside = len(x) == self.d and all(a <= v <= b for v, (a, b) in zip(x, self.bounds, strict=True))
            if not inside:
                raise InvalidInputError(
                    f"{self.name}: expected minimizers with {self.d} coordinates inside the bounds; "
                    f"came {x}; try wider bounds, or leave that minimizer out"
                )

    @classmethod
    def from_callable(
        cls,
        function: Callable[[Array], Array],
        bounds: Sequence[tuple[float, float]],
        *,
        name: str | None = None,
        abbreviation: str | None = None,
        minimizers: Sequence[Sequence[float]] = (),
        f_star: float | None = None,
        **counts: Unpack[Counts],
    ) -> Self:
        """Make a problem of any vectorised callable; `bounds` are (low, high) pairs, one for each input."""
        name = name or getattr(function, "__name__", None) or type(function).__name__
        pairs = [tuple(pair) for pair in bounds]
        if any(len(pair) != 2 for pair in pairs):
            raise InvalidInputError(
                f"{name}: expected bounds as (low, high) pairs; came {list(bounds)!r}; try [(0.0, 1.0), ...]"
            )
        return cls(
            name=name,
            abbreviation=abbreviation or name,
            function=function,
            lower=tuple(pair[0] for pair in pairs),
            upper=tuple(pair[1] for pair in pairs),
            minimizers=tuple(tuple(x) for x in minimizers),
            f_star=f_star,
            **counts,
        )

    @property
    def d(self) -> int:
        """Number of inputs."""
        return len(self.lower)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """(low, high) of each input."""
        return list(zip(self.lower, self.upper, strict=True))

    def __call__(self, x: ArrayLike) -> float | Array:
        """Values at x of shape (..., d), a list or an array; one point of shape (d,) gives a float.

        The bounds are not enforced: the formulas are defined outside the box too.
        """
        try:
            points = np.asarray(x, dtype=np.float64)  # (..., d)
        except Exception as error:  # TypeError, ValueError, or what an object does when it is looked at
            raise InvalidInputError(
                f"{self.name}: expected numbers of shape (..., {self.d}); came {shown(x, 80)}; try a list of floats"
            ) from error
        if points.ndim == 0 or points.shape[-1] != self.d:
            hint = "x[..., None]" if self.d == 1 else f"an array whose last axis has length {self.d}"
            raise InvalidInputError(
                f"{self.name}: expected x of shape (..., {self.d}); came shape {points.shape}; try {hint}"
            )
        values = np.asarray(self.function(points))  # (...)
        if values.shape != points.shape[:-1]:
            raise InvalidInputError(
                f"{self.name}: expected a vectorised function that maps shape {points.shape} to shape "
                f"{points.shape[:-1]}; came shape {values.shape}; try reducing over the last axis only"
            )
        return float(values) if points.ndim == 1 else values

    @overload
    def log10_distance(self, f: float) -> float: ...
    @overload
    def log10_distance(self, f: Array) -> Array: ...
    def log10_distance(self, f: float | Array) -> float | Array:
        """log10 |f - f_star| [NH18, Sec. 4], never below log10 of the spacing of doubles at max(1, |f_star|).

        The floor keeps an exact hit from giving -inf, and averages over runs finite. The spacing at f_star is
        the least difference that a value of f can resolve (2.2e-16 for CAM, 2.8e-14 for SHU). Below
        |f_star| = 1 the floor is 2.2e-16: at 0 the spacing is 5e-324, and one hit would outweigh the rest.
        """
        if self.f_star is None:
            raise InvalidInputError(
                f"{self.name}: expected a problem whose least value is known; f_star came as None; "
                "try dataclasses.replace(problem, f_star=...)"
            )
        floor = np.spacing(max(1.0, abs(self.f_star)))
        log_distance = np.log10(np.maximum(np.abs(np.asarray(f, dtype=np.float64) - self.f_star), floor))
        return float(log_distance) if log_distance.ndim == 0 else log_distance
