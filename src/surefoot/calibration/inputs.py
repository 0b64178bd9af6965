"""What the emulator is a function of: the parameters, features in place of a stepped one, scaled over a region."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.calibration.box import Box, Floats

_GRID = 600  # values of a stepped parameter at which its features are tabulated over a region


@dataclass(frozen=True)
class Inputs:
    """The emulator's D inputs over a region, scaled to [0, 1] there: the smooth parameters, then the features."""

    box: Box
    grid: Floats  # (G,) values of the stepped parameter over the region; empty without one
    table: Floats  # (G, F) features there
    low: Floats  # (D,) inputs at the lower and upper end of the region
    high: Floats

    def _scaled(self, units: Floats, features: Floats) -> Floats:
        found = np.concatenate([units[:, self.box.smooth], features], axis=1)
        return np.asarray((found - self.low) / (self.high - self.low))

    def _step(self, units: Floats) -> Floats:
        """Values (m,) of the stepped parameter; any numbers without one."""
        return units[:, 0] if self.box.step is None else self.box.column(self.box.step, units[:, self.box.step])

    def exact(self, units: Floats) -> Floats:
        """Inputs (m, D) of points in the unit cube."""
        return self._scaled(units, self.box.features(self._step(units)))

    def quick(self, units: Floats) -> Floats:
        """The same from the table, a step of the stepped parameter being 1/600 of the region's range."""
        if self.box.step is None:
            return self.exact(units)
        nearest = np.rint((self._step(units) - self.grid[0]) / (self.grid[1] - self.grid[0])).astype(int)
        return self._scaled(units, self.table[np.clip(nearest, 0, self.grid.size - 1)])

    def plane(self, x: Floats) -> Floats:
        """Regressors of a plane at inputs x (m, D): features, of one parameter all, rise and fall together."""
        p = len(self.box.smooth)
        columns = [np.ones(len(x)), *x[:, :p].T]
        return np.stack(columns if self.box.step is None else [*columns, x[:, p:].mean(axis=1)], axis=1)


def make_inputs(box: Box, low: Floats, high: Floats) -> Inputs:
    """Inputs over the region between the corners low and high (d,) of the unit cube."""
    if box.step is None:
        return Inputs(box, np.empty(0), np.empty((0, 0)), low, np.maximum(high, low + 1e-9))
    first, last = box.column(box.step, np.array([low[box.step], high[box.step]]))
    grid = np.linspace(first, last, _GRID)
    table = box.features(grid)
    lowest = np.append(low[box.smooth], table.min(axis=0))
    highest = np.append(high[box.smooth], table.max(axis=0))
    return Inputs(box, grid, table, lowest, np.maximum(highest, lowest + 1e-9))
