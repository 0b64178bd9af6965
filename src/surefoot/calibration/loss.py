"""How far a simulation is from the data [NH18, Eq. 12], and the function of the parameters that is minimized.

Notation  d (N,) all measured values, g(q) (N,) the simulation in their place, s (N,) noise standard deviations
Losses    "likelihood"  sum ((d - g)/s)² / 2: the negative log likelihood up to a constant (the default)
          "l2"          sum (d - g)²: the paper's, Eq. 12; signals with large numbers rule
          "mean"        as "likelihood", of the signals' means alone
Root      The engine minimizes the *root* of the loss. It has the same minimum, and far from it the residuals grow about
          linearly in the parameters: a Gaussian process models such a cone better than the parabola of their squares,
          which spans decades (docs/understanding/inference.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot.calibration.box import Floats
from surefoot.calibration.result import Residual
from surefoot.calibration.signals import Measured, has_complex, numbers
from surefoot.errors import InvalidInputError, SurefootError, UnknownNameError, shown

LOSSES = ("likelihood", "l2", "mean")


class OutputsError(InvalidInputError):
    """What the simulator returned is not what the data are: a mistake, not a failed simulation."""


class NotFiniteError(SurefootError):
    """The simulator returned NaN or an infinity: a failed simulation."""


class NotRealError(SurefootError):
    """The simulator returned complex numbers, the root of a negative one, say: a failed simulation."""


@dataclass(frozen=True)
class Loss:
    """The data, ready to be compared with simulations."""

    data: tuple[Measured, ...]
    name: str = "likelihood"

    def __post_init__(self) -> None:
        if self.name not in LOSSES:
            raise UnknownNameError(f"expected a loss among {', '.join(LOSSES)}; got {self.name!r}; try 'likelihood'")

    @cached_property
    def measured(self) -> Floats:
        """d/s (N,): the data in units of their noise."""
        return np.concatenate([signal.value / signal.noise_sd for signal in self.data])

    @cached_property
    def noise_sd(self) -> Floats:
        """s (N,)."""
        return np.concatenate([np.broadcast_to(signal.noise_sd, signal.value.shape) for signal in self.data])

    def predicted(self, outputs: Any) -> Floats:
        """g/s (N,) of what a simulator returned: arrays by the signals' names, or one array for one signal."""
        if len(self.data) == 1 and not isinstance(outputs, Mapping):
            outputs = {self.data[0].name: outputs}
        parts = []
        for signal in self.data:
            output = outputs.get(signal.name) if isinstance(outputs, Mapping) else None
            if has_complex(output):
                raise NotRealError(
                    f"expected real numbers for {signal.name}; got complex ones from the simulator; "
                    "try numpy.real, if their imaginary parts are rounding errors"
                )
            part = numbers(output)
            if part is None or part.shape != signal.value.shape:
                raise OutputsError(
                    f"expected the simulator to return {signal.value.size} numbers for {signal.name}; "
                    f"got {_came(outputs, signal.name)}; try a dict of arrays, one for each signal"
                )
            if not np.isfinite(part).all():
                raise NotFiniteError(f"the simulator returned numbers that are not finite for {signal.name}")
            parts.append(part / signal.noise_sd)
        return np.concatenate(parts)

    def split(self, values: Floats) -> list[Floats]:
        """Values (N,) signal by signal."""
        ends = np.cumsum([signal.value.size for signal in self.data])
        return np.split(values, ends[:-1])

    def __call__(self, predicted: Floats) -> float:
        """The loss of a simulation (N,) in units of the noise."""
        r = self.measured - predicted
        if self.name == "l2":
            return float(np.sum((r * self.noise_sd) ** 2))
        if self.name == "mean":
            return 0.5 * float(sum(np.sum(part) ** 2 / part.size for part in self.split(r)))
        return 0.5 * float(np.sum(r * r))

    def residuals(self, predicted: Floats) -> tuple[Residual, ...]:
        """How well every signal is fitted."""
        rows = []
        for signal, r in zip(self.data, self.split(self.measured - predicted), strict=True):
            chi2, sd, variance = float(np.mean(r * r)), float(np.median(signal.noise_sd)), float(np.var(signal.value))
            explained = 1.0 - chi2 * sd**2 / variance if variance > 0.0 else math.nan
            rows.append(Residual(signal.name, sd * np.sqrt(chi2), sd, chi2, explained))
        return tuple(rows)


def _came(outputs: Any, name: str) -> str:
    """What a simulator returned in the place of a signal."""
    if not isinstance(outputs, Mapping):
        return shown(outputs)
    return shown(outputs[name]) if name in outputs else f"a dict with the names {shown(list(outputs))}"


@dataclass(frozen=True)
class RootLoss:
    """Root of the loss under a simulator, a function of the parameters; picklable if the simulator is."""

    simulate: Callable[[Any], Any]
    loss: Loss

    def predicted(self, x: Any) -> Floats:
        """g/s (N,) at a point as the simulator takes it; raises what the simulator raises."""
        return self.loss.predicted(self.simulate(x))

    def attempt(self, x: Any) -> Floats | None:
        """The same, None where the simulation fails."""
        try:
            return self.predicted(x)
        except OutputsError:
            raise
        except Exception:
            return None

    def __call__(self, x: Any) -> float:
        """The root of the loss there."""
        return math.sqrt(self.loss(self.predicted(x)))
