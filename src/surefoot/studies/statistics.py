"""The statistics that studies share.

Distances are best-so-far log10 distances to the least value [NH18, Sec. 4], (seeds, evaluations) for each problem and
policy. Seeds are paired: all policies of a seed start from the same design. A label sums up a paired t-test of
ScaledEI against another policy: 1 ScaledEI is significantly better (nearer), -1 worse, 0 neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from surefoot.errors import InvalidInputError, UnknownNameError

Distances = Mapping[tuple[str, str], np.ndarray]
"""(problem, policy) -> best-so-far log10 distances (seeds, evaluations)."""

Labels = dict[tuple[str, str], int]
"""(problem, policy) -> 1, 0 or -1."""

Key = TypeVar("Key")

OUTCOMES = {"same": 0, "better": 1, "worse": -1}  # the paper's rows of totals, and the label that each counts
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


@dataclass(frozen=True)
class Comparison:
    """A paired t-test of two policies on one problem."""

    difference: float  # mean log10 distance of ours less theirs: negative if ours is nearer
    p: float


def compare(distances: Distances, n: int, ours: str = "ScaledEI") -> dict[tuple[str, str], Comparison]:
    """Test `ours` against every other policy on every problem after n evaluations [NH18, Sec. 5]."""
    found = {}
    for (problem, policy), theirs in distances.items():
        if policy == ours:
            continue
        mine = distances.get((problem, ours))
        if mine is None:
            raise InvalidInputError(f"expected distances of {ours} on {problem}; got none; try another `ours`")
        for name, values in ((ours, mine), (policy, theirs)):
            if values.ndim != 2 or values.shape[0] != mine.shape[0] or not 1 <= n <= values.shape[1]:
                raise InvalidInputError(
                    f"expected {mine.shape[0]} seeds and at least {n} evaluations of {name} on {problem}; "
                    f"got shape {values.shape}; try a smaller n, or the same seeds for all policies"
                )
        a, b = mine[:, n - 1], theirs[:, n - 1]
        found[problem, policy] = Comparison(float(np.mean(a - b)), paired_t(a, b))
    return found


def labels(comparisons: Mapping[tuple[str, str], Comparison], correction: str = "none", level: float = LEVEL) -> Labels:
    """The tests as labels, at that level; the paper's have no correction for their number."""
    if correction not in CORRECTIONS:
        known = ", ".join(CORRECTIONS)
        raise UnknownNameError(f"expected a correction among {known}; got {correction!r}; try holm")
    corrected = CORRECTIONS[correction](np.asarray([c.p for c in comparisons.values()]))
    return {
        key: int(-np.sign(c.difference)) if p < level else 0
        for (key, c), p in zip(comparisons.items(), corrected, strict=True)
    }


def totals(found: Labels) -> dict[tuple[str, str], float]:
    """(outcome, policy) -> share of the problems: the rows Same, Better, Worse of the paper's tables."""
    columns: dict[str, list[int]] = {}
    for (_, policy), label in found.items():
        columns.setdefault(policy, []).append(label)
    return {
        (outcome, policy): column.count(code) / len(column)
        for outcome, code in OUTCOMES.items()
        for policy, column in columns.items()
    }


@dataclass(frozen=True)
class Agreement:
    """How many labels of two tables are equal, with Wilson's 95 % interval of the share."""

    equal: int
    n: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share of equal labels."""
        return self.equal / self.n


def agreement(a: Mapping[Key, int], b: Mapping[Key, int]) -> Agreement:
    """Compare the labels that both tables have."""
    common = [key for key in a if key in b]
    if not common:
        raise InvalidInputError(
            "expected two tables with cells in common; got none; try the same problems and policies"
        )
    equal = sum(a[key] == b[key] for key in common)
    return Agreement(equal, len(common), *wilson(equal, len(common)))


def wilson(k: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of which k of n were seen."""
    z = 1.959963984540054  # the 97.5 % quantile of the normal distribution
    share, spread = k / n, z * z / n
    centre = (share + spread / 2.0) / (1.0 + spread)
    half = z / (1.0 + spread) * math.sqrt(share * (1.0 - share) / n + spread / (4.0 * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def standard_error(values: np.ndarray) -> np.ndarray:
    """Of the mean over the first axis."""
    return np.asarray(np.std(values, axis=0, ddof=1) / np.sqrt(len(values)))
