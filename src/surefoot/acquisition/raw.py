"""A target as the paper's search sees it: in the user's units, not in logarithms.

Shapes    x (R, m, d), values (R, m).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from surefoot.acquisition.target import Target
from surefoot.backend import Array, namespace


@dataclass(frozen=True)
class RawTarget:
    """A target in the user's units: the weighted policy itself, not its log, counted from the user's zero."""

    target: Target
    zero: Array  # (R, 1) the user's y = 0 among standardized values
    unit: Array  # (R, 1) a step of 1 in the user's y, among standardized values
    origin: Array  # (R, 1, d) where the variables' own zero lies, in units of the cube

    def values(self, x: Array) -> Array:
        """The policy at x: relative changes mean something there."""
        value = self.target.values(x)
        if self.target.is_log:
            return namespace(x).exp(value)
        return value + self.zero if self.target.policy.is_level else value

    def slack(self) -> Array:
        """What counts as 1 among the values (R, 1): 1 in the user's units of y, if the policy has units."""
        return self.unit if self.target.policy.is_in_units_of_y else namespace(self.unit).ones_like(self.unit)

    def select(self, runs: Array | None) -> RawTarget:
        """The same for some runs only (None: all)."""
        if runs is None:
            return self
        own = {name: getattr(self, name)[runs] for name in ("zero", "unit", "origin")}
        return replace(self, target=self.target.select(runs), **own)
