"""The statistics that the studies share: tests of samples, corrections for their number, intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from surefoot.errors import InvalidInputError

LEVEL = 0.05  # of the paper's tests

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


def mann_whitney(a: np.ndarray, b: np.ndarray) -> float:
    """Two-sided p-value of Mann and Whitney's test of independent samples; exact where no two values are equal."""
    from scipy.stats import mannwhitneyu

    both = np.concatenate([a, b])
    if np.ptp(both) == 0.0:
        return 1.0
    ties = len(np.unique(both)) < len(both)
    return float(mannwhitneyu(a, b, method="asymptotic" if ties else "exact").pvalue)


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


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """p-values corrected so that a level bounds the rate of false discoveries; NaN entries are not tests and stay."""
    corrected = np.full(p.shape, np.nan)
    tests = np.flatnonzero(~np.isnan(p))
    order = tests[np.argsort(p[tests])[::-1]]  # from the largest down
    m = len(order)
    running = 1.0
    for rank, i in enumerate(order):
        running = min(running, float(p[i]) * m / (m - rank))
        corrected[i] = running
    return corrected


CORRECTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": np.asarray,
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
}


def paired_t(a: np.ndarray, b: np.ndarray) -> float:
    """Two-sided p-value of the paired t-test; 1 if the samples are equal throughout, 0 if they differ by a constant."""
    from scipy.special import stdtr

    gap = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    m = len(gap)
    if m < 2 or not np.all(np.isfinite(gap)):
        raise InvalidInputError(f"expected at least two pairs of finite numbers; got differences {gap}; try more seeds")
    if np.ptp(gap) == 0.0:
        return float(gap[0] == 0.0)
    t = float(np.mean(gap) / (np.std(gap, ddof=1) / math.sqrt(m)))
    return float(2.0 * stdtr(m - 1, -abs(t)))


def wilson(k: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of which k of n were seen."""
    z = 1.959963984540054  # the 97.5 % quantile of the normal distribution
    share, spread = k / n, z * z / n
    centre = (share + spread / 2.0) / (1.0 + spread)
    half = z / (1.0 + spread) * math.sqrt(share * (1.0 - share) / n + spread / (4.0 * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def cohen_kappa(a: Sequence[int], b: Sequence[int]) -> float:
    """Agreement of two raters beyond chance: 1 all, 0 what raters with such frequencies share by chance; else NaN."""
    one, other = np.asarray(a), np.asarray(b)
    by_chance = sum(float(np.mean(one == code) * np.mean(other == code)) for code in set(one) | set(other))
    return math.nan if by_chance == 1.0 else (float(np.mean(one == other)) - by_chance) / (1.0 - by_chance)


def standard_error(values: np.ndarray) -> np.ndarray:
    """Of the mean over the first axis."""
    return np.asarray(np.std(values, axis=0, ddof=1) / np.sqrt(len(values)))
