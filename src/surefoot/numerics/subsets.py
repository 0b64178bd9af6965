"""Some of many, evenly: which points a search for hyperparameters looks at when all of them would be too many."""

from __future__ import annotations

from collections.abc import Sequence


def spread(items: Sequence[int], k: int) -> list[int]:
    """k of the items, evenly from the first to the last; all of them if they are not more."""
    if len(items) <= k:
        return list(items)
    return [items[round(i * (len(items) - 1) / max(k - 1, 1))] for i in range(k)]


def balanced(labels: Sequence[float], k: int) -> list[int]:
    """Indices of k labels +1 or -1 in their order, with as many of the rarer as fit in half; 0 (padding) comes last."""
    few, many = sorted(([i for i, v in enumerate(labels) if v == sign] for sign in (1.0, -1.0)), key=len)
    few = spread(few, k // 2)
    keep = few + spread(many, k - len(few))
    keep += [i for i, v in enumerate(labels) if v == 0.0][: k - len(keep)]
    return sorted(keep)
