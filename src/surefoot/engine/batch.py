"""The histories of R runs, as the engine takes them.

Shapes    X (R, n, D) in the unit cube, y (R, n), ok and seen (R, n), pending (R, e, D), all on the host.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

HOST = np.zeros(0)  # stands for "NumPy, on the host"


@dataclass(frozen=True)
class Batch:
    """The histories of R runs, padded to equal length."""

    X: np.ndarray  # (R, n, D)
    y: np.ndarray  # (R, n)
    ok: np.ndarray  # (R, n) evaluated, with a finite value
    pending: np.ndarray  # (R, e, D) asked for, not yet told
    run_ids: tuple[int, ...]
    seen: np.ndarray | None = None  # (R, n) False for padding and transient failures; None: all seen
    policies: tuple[str, ...] | None = None  # of each run, equal ones side by side; None: that of the settings

    @property
    def failed(self) -> np.ndarray:
        """(R, n) evaluated, and failed in a way that teaches."""
        return ~self.ok if self.seen is None else self.seen & ~self.ok

    def part(self, rows: slice) -> Batch:
        """Some of the runs."""
        return Batch(
            self.X[rows],
            self.y[rows],
            self.ok[rows],
            self.pending[rows],
            self.run_ids[rows],
            None if self.seen is None else self.seen[rows],
            None if self.policies is None else self.policies[rows],
        )
