"""Which part of a batch still runs: finished problems leave it, the rest stays rectangles.

Rounding  BLAS takes another kernel for another number of columns, and another kernel rounds otherwise. So that a run
          has the same bits alone and beside others, the width of its rectangle depends on nothing that stands beside
          it: runs with equally many running problems form a rectangle together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.backend import Array, like, sorts_by_shape


@dataclass(frozen=True)
class Part:
    """R' of R runs and S' of S problems in each: rows (R', 1) and columns (R', S') index the full batch."""

    rows: Array
    columns: Array
    runs: Array | None  # (R',) indices of the runs, None when all of them take part


def running_parts(running: np.ndarray, reference: Array, one_part: bool = False) -> list[Part] | None:
    """Rectangles that hold every running problem of `running` (R, S), each once; None when that is all of it.

    Within a run the running problems come first; finished ones may fill its row. one_part: a single rectangle, as
    always where launches count.
    """
    R, S = running.shape
    width = np.where(running.any(axis=1), np.clip(running.sum(axis=1), min(2, S), S), 0)  # (R,) 0: has left the batch
    if one_part or not sorts_by_shape(reference):  # one launch for all
        width = np.where(width > 0, width.max(), 0)
    if (width == S).all():
        return None
    order = (~running).argsort(axis=1, kind="stable")
    parts = []
    for n_columns in np.unique(width[width > 0]).tolist():
        runs = np.flatnonzero(width == n_columns)
        parts.append(
            Part(
                rows=like(runs[:, None], reference),
                columns=like(order[runs, :n_columns], reference),
                runs=None if len(runs) == R else like(runs, reference),
            )
        )
    return parts
