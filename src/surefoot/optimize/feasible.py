"""Which evaluations lie within the limits on outputs, and which of all is the best."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot.optimize.history import History
from surefoot.optimize.limits import limits_of


def violations(history: History, outputs: Mapping[str, str]) -> np.ndarray:
    """How far each limited output of each evaluation lies outside its limits, (k, n): 0 inside, NaN not computed."""
    values = history.limited(outputs)
    if values is None:
        return np.zeros((0, len(history)))
    return np.stack([limit.violation(values[0, j]) for j, limit in enumerate(limits_of(outputs))])


def feasible(history: History, outputs: Mapping[str, str]) -> np.ndarray:
    """Which evaluations succeeded within all limits, (n,): NaN is not within, nor what violates a known constraint."""
    return np.asarray(history.counts & (violations(history, outputs) <= 0.0).all(axis=0))


def best_place(history: History, sign: float, outputs: Mapping[str, str]) -> int | None:
    """The place of the best feasible evaluation; of the one least outside where none is; None without a success."""
    if not history.counts.any():
        return None
    inside = feasible(history, outputs)
    if inside.any():
        return int(np.argmin(np.where(inside, sign * history.y, np.inf)))
    return int(least_outside(history, sign, outputs)[0])


def least_outside(history: History, sign: float, outputs: Mapping[str, str]) -> np.ndarray:
    """The places of the successes, the one least outside first; of those that are equally far, the best."""
    ok = history.counts
    far = how_far_outside(history, outputs)
    order = np.lexsort((np.where(ok, sign * history.y, np.inf), far, ~ok))
    return np.asarray(order[: ok.sum()])


def how_far_outside(history: History, outputs: Mapping[str, str]) -> np.ndarray:
    """The sum of the violations of each success, each in standard deviations of its output, (n,).

    Infinite where an output was not computed or the evaluation failed.
    """
    values, outside = history.limited(outputs), violations(history, outputs)
    if values is None:  # no limits
        return np.where(history.counts, 0.0, np.inf)
    known = [row[np.isfinite(row)] for row in values[0]]
    spread = np.asarray([row.std() if len(row) and row.std() > 0.0 else 1.0 for row in known])[:, None]
    total = np.where(np.isnan(outside), np.inf, outside / spread).sum(axis=0)
    return np.where(history.counts, total, np.inf)
