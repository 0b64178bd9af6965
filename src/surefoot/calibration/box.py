"""The parameters as a box: d real numbers, each the image of the unit interval, linear or logarithmic.

Prior     uniform over the unit cube: a parameter on a logarithmic scale has a prior that is uniform in its logarithm.
Stepped   A simulator may step in one parameter: where it rounds a number, say, as many outputs jump at many values.
          If cheap features of that parameter are known in which the outputs are smooth, they take its place in the
          models of the outputs (inputs.py, tangent.py).
Shapes    units (..., d) in the unit cube; u (G,) and values (G,) of one parameter; features (G, F).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import InvalidInputError, shown
from surefoot.optimize.parameters import Real
from surefoot.optimize.space import Space

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Stepped(Real):
    """A real parameter in which the outputs step, and features of it in which they are smooth.

    features  values (G,) of the parameter -> (G, F), many orders of magnitude faster than a simulation
    reach     in the unit interval: as far as the parameter must go for a feature to be again what it was before steps
    """

    features: Callable[[Floats], Floats]
    reach: float


@dataclass(frozen=True)
class Box:
    """Real parameters, of which one at most is stepped."""

    names: tuple[str, ...]
    parameters: tuple[Real, ...]
    named: bool  # the simulator takes a dict

    @classmethod
    def of(cls, parameters: Any) -> Box:
        """From what `minimize` takes as bounds, or a box (returned as it is)."""
        if isinstance(parameters, cls):
            return parameters
        space = Space.of(parameters)
        found = tuple(p for p in space.parameters if isinstance(p, Real) and p.low < p.high)
        if len(found) < space.d or sum(isinstance(p, Stepped) for p in found) > 1:
            raise InvalidInputError(
                "expected real parameters with low < high, at most one of them Stepped; "
                f"got {shown(parameters)}; try (0.0, 1.0) or Real(0.1, 10.0, log=True) for each"
            )
        box = cls(space.names, found, space.named)
        box.check_features()
        return box

    def check_features(self) -> None:
        """Raise unless the features of the step are finite numbers."""
        u = np.array([0.0, 0.5, 1.0])
        found = self.features_at(u)
        if self.step is not None and not (found.shape == (3, found.size // 3) and np.isfinite(found).all()):
            raise InvalidInputError(
                f"expected features of {self.names[self.step]} as finite numbers, one row for each value; "
                f"got shape {found.shape} for 3 values; try a function of an array (G,) that returns (G, F)"
            )

    @property
    def d(self) -> int:
        """Number of parameters."""
        return len(self.parameters)

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """Lower and upper of each."""
        return tuple((float(p.low), float(p.high)) for p in self.parameters)

    @property
    def space(self) -> Space:
        """As the optimizer knows them."""
        return Space(self.names, tuple(Real(p.low, p.high, p.log) for p in self.parameters), self.named)

    @property
    def step(self) -> int | None:
        """Which parameter is stepped."""
        return next((i for i, p in enumerate(self.parameters) if isinstance(p, Stepped)), None)

    @property
    def smooth(self) -> list[int]:
        """Which are not."""
        return [i for i in range(self.d) if i != self.step]

    @property
    def reach(self) -> float:
        """Of the stepped parameter."""
        return next((p.reach for p in self.parameters if isinstance(p, Stepped)), 0.0)

    def column(self, i: int, u: Floats) -> Floats:
        """Values of parameter i at u in the unit interval."""
        p = self.parameters[i]
        if p.log:
            value = np.exp((1.0 - u) * math.log(p.low) + u * math.log(p.high))
        else:
            value = p.low + u * (p.high - p.low)
        return np.clip(value, p.low, p.high)

    def values(self, units: Floats) -> Floats:
        """Values (..., d) at units."""
        return np.stack([self.column(i, units[..., i]) for i in range(self.d)], axis=-1)

    def point(self, unit: Floats) -> Any:
        """One point (d,) as the simulator takes it."""
        return self.space.to_user([float(value) for value in self.values(unit)])

    def features(self, values: Floats) -> Floats:
        """Features (G, F) of the stepped parameter's values (G,); F = 0 without such a parameter."""
        stepped = next((p for p in self.parameters if isinstance(p, Stepped)), None)
        return np.empty((len(values), 0)) if stepped is None else np.asarray(stepped.features(values), dtype=float)

    def features_at(self, u: Floats) -> Floats:
        """The same at u (G,) in the unit interval."""
        return self.features(u if self.step is None else self.column(self.step, u))
