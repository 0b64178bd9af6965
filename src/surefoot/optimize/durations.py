"""How long evaluations take: in words, and whether those that fail take much longer or shorter than the others."""

from __future__ import annotations

import math

import numpy as np

from surefoot.optimize.history import History

_LEAST = 5  # evaluations of each kind that a median needs
_MATERIAL_S = 0.01  # seconds: below, durations are those of the machinery
_NO_TIME_S = 1e-6  # seconds: what cannot be measured
LEAST_COST = 0.05  # of a failure in successes: a suggestion and an evaluation of the budget are never free
_MUCH = 3.0  # the factor from which on a difference is worth a sentence


def medians(history: History) -> tuple[float, float] | None:
    """Median durations of failures and of successes in seconds; None if too little is known.

    Evaluations without a duration do not count, nor do those that were lost to the machine.
    """
    times: dict[str, list[float]] = {"failed": [], "ok": [], "transient": []}
    for e in history.evaluations:
        if math.isfinite(e.duration_s):
            times[e.status].append(e.duration_s)
    if min(len(times["failed"]), len(times["ok"])) < _LEAST:
        return None
    failed, ok = float(np.median(times["failed"])), float(np.median(times["ok"]))
    return (failed, ok) if max(failed, ok) >= _MATERIAL_S else None


def failure_cost(history: History) -> float | None:
    """What a failure costs, counted in successes: the ratio of the median durations; None if too little is known."""
    found = medians(history)
    return None if found is None else max(found[0], _NO_TIME_S) / max(found[1], _NO_TIME_S)


def weighed_cost(history: History) -> float | None:
    """The same for the policy: at least LEAST_COST, as a failure that costs nothing would be tried for ever."""
    cost = failure_cost(history)
    return None if cost is None else max(cost, LEAST_COST)


def duration_note(history: History) -> str:
    """A sentence where failures are much quicker or slower than successes; otherwise empty."""
    found, ratio = medians(history), failure_cost(history)
    if found is None or ratio is None or 1.0 / _MUCH < ratio < _MUCH:
        return ""
    return f"failures take {duration(found[0])}, successes {duration(found[1])} (medians)"


def duration(seconds: float) -> str:
    """A time with a unit that suits it: 12 ms, 3.4 s, 5 min 20 s, 3 h 5 min."""
    if not math.isfinite(seconds):
        return "–"
    if seconds < 1.0:
        return f"{1e3 * seconds:.3g} ms"
    if seconds < 99.95:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 100:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
