"""One way to count: every call of the function, whoever makes it and why, up to a target or a budget."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from surefoot.errors import InvalidInputError


class Stopped(BaseException):
    """Raised by a counter that has reached its target or its budget, to end the solver that called it.

    Not an Exception: libraries catch those, and go on.
    """


class Counter:
    """A function on a box that counts its evaluations, keeps the best value and stops whoever calls it too often.

    Finite differences, restarts and members of a population all count one each, in the order of the calls. `target` is
    the value to reach. A point outside the box counts and is not a success: no solver gains by leaving the domain.
    """

    def __init__(
        self,
        f: Callable[[np.ndarray], float],
        bounds: list[tuple[float, float]],
        *,
        budget: int,
        target: float = -math.inf,
    ) -> None:
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
            raise InvalidInputError(f"expected a budget of at least one evaluation; got {budget!r}; try 10000")
        self.f = f
        self.lower, self.upper = (np.asarray(side, dtype=float) for side in zip(*bounds, strict=True))
        self.budget = budget
        self.target = target
        self.best = math.inf
        self._trace: list[float] = []

    def __call__(self, x: np.ndarray) -> float:
        """The value at x, of shape (d,)."""
        if self.hit or self.n >= self.budget:  # somebody caught the first Stopped
            raise Stopped
        point = np.asarray(x, dtype=float)
        value = float(self.f(point))
        if bool(np.all((point >= self.lower) & (point <= self.upper))):
            self.best = min(self.best, value)
        self._trace.append(self.best)
        if self.hit or self.n >= self.budget:
            raise Stopped
        return value

    def __deepcopy__(self, memo: dict[int, object]) -> Counter:
        return self  # libraries copy what they are given; there is one count

    @property
    def n(self) -> int:
        """Evaluations so far."""
        return len(self._trace)

    @property
    def d(self) -> int:
        """Number of inputs."""
        return len(self.lower)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """(low, high) of each input."""
        return [(float(low), float(high)) for low, high in zip(self.lower, self.upper, strict=True)]

    @property
    def hit(self) -> bool:
        """Whether the target has been reached."""
        return self.best <= self.target

    @property
    def trace(self) -> np.ndarray:
        """Best value after each evaluation (n,)."""
        return np.asarray(self._trace)
