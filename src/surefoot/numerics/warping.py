"""Warping of observed values: values far above the least one are compressed, those near it keep their differences.

Warp      w(y) = low + s log(1 + (y - low)/s),  low = min y:  slope 1 at the minimum, logarithmic above low + s.
          s = inf is the identity. A function that spans powers of ten is then one that a stationary process can follow.
Centred   Where values are compared with a limit c, w(y) = c + s arsinh((y - c)/s): slope 1 at the limit, logarithmic
          beyond s on either side of it.
Choice    Among LEVELS, s in standard deviations of y, by the likelihood of y itself: that of w times the slopes dw/dy.
Shapes    y (R, n); low and s (R, 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.numerics.scaling import standardize

LEVELS = (np.inf, 1.0, 0.1, 0.01, 1e-3, 1e-4)


@dataclass(frozen=True)
class Warp:
    """One monotone map of y for every run."""

    low: np.ndarray  # (R, 1)
    s: np.ndarray  # (R, 1)

    def forward(self, y: np.ndarray) -> np.ndarray:
        """w(y); below `low` it goes on with slope 1."""
        with np.errstate(over="ignore", invalid="ignore"):
            above = np.maximum(y - self.low, 0.0)
            warped = self.low + self.s * np.log1p(above / self.s)
        return np.where(np.isinf(self.s) | (y < self.low), y, warped)

    def log_slope(self, y: np.ndarray) -> np.ndarray:
        """log dw/dy."""
        with np.errstate(over="ignore", invalid="ignore"):
            slope = -np.log1p(np.maximum(y - self.low, 0.0) / self.s)
        return np.where(np.isinf(self.s), 0.0, slope)

    def inverse(self, w: np.ndarray) -> np.ndarray:
        """The y of which w is the warp."""
        above = np.maximum(w - self.low, 0.0)
        with np.errstate(invalid="ignore", over="ignore"):
            y = self.low + self.s * np.expm1(above / self.s)
        return np.where(np.isinf(self.s) | (w < self.low), w, y)

    def inverse_slope(self, w: np.ndarray) -> np.ndarray:
        """dy/dw at w."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(np.maximum(w - self.low, 0.0) / self.s))

    def part(self, rows: slice | np.ndarray) -> Warp:
        """The warps of some runs."""
        return Warp(self.low[rows], self.s[rows])


@dataclass(frozen=True)
class CentredWarp(Warp):
    """One that compresses values on either side of `low`, which is its centre."""

    def forward(self, y: np.ndarray) -> np.ndarray:
        """w(y)."""
        with np.errstate(invalid="ignore"):
            warped = self.low + self.s * np.arcsinh((y - self.low) / self.s)
        return np.where(np.isinf(self.s), y, warped)

    def log_slope(self, y: np.ndarray) -> np.ndarray:
        """log dw/dy."""
        u = (y - self.low) / self.s
        return np.asarray(-np.log(np.hypot(1.0, u)))

    def inverse(self, w: np.ndarray) -> np.ndarray:
        """The y of which w is the warp."""
        with np.errstate(invalid="ignore", over="ignore"):
            y = self.low + self.s * np.sinh((w - self.low) / self.s)
        return np.where(np.isinf(self.s), w, y)

    def inverse_slope(self, w: np.ndarray) -> np.ndarray:
        """dy/dw at w."""
        with np.errstate(over="ignore"):
            return np.asarray(np.cosh((w - self.low) / self.s))

    def part(self, rows: slice | np.ndarray) -> CentredWarp:
        """The warps of some runs."""
        return CentredWarp(self.low[rows], self.s[rows])


def make_warp(y: np.ndarray, ok: np.ndarray, levels: np.ndarray, centre: np.ndarray | None = None) -> Warp:
    """The warps of y (R, n) at levels (R,), indices into LEVELS; the identity where y has no spread to measure.

    centre (R, 1): values are compressed on either side of it; None: above the least one.
    """
    low = np.min(np.where(ok, y, np.inf), axis=1, keepdims=True)
    low = np.where(np.isfinite(low), low, 0.0)
    _, _, spread = standardize(y, ok)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        s = np.asarray(LEVELS)[levels][:, None] * spread
        range_ = np.max(np.where(ok, y, low), axis=1, keepdims=True) - low
        usable = (s > 0.0) & np.isfinite(range_ / s)
    s = np.where(usable, s, np.inf)
    return Warp(low, s) if centre is None else CentredWarp(centre, s)
