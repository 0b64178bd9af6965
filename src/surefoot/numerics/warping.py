"""Warping of observed values: those far from one end are compressed, those near it keep their differences.

Warp      w(y) = end + s log(1 + (y - end)/s):  slope 1 at the end, logarithmic farther than |s| from it.
          s > 0: the end is min y, and large values are compressed. A function that spans powers of ten is then one that
          a stationary process can follow.
          s < 0: the end is max y, and low values are compressed. Where all but a few pits is a plain, the plain's small
          differences say where the pits are: exp(-x^2) and 1/(1 + x^2) become parabolas.
          s = inf is the identity.
Centred   Where values are compared with a limit c, w(y) = c + s arsinh((y - c)/s): slope 1 at the limit, logarithmic
          beyond s on either side of it.
Choice    Among LEVELS, s in standard deviations of y, by the likelihood of y itself: that of w times the slopes dw/dy.
Shapes    y (R, n); end and s (R, 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.numerics.scaling import standardize

LEVELS = (np.inf, 1.0, 0.1, 0.01, 1e-3, 1e-4, -1.0, -0.1, -0.01, -1e-3)
ALL_LEVELS = tuple(range(len(LEVELS)))
ABOVE = tuple(level for level, s in enumerate(LEVELS) if s > 0.0)  # those that compress large values, or none


@dataclass(frozen=True)
class Warp:
    """One monotone map of y for every run."""

    end: np.ndarray  # (R, 1)
    s: np.ndarray  # (R, 1)

    def forward(self, y: np.ndarray) -> np.ndarray:
        """w(y); beyond `end` it goes on with slope 1."""
        with np.errstate(over="ignore", invalid="ignore"):
            beyond = np.maximum((y - self.end) / self.s, 0.0)
            warped = self.end + self.s * np.log1p(beyond)
        return np.where(np.isinf(self.s) | (beyond == 0.0), y, warped)

    def log_slope(self, y: np.ndarray) -> np.ndarray:
        """log dw/dy."""
        with np.errstate(over="ignore", invalid="ignore"):
            slope = -np.log1p(np.maximum((y - self.end) / self.s, 0.0))
        return np.where(np.isinf(self.s), 0.0, slope)

    def inverse(self, w: np.ndarray) -> np.ndarray:
        """The y of which w is the warp."""
        with np.errstate(invalid="ignore", over="ignore"):
            beyond = np.maximum((w - self.end) / self.s, 0.0)
            y = self.end + self.s * np.expm1(beyond)
        return np.where(np.isinf(self.s) | (beyond == 0.0), w, y)

    def inverse_slope(self, w: np.ndarray) -> np.ndarray:
        """dy/dw at w."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(np.maximum((w - self.end) / self.s, 0.0)))

    def part(self, rows: slice | np.ndarray) -> Warp:
        """The warps of some runs."""
        return Warp(self.end[rows], self.s[rows])


@dataclass(frozen=True)
class CentredWarp(Warp):
    """One that compresses values on either side of `end`, which is its centre."""

    def forward(self, y: np.ndarray) -> np.ndarray:
        """w(y)."""
        with np.errstate(invalid="ignore"):
            warped = self.end + self.s * np.arcsinh((y - self.end) / self.s)
        return np.where(np.isinf(self.s), y, warped)

    def log_slope(self, y: np.ndarray) -> np.ndarray:
        """log dw/dy."""
        u = (y - self.end) / self.s
        return np.asarray(-np.log(np.hypot(1.0, u)))

    def inverse(self, w: np.ndarray) -> np.ndarray:
        """The y of which w is the warp."""
        with np.errstate(invalid="ignore", over="ignore"):
            y = self.end + self.s * np.sinh((w - self.end) / self.s)
        return np.where(np.isinf(self.s), w, y)

    def inverse_slope(self, w: np.ndarray) -> np.ndarray:
        """dy/dw at w."""
        with np.errstate(over="ignore"):
            return np.asarray(np.cosh((w - self.end) / self.s))

    def part(self, rows: slice | np.ndarray) -> CentredWarp:
        """The warps of some runs."""
        return CentredWarp(self.end[rows], self.s[rows])


def make_warp(y: np.ndarray, ok: np.ndarray, levels: np.ndarray, centre: np.ndarray | None = None) -> Warp:
    """The warps of y (R, n) at levels (R,), indices into LEVELS; the identity where y has no spread to measure.

    centre (R, 1): values are compressed on either side of it (s > 0); None: away from one end.
    """
    low = np.min(np.where(ok, y, np.inf), axis=1, keepdims=True)
    low = np.where(np.isfinite(low), low, 0.0)
    _, _, spread = standardize(y, ok)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        s = np.asarray(LEVELS)[levels][:, None] * spread
        high = np.max(np.where(ok, y, low), axis=1, keepdims=True)
        usable = (s != 0.0) & np.isfinite((high - low) / s)
    s = np.where(usable, s, np.inf)
    return Warp(np.where(s < 0.0, high, low), s) if centre is None else CentredWarp(centre, s)
