"""What a reader must know before believing the numbers, in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from surefoot.calibration.box import Box
from surefoot.calibration.posterior import AT_BOUND
from surefoot.calibration.result import Interval, Residual
from surefoot.calibration.signals import Measured


def at_bounds(box: Box, estimate: Sequence[float]) -> list[str]:
    """Notes where the best fit lies at the end of a parameter's range."""
    return [
        f"the best fit of {name} lies at the bounds of the search, {p.low:g} to {p.high:g}"
        for name, p, value in zip(box.names, box.parameters, estimate, strict=True)
        if min(p.encode(value)[0], 1.0 - p.encode(value)[0]) < AT_BOUND
    ]


def unexplained(residuals: Sequence[Residual], data: Sequence[Measured]) -> list[str]:
    """Notes on signals whose residuals are larger than their noise."""
    return [
        f"{signal.name}: residuals are {math.sqrt(residual.chi2_per_value):.2g} times the noise "
        f"({signal.noise_from}); the model does not explain this signal, or the noise is larger: check {signal.check}"
        for residual, signal in zip(residuals, data, strict=True)
        # the mean of n squared standard normals has variance 2/n; 0.2: noise levels are known no better
        if residual.chi2_per_value > 1.2 + 5.0 * math.sqrt(2.0 / signal.value.size)
    ]


def beyond_intervals(estimate: Sequence[float], intervals: Sequence[Interval]) -> list[str]:
    """Notes where the best fit lies a standard deviation or more outside its own interval.

    A loss with jumps has many minima: the search may have ended beside one, and an emulator then follows the wrong
    side.
    """
    return [
        f"the best fit of {interval.name}, {value:g}, is outside its interval, {interval.low:g} to {interval.high:g}; "
        "the search has not found the least loss, or the emulator does not follow it there; try a larger n_evals"
        for value, interval in zip(estimate, intervals, strict=True)
        if max(interval.low - value, value - interval.high) > interval.sd
    ]
