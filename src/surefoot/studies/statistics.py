"""The statistics that studies share."""

from __future__ import annotations

import numpy as np

FLOOR = 1e-12  # distances below it count as this: the feasible minima of some problems are known no better


def log10_regret(best: np.ndarray, f_star: float) -> np.ndarray:
    """log10 of the distance to f_star; a run without a success has regret of the largest power shown, 3."""
    distance = np.maximum(np.abs(best - f_star), FLOOR)
    return np.where(np.isfinite(best), np.log10(np.where(np.isfinite(distance), distance, 1.0)), 3.0)


def wilcoxon(a: np.ndarray, b: np.ndarray) -> float:
    """Two-sided p-value of Wilcoxon's signed rank test of paired samples; 1 if they are equal throughout."""
    from scipy.stats import wilcoxon as test

    if np.all(a == b):
        return 1.0
    return float(test(a, b, zero_method="zsplit").pvalue)


def holm(p: np.ndarray) -> np.ndarray:
    """p-values corrected for multiplicity after Holm; NaN entries are not tests and stay."""
    corrected = np.full(p.shape, np.nan)
    tests = np.flatnonzero(~np.isnan(p))
    order = tests[np.argsort(p[tests])]
    running = 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, (len(order) - rank) * float(p[i])))
        corrected[i] = running
    return corrected


def binomial_interval(hits: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's confidence interval of a probability, from hits of n."""
    from scipy.stats import beta

    tail = 0.5 * (1.0 - level)
    low = float(beta.ppf(tail, hits, n - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1.0 - tail, hits + 1, n - hits)) if hits < n else 1.0
    return low, high


def standard_error(values: np.ndarray) -> np.ndarray:
    """Of the mean over the first axis."""
    return np.asarray(np.std(values, axis=0, ddof=1) / np.sqrt(len(values)))
