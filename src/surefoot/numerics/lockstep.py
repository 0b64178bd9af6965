"""Which part of a batch still runs: finished problems leave it, the rest stays a rectangle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.backend import Array, like


@dataclass(frozen=True)
class Part:
    """R' of R runs and S' of S problems in each: rows (R', 1) and columns (R', S') index the full batch."""

    rows: Array
    columns: Array
    runs: Array | None  # (R',) indices of the runs, None when all of them take part


def running_part(running: np.ndarray, reference: Array) -> Part | None:
    """The smallest rectangle that holds every running problem of `running` (R, S); None when that is all of it.

    Within a run the running problems come first; runs with fewer of them repeat finished ones to fill their row.
    """
    R, S = running.shape
    runs = np.flatnonzero(running.any(axis=1))
    # At least two columns: with one, products of matrices become products with a vector, which round otherwise, and a
    # run would not be the same alone as in a batch.
    n_columns = min(S, max(2, int(running.sum(axis=1).max())))
    if len(runs) == R and n_columns == S:
        return None
    columns = (~running[runs]).argsort(axis=1, kind="stable")[:, :n_columns]
    return Part(
        rows=like(runs[:, None], reference),
        columns=like(columns, reference),
        runs=None if len(runs) == R else like(runs, reference),
    )
