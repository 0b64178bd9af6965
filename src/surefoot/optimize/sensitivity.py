"""What each limit on an output costs at the best point: which are active, and what a little more room would bring.

Multipliers   At an optimum the gradient of the objective is a combination of those of the active limits and bounds:
              grad f + sum_k m_k s_k grad g_k + bounds = 0,  m_k >= 0, s_k = 1 at an upper limit, -1 at a lower one.
              Gradients are those of the fitted processes; m is found by nonnegative least squares. Moving limit k by a
              small step outwards lowers f by m_k times the step.
Active        A limit is active if it is at most NEAR away: the slack over the length of the gradient, in the unit cube.
Unexplained   The share of grad f that no combination gives. Where it is large the best point is no optimum yet, and no
              multiplier is told.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

from surefoot.backend import to_host
from surefoot.engine.spec import Limit
from surefoot.optimize.limits import limits_of, spelled

if TYPE_CHECKING:
    from surefoot.optimize.result import Result

NEAR = 1e-3
_EXPLAINED = 0.3  # of grad f may stay unexplained
_AT_BOUND = 1e-6
_TELLING = 1e-5  # of the objective: a gain below that is not told as a number


@dataclass(frozen=True)
class AtLimit:
    """One limited output at the best point."""

    name: str
    limit: Limit
    value: float  # NaN: not computed there
    objective: float  # its value there
    active: str = ""  # "upper" or "lower": the limit that the point lies at; empty: neither
    multiplier: float = math.nan  # by which the objective improves per unit of more room; NaN: not known

    @property
    def text(self) -> str:
        """The limit as it is written."""
        return spelled(self.limit)

    @property
    def violation(self) -> float:
        """How far the value lies outside, in its own unit; 0 inside, NaN if it was not computed."""
        return float(self.limit.violation(np.asarray(self.value)))

    @property
    def gain(self) -> float:
        """The share by which the objective improves if the active limit moves by 1 % of itself; NaN: not known."""
        bound = self.limit.upper if self.active == "upper" else self.limit.lower
        if not self.active or bound == 0.0 or self.objective == 0.0:
            return math.nan
        return 0.01 * abs(bound) * self.multiplier / abs(self.objective)

    @property
    def gained(self) -> str:
        """The same in per cent, for people."""
        return f"{100.0 * self.gain:.2g} %" if self.gain >= _TELLING else f"less than {100.0 * _TELLING:g} %"


def at_limits(result: Result) -> tuple[AtLimit, ...]:
    """Every limited output at the best point of a result; none without limits or without a success."""
    outputs = result.settings.outputs
    if not outputs or not result.success:
        return ()
    found = result.outputs
    plain = tuple(
        AtLimit(name, limit, found.get(name, math.nan), result.fun)
        for name, limit in zip(outputs, limits_of(outputs), strict=True)
    )
    fitted = result.model.fitted.outputs
    if not result.feasible or fitted is None or fitted.within is None:
        return plain
    best = result.space.encode(result.space.validate(result.x))
    free = result.space.free & (np.ptp(result.history.units(result.space), axis=0) > 0.0)
    slopes = dict(zip(fitted.known, _output_slopes(result, best), strict=True))
    near = [_active(at, slopes.get(j)) for j, at in enumerate(plain)]
    if not free.any():
        return tuple(near)
    active = [j for j, at in enumerate(near) if at.active]
    signs = [1.0 if near[j].active == "upper" else -1.0 for j in active]
    columns = [sign * slopes[j][free] for j, sign in zip(active, signs, strict=True)]
    multipliers = _multipliers(_objective_slope(result, best)[free], columns, best[free])
    for j, multiplier in zip(active, multipliers, strict=True):
        near[j] = replace(near[j], multiplier=multiplier)
    return tuple(near)


def _active(at: AtLimit, slope: np.ndarray | None) -> AtLimit:
    """With the limit that the value lies at, if it does."""
    if slope is None or math.isnan(at.value):
        return at
    length = float(np.linalg.norm(slope))
    for side, slack in (("upper", at.limit.upper - at.value), ("lower", at.value - at.limit.lower)):
        if slack <= NEAR * length:
            return replace(at, active=side)
    return at


def _multipliers(slope: np.ndarray, columns: list[np.ndarray], best: np.ndarray) -> list[float]:
    """m of each column, with the bounds that the point lies at taken into account; NaN where they do not explain."""
    bounds = [
        np.eye(len(best))[i] * (1.0 if x > 0.5 else -1.0) for i, x in enumerate(best) if min(x, 1.0 - x) < _AT_BOUND
    ]
    if not columns or not slope.any():
        return [math.nan] * len(columns)
    A = np.stack([*columns, *bounds], axis=1)
    lengths = np.linalg.norm(A, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    shares, unexplained = nnls(A / lengths, -slope)
    if unexplained > _EXPLAINED * np.linalg.norm(slope):
        return [math.nan] * len(columns)
    return [float(m) for m in (shares / lengths)[: len(columns)]]


def _objective_slope(result: Result, best: np.ndarray) -> np.ndarray:
    """The gradient of the objective, as it is minimized, in its own units over the unit cube, (D,)."""
    fitted = result.model.fitted
    mu, _, slope, _ = (to_host(part) for part in fitted.objective.moments_and_gradients(best[None, None]))
    w = fitted.scaling.shift + fitted.scaling.scale * mu
    return np.asarray(slope[0, 0] * (fitted.scaling.scale * fitted.scaling.warp.inverse_slope(w))[0, 0])


def _output_slopes(result: Result, best: np.ndarray) -> np.ndarray:
    """The gradients of the outputs that have processes, in their units over the unit cube, (k, D)."""
    outputs = result.model.fitted.outputs
    assert outputs is not None
    assert outputs.within is not None
    assert outputs.scaling is not None
    x = np.repeat(best[None, None], len(outputs.known), axis=0)
    mu, _, slopes, _ = (to_host(part) for part in outputs.within.surrogate.moments_and_gradients(x))
    w = outputs.scaling.shift + outputs.scaling.scale * mu
    return np.asarray(slopes[:, 0] * outputs.scaling.scale * outputs.scaling.warp.inverse_slope(w))


def limit_notes(result: Result) -> list[str]:
    """What whoever reads a result must know of its limits, in sentences."""
    if not result.settings.outputs or not result.success:
        return []
    if not result.feasible:
        outside = [at for at in result.limits if at.violation != 0.0]
        told = ", ".join(
            f"{at.name} was not computed" if math.isnan(at.value) else f"{at.name} is outside by {at.violation:.3g}"
            for at in outside
        )
        return [f"no evaluation is within all limits on outputs; at the point that is least outside, {told}"]
    return [sentence(result, at) for at in result.limits if at.active]


def sentence(result: Result, at: AtLimit) -> str:
    """That the best point lies at this limit, and what more room would bring."""
    said = f"{at.name} is at its limit"
    if math.isnan(at.multiplier):
        return said
    better = "raise" if result.sign < 0.0 else "lower"
    if at.multiplier <= 0.0:
        return f"{said}, which costs nothing"
    if math.isnan(at.gain):
        return f"{said}: each unit of more room would {better} {result.objective} by {at.multiplier:.2g}"
    return f"{said}: 1 % more room would {better} {result.objective} by {at.gained}"
