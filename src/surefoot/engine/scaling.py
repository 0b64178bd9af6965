"""Values of y as the objective's process sees them: warped, then standardized.

Shapes    y (R, n); shift and scale (R, 1), on the host.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.numerics.scaling import standardize
from surefoot.numerics.warping import Warp, make_warp


@dataclass(frozen=True)
class Scaling:
    """Two maps of every run: warped y = shift + scale * standardized."""

    levels: np.ndarray  # (R,) of the warp
    warp: Warp
    shift: np.ndarray  # (R, 1)
    scale: np.ndarray  # (R, 1)

    def forward(self, y: np.ndarray) -> np.ndarray:
        """Values (R, m) as the process sees them."""
        return np.asarray((self.warp.forward(y) - self.shift) / self.scale)

    @property
    def zero(self) -> np.ndarray:
        """(R, 1) where y = 0 lies among standardized values, if nothing is warped."""
        return np.asarray(-self.shift / self.scale)

    @property
    def unit(self) -> np.ndarray:
        """(R, 1) a step of 1 in y among standardized values, if nothing is warped."""
        return 1.0 / self.scale

    def part(self, rows: slice | np.ndarray) -> Scaling:
        """Those of some runs."""
        return Scaling(self.levels[rows], self.warp.part(rows), self.shift[rows], self.scale[rows])


def scaled(
    y: np.ndarray, ok: np.ndarray, levels: np.ndarray, centre: np.ndarray | None = None
) -> tuple[np.ndarray, Scaling]:
    """Standardized values (R, n), 0 where not ok, and how they were made; levels (R,) and centre (R, 1) of the warp."""
    warp = make_warp(y, ok, levels, centre)
    standardized, shift, scale = standardize(warp.forward(np.where(ok, y, warp.end)), ok)
    return standardized, Scaling(levels, warp, shift, scale)
