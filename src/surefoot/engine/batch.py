"""The histories of R runs, as the engine takes them.

Shapes    X (R, n, D) in the unit cube, y (R, n), ok and seen (R, n), pending (R, e, D), all on the host; k outputs have
          limits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

HOST = np.zeros(0)  # stands for "NumPy, on the host"


@dataclass(frozen=True)
class Batch:
    """R runs of equally many evaluations."""

    X: np.ndarray  # (R, n, D)
    y: np.ndarray  # (R, n)
    ok: np.ndarray  # (R, n) evaluated, with a finite value
    pending: np.ndarray  # (R, e, D) asked for, not yet told
    run_ids: tuple[int, ...]
    seen: np.ndarray | None = None  # (R, n) False for padding and transient failures; None: all seen
    kinds: np.ndarray | None = None  # (R, n) the kind of each failure's reason, from 0 on; None: all alike
    failure_cost: float | None = None  # what a failure takes, in successes; None: not known
    policies: tuple[str, ...] | None = None  # of each run, equal ones side by side; None: that of the spec
    origin: np.ndarray | None = None  # (R, D) where the parameters' own zero lies, in units of the cube; None: at 0
    allowed: np.ndarray | None = None  # (R, n) False where known constraints are violated; None: nowhere
    outputs: np.ndarray | None = None  # (R, k, n) the outputs that have limits, NaN where not computed; None: none has
    pools: np.ndarray | None = None  # (k, D) shares of k categories in their inputs; None: there are none
    centre: np.ndarray | None = None  # (R, 1) where differences of y count most; None: at its least value
    earlier: Batch | None = None  # evaluations that tell where it fails, and nothing of y (restarts.py)

    @property
    def failed(self) -> np.ndarray:
        """(R, n) evaluated, and failed in a way that teaches."""
        return ~self.ok if self.seen is None else self.seen & ~self.ok

    @property
    def origins(self) -> np.ndarray:
        """(R, D) where the parameters' own zero lies."""
        return np.zeros((len(self.run_ids), self.X.shape[-1])) if self.origin is None else self.origin

    @property
    def n_labels(self) -> int:
        """Evaluations that tell of failures."""
        return int(self.X.shape[1]) + (0 if self.earlier is None else self.earlier.n_labels)

    def part(self, rows: slice | np.ndarray) -> Batch:
        """Some of the runs, or some several times."""
        numbers = np.arange(len(self.run_ids))[rows].tolist()

        def some(a: np.ndarray | None) -> np.ndarray | None:
            return None if a is None else a[rows]

        seen = some(self.seen)
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            ok=self.ok[rows],
            pending=self.pending[rows],
            run_ids=tuple(self.run_ids[r] for r in numbers),
            seen=None if seen is None or bool(seen.all()) else seen,
            kinds=some(self.kinds),
            policies=None if self.policies is None else tuple(self.policies[r] for r in numbers),
            origin=some(self.origin),
            allowed=some(self.allowed),
            outputs=some(self.outputs),
            centre=some(self.centre),
            earlier=None if self.earlier is None else self.earlier.part(rows),
        )

    def of_evaluations(self, columns: np.ndarray) -> Batch:
        """The same runs with some of their evaluations (R, k) only."""

        def some(a: np.ndarray | None) -> np.ndarray | None:
            return None if a is None else np.take_along_axis(a, columns, axis=1)

        return replace(
            self,
            X=np.take_along_axis(self.X, columns[..., None], axis=1),
            y=np.take_along_axis(self.y, columns, axis=1),
            ok=np.take_along_axis(self.ok, columns, axis=1),
            seen=some(self.seen),
            kinds=some(self.kinds),
            allowed=some(self.allowed),
            outputs=None if self.outputs is None else np.take_along_axis(self.outputs, columns[:, None], axis=2),
        )

    def taken(self, r: int) -> np.ndarray:
        """(m, D) the points of run r that are not to be proposed again."""
        seen = self.X[r] if self.seen is None else self.X[r][self.seen[r]]
        before = () if self.earlier is None else (self.earlier.taken(r),)
        return np.concatenate([*before, seen, self.pending[r]])
