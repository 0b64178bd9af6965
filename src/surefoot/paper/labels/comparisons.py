"""From distances to labels: paired t-tests of ScaledEI against every other policy.

Distances are best-so-far log10 distances to the least value [NH18, Sec. 4], (seeds, evaluations) for each problem and
policy. Seeds are paired: all policies of a seed start from the same design. A label sums up one test: 1 ScaledEI is
significantly better (nearer), -1 worse, 0 neither.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.paper.statistics import CORRECTIONS, LEVEL, cohen_kappa, paired_t, wilson

Distances = Mapping[tuple[str, str], np.ndarray]
"""(problem, policy) -> best-so-far log10 distances (seeds, evaluations)."""

Labels = dict[tuple[str, str], int]
"""(problem, policy) -> 1, 0 or -1."""

NAIVE = "RND"  # the policy that every other beats

OUTCOMES = {"same": 0, "better": 1, "worse": -1}  # the paper's rows of totals, and the label that each counts


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
    kappa: float  # Cohen's, of the cells beside RND: better than random search is no news, and raises the share
    n_significant: int  # labels of the second table beside RND that are not 0 ...
    n_found: int  # ... and how many of them the first has too

    @property
    def share(self) -> float:
        """The share of equal labels."""
        return self.equal / self.n


def agreement(a: Labels, b: Labels) -> Agreement:
    """Compare the labels that both tables have."""
    common = [key for key in a if key in b]
    if not common:
        raise InvalidInputError(
            "expected two tables with cells in common; got none; try the same problems and policies"
        )
    equal = sum(a[key] == b[key] for key in common)
    pairs = [(a[key], b[key]) for key in common if key[1] != NAIVE]
    kappa = cohen_kappa(*zip(*pairs, strict=True)) if pairs else math.nan
    significant = [one == other for one, other in pairs if other != 0]
    return Agreement(equal, len(common), *wilson(equal, len(common)), kappa, len(significant), sum(significant))
