"""More evaluations than an exact process can hold: which of them the processes are conditioned on.

Purpose   An exact process of n points costs O(n^3). Above `most` points it holds `most` of them, so that a step costs
          O(n), and is exact where it matters: beside the best points, and wherever the search wants to go.
Held      of the successes a quarter are the best, a quarter the nearest to the very best, in length scales; the others
          fill the space: each is the farthest from all before, of POOL that are taken evenly from the history.
Closer    Where evaluations were left out the process sees gaps that are none. So those nearest to the proposals of a
          search join it, and the search is made again, until the best proposal has no neighbour that was left out
          (suggest.py).
Shapes    X (R, n, D) in the unit cube, worth (R, n), rates (R, D), rows (R, most), on the host.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from surefoot.backend import Array, on_cuda
from surefoot.engine.batch import Batch
from surefoot.numerics.subsets import spread

MOST, MOST_ON_GPU = 1000, 10_000  # points of an exact process, where nothing else is asked for
POOL = 2000  # evaluations that those which fill the space are taken from
ROUNDS = 3  # searches with evaluations that the one before had left out
PER_PROPOSAL = 16  # neighbours of each proposal that join in a round
REFITS = 200  # of the hyperparameters while the history doubles


def most_points(asked: int, reference: Array) -> int:
    """How many points a process holds; asked 0: as many as suit the machine."""
    return asked or (MOST_ON_GPU if on_cuda(reference) else MOST)


def held(batch: Batch, worth: np.ndarray, rates: np.ndarray | None, most: int) -> np.ndarray | None:
    """(R, most) the evaluations that the processes hold, in their order; None: all. Small worth is good."""
    if int(batch.ok.sum(axis=1).max()) <= most:
        return None
    scales = np.ones((len(batch.X), batch.X.shape[2])) if rates is None else rates
    return np.stack([_held(X * s, ok, w, most) for X, s, ok, w in zip(batch.X, scales, batch.ok, worth, strict=True)])


def left_out_near(batch: Batch, rows: np.ndarray, proposals: np.ndarray, rates: np.ndarray) -> np.ndarray | None:
    """(R, k) successes outside `rows` that are nearest to the proposals (R, q, D); None: no best one has any near.

    Every proposal has as many: its nearest, then its second nearest, and so on.
    """
    found, is_near = [], False
    k = PER_PROPOSAL * proposals.shape[1]
    for X, ok, own, x, s in zip(batch.X, batch.ok, rows, proposals, rates, strict=True):
        outside = ok.copy()
        outside[own] = False
        others = np.flatnonzero(outside)
        if len(others) < k:
            return None
        distance = cdist(x * s, X[others] * s)  # (q, m)
        is_near |= bool(distance[0].min() < cdist(x[:1] * s, X[own[ok[own]]] * s).min())
        near = np.argpartition(distance, PER_PROPOSAL - 1, axis=1)[:, :PER_PROPOSAL]
        rank = np.full(len(others), PER_PROPOSAL)
        for row, columns in zip(distance, near, strict=True):
            order = columns[np.argsort(row[columns], kind="stable")]
            rank[order] = np.minimum(rank[order], np.arange(PER_PROPOSAL))
        first = np.lexsort((distance.min(axis=0), rank))[:k]
        found.append(np.sort(others[first]))
    return np.stack(found) if is_near else None


def _held(X: np.ndarray, ok: np.ndarray, worth: np.ndarray, most: int) -> np.ndarray:
    """Rows of one run; X in length scales."""
    good = np.flatnonzero(ok)
    if len(good) <= most:  # beside runs with more successes: failed ones fill the rows, masked
        return np.sort(np.concatenate([good, np.flatnonzero(~ok)[: most - len(good)]]))
    quarter = most // 4
    order = good[np.argsort(worth[good], kind="stable")]
    n_best = max(1, quarter)
    best, rest = order[:n_best], order[n_best:]
    near = np.argsort(((X[rest] - X[best[0]]) ** 2).sum(axis=1), kind="stable")[:quarter]
    chosen = np.concatenate([best, rest[near]])
    left = np.sort(np.delete(rest, near))
    n_more = most - len(chosen)
    pool = np.asarray(spread(left.tolist(), max(POOL, n_more)))
    more = pool if len(pool) == n_more else pool[_far_apart(X[pool], X[chosen], n_more)]  # all, at 10 000 on a GPU
    return np.sort(np.concatenate([chosen, more]))


def _far_apart(X: np.ndarray, taken: np.ndarray, k: int) -> np.ndarray:
    """k of the points X, each the farthest from those taken before."""
    nearest = cdist(X, taken, "sqeuclidean").min(axis=1)
    chosen = np.empty(k, int)
    for i in range(k):
        chosen[i] = farthest = int(np.argmax(nearest))
        np.minimum(nearest, ((X - X[farthest]) ** 2).sum(axis=1), out=nearest)
        nearest[farthest] = -1.0
    return chosen
