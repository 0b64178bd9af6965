"""Which labels a failure model needs: above what it keeps (failures/registry.py), the new ones.

Purpose   A model of n labels costs O(n^3), and labels are many: all evaluations, not only the successes. Most repeat
          what their neighbours say: successes crowd round the optimum.
Rule      same  = distance to the nearest earlier label of the same kind;
          rho   = same / distance to the nearest label of the other kind.
          A small `same` repeats a neighbour, a small rho does so far from the boundary. Labels are ranked by both
          within their kind, and dropped when both ranks are low: the map at large and the boundary keep theirs.
          Of both kinds the same share is dropped: where failures are random their rate stays what it was.
How many  A classifier keeps 300, the experts 200; label regression, which averages labels and notices more, keeps all
          but a fifth.
Pool      Of more than POOL labels that many are looked at, of both kinds the same share, evenly from the history:
          distances between all of 10 000 would take a gigabyte.
Shapes    X (R, n, d) in the unit cube, failed and seen (R, n), indices (R, keep), all on the host.
"""

from __future__ import annotations

import numpy as np

from surefoot.backend import sq_distances
from surefoot.numerics.subsets import spread

POOL = 3000


def informative(
    X: np.ndarray, failed: np.ndarray, seen: np.ndarray | None, inv_ell: np.ndarray | None, keep: int
) -> np.ndarray:
    """Indices of the labels to keep, in their order; inv_ell (R, d): distances count in these length scales."""
    rows = []
    for r in range(X.shape[0]):
        scaled = X[r] if inv_ell is None else X[r] * inv_ell[r]
        known = np.ones(len(scaled), bool) if seen is None else seen[r]
        rows.append(_of_one_run(scaled, failed[r], known, keep))
    return np.stack(rows)


def _of_one_run(X: np.ndarray, failed: np.ndarray, seen: np.ndarray, keep: int) -> np.ndarray:
    if len(X) > POOL:
        pool = _evenly(failed, seen, POOL)
        return np.asarray(pool[_of_one_run(X[pool], failed[pool], seen[pool], keep)])
    bad, good, unseen = (np.flatnonzero(kind) for kind in (failed & seen, ~failed & seen, ~seen))
    across = sq_distances(X[None, bad], X[None, good])[0]
    place = np.empty(len(X))  # of a label among its kind: first 0, last 1; what was not seen comes after all
    place[unseen] = 1.0 + np.arange(len(unseen))
    for members, axis in ((bad, 1), (good, 0)):
        among = sq_distances(X[None, members], X[None, members])[0]
        earlier = np.tri(len(members), k=-1, dtype=bool)  # the first of its kind has none, and stays
        same = np.where(earlier, among, np.inf).min(axis=1, initial=np.inf)
        rho = same / np.maximum(across.min(axis=axis, initial=np.finfo(float).max), 1e-300)
        best = np.minimum(_places(same), _places(rho))
        place[members] = _places(-best)
    return np.sort(np.argsort(place, kind="stable")[:keep])


def _evenly(failed: np.ndarray, seen: np.ndarray, k: int) -> np.ndarray:
    """k labels in their order, of every kind the same share, rounded up for the rarer; unseen ones fill up."""
    rare, common = sorted((np.flatnonzero(kind & seen) for kind in (failed, ~failed)), key=len)
    few = spread(rare.tolist(), int(np.ceil(k * len(rare) / max(1, len(rare) + len(common)))))
    many = spread(common.tolist(), k - len(few))
    rest = np.flatnonzero(~seen)[: k - len(few) - len(many)]
    return np.sort(np.concatenate([few, many, rest]).astype(int))


def _places(values: np.ndarray) -> np.ndarray:
    """The place of each value in descending order, from 0 to 1; ties by position."""
    places = np.empty(len(values))
    places[np.argsort(-values, kind="stable")] = (np.arange(len(values)) + 0.5) / max(1, len(values))
    return places
