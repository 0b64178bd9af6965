"""The models of a result: what they expect of values, failures and limited outputs, in the user's units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from surefoot.backend import to_host
from surefoot.engine.model import Model
from surefoot.errors import InvalidInputError, shown
from surefoot.numerics.warping import LEVELS
from surefoot.optimize.checks import is_a
from surefoot.optimize.space import Space


@dataclass(frozen=True)
class FittedModel:
    """The Gaussian processes fitted to all evaluations, in the user's units."""

    space: Space
    fitted: Model
    sign: float

    def __repr__(self) -> str:
        known = self.fitted.outputs.known if self.fitted.outputs is not None else ()
        learned = [f"{len(known)} limited output{'s' * (len(known) > 1)}"] if known else []
        learned += ["failures"] if self.learns_failures else []
        return f"<model of the value{''.join(f', {what}' for what in learned)} over {self.space.d} parameters>"

    def _units(self, points: Any) -> np.ndarray:
        units = [self.space.encode(x) for x in self.space.points(points)]
        return np.asarray(units).reshape(-1, self.space.n_inputs)

    def predict(self, points: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of the function (without noise) at a list of points, (m,) each.

        Where y is warped (warp="auto") they are the median, and the standard deviation times the slope there.
        """
        return self.moments_at(self._units(points))

    def moments_at(self, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same at points (m, D) of the unit cube."""
        mu, sd = (to_host(moment) for moment in self.fitted.objective.moments(units[None]))
        scaling = self.fitted.scaling
        warp, w = scaling.warp, scaling.shift + scaling.scale * mu
        return self.sign * warp.inverse(w)[0], (scaling.scale * sd * warp.inverse_slope(w))[0]

    def success_probability(self, points: Sequence[Any]) -> np.ndarray:
        """P(the evaluation succeeds) at a list of points [NH18, Eq. 10]; 1 while nothing has failed."""
        return self.success_at(self._units(points))

    def success_at(self, units: np.ndarray) -> np.ndarray:
        """The same at points (m, D) of the unit cube."""
        if self.fitted.success is None:
            return np.ones(len(units))
        return np.asarray(to_host(self.fitted.success.probability(units[None]))[0])

    def feasible_probability(self, points: Sequence[Any]) -> np.ndarray:
        """P(all outputs lie within their limits) at a list of points; 1 without limits, or before any was computed."""
        return self.feasible_at(self._units(points))

    def feasible_at(self, units: np.ndarray) -> np.ndarray:
        """The same at points (m, D) of the unit cube."""
        outputs = self.fitted.outputs
        if outputs is None or outputs.within is None:
            return np.ones(len(units))
        return np.asarray(np.exp(to_host(outputs.within.log_p(units[None]))[0]))

    def works_at(self, units: np.ndarray) -> np.ndarray:
        """P(the evaluation succeeds and all outputs lie within their limits), (m,), at points of the unit cube."""
        return np.asarray(self.success_at(units) * self.feasible_at(units))

    def limits_at(self, units: np.ndarray) -> np.ndarray:
        """How far the mean of each modelled output lies within its limits, (k, m), at points (m, D) of the unit cube.

        In standard deviations of the output; below 0 outside. The outputs are those of `fitted.outputs.known`.
        """
        outputs = self.fitted.outputs
        if outputs is None or outputs.within is None:
            return np.zeros((0, len(units)))
        slack = to_host(outputs.within.slack_and_gradient(units[None], 0.0)[0])[0]  # (m, 2 k)
        return np.asarray(np.minimum(*np.split(slack, 2, axis=1)).T)

    @property
    def learns_failures(self) -> bool:
        """Whether evaluations have failed and where is learned."""
        return self.fitted.success is not None

    def relevance(self, *, of: Literal["value", "failures"] = "value") -> np.ndarray:
        """How fast the value (or P(success)) changes along each parameter, (d,): ranges per length scale."""
        if not is_a(of, str) or of not in ("value", "failures"):
            raise InvalidInputError(f"expected of='value' or 'failures'; got {shown(of)}; try of='value'")
        rates = self.fitted.objective.rates
        if of == "failures":
            if self.fitted.success is None:
                return np.zeros(self.space.d)
            rates = self.fitted.success.of.rates
        ends = np.cumsum([p.n_columns for p in self.space.parameters])[:-1]
        return np.asarray([part.max() for part in np.split(to_host(rates)[0], ends)])

    @property
    def length_scales(self) -> np.ndarray:
        """One per input of the engine, in fractions of its range: large means irrelevant."""
        return np.asarray(1.0 / to_host(self.fitted.objective.rates)[0])

    @property
    def kernel(self) -> str:
        """The kernel of the objective: with kernel="auto" the likeliest one."""
        return self.fitted.warmth.kernels[0]

    @property
    def warp(self) -> str:
        """How values are compressed: "none", or from how many standard deviations off the best or the worst one on."""
        return warp_name(LEVELS[int(self.fitted.scaling.levels[0])])

    @property
    def noise_sd(self) -> float:
        """Estimated or given standard deviation of the noise."""
        return float(self.fitted.scaling.scale[0, 0]) * math.sqrt(float(self.fitted.objective.noise[0]))


def warp_name(level: float) -> str:
    """How values are compressed at one of the LEVELS, in words."""
    if math.isinf(level):
        return "none"
    far = f"{abs(level):g} standard deviation{'s' * (abs(level) != 1.0)}"
    return f"from {far} {'above the best' if level > 0.0 else 'below the worst'} value on"
