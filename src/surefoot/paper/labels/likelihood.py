"""How likely the paper's labels are if its runs were like ours.

Model     For each comparison our m seeds are drawn with replacement in groups of five, the paper's number of runs; the
          share of the groups whose paired t-test has a label is that label's probability. All groups are enumerated: no
          random numbers.
Smoothing An outcome that no group has must not rule a reading out: P = (5 p + 1/3) / 6, as if one seed in six could
          say anything.
Constants What knows nothing of problems and policies but how often the paper has each label; fitted to those labels.
Mixture   w p + (1 - w) constants, with the likeliest w: how much our runs add to the constants. w = 0: nothing.
Shapes    gaps (m,) are paired differences of log10 distances; probabilities (3,) of the labels -1, 0, 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement

import numpy as np

from surefoot.paper.statistics import LEVEL

GROUP = 5  # runs of each policy in the paper
LABELS = (-1, 0, 1)
SMOOTHING = 1.0 / (GROUP + 1.0)


@cache
def _groups(m: int) -> tuple[np.ndarray, np.ndarray]:
    """All groups of five among m seeds (k, 5), and how likely each is to be drawn (k,)."""
    groups = np.asarray(list(combinations_with_replacement(range(m), GROUP)))
    counts = np.stack([(groups == seed).sum(axis=1) for seed in range(m)], axis=1)
    factorials = np.asarray([math.factorial(k) for k in range(GROUP + 1)])
    orders = math.factorial(GROUP) / np.prod(factorials[counts], axis=1)
    return groups, orders / float(m) ** GROUP


def label_probabilities(gaps: np.ndarray) -> np.ndarray:
    """Probabilities (3,) of the labels of groups of five, from the differences (ours less theirs) of all seeds (m,)."""
    from scipy.special import stdtr

    groups, weights = _groups(len(gaps))
    drawn = gaps[groups]  # (k, 5)
    mean, sd = drawn.mean(axis=1), drawn.std(axis=1, ddof=1)
    constant = np.ptp(drawn, axis=1) == 0.0  # then p is 0, or 1 where nothing differs
    t = mean / np.where(constant, 1.0, sd / math.sqrt(GROUP))
    p = np.where(constant, np.where(mean == 0.0, 1.0, 0.0), 2.0 * stdtr(GROUP - 1, -np.abs(t)))
    label = np.where(p < LEVEL, -np.sign(mean), 0.0)
    return np.asarray([weights[label == code].sum() for code in LABELS])


def smoothed(probabilities: np.ndarray) -> np.ndarray:
    """Probabilities (..., 3) of which none is 0."""
    return np.asarray((1.0 - SMOOTHING) * probabilities + SMOOTHING / len(LABELS))


def constants(found: Sequence[int]) -> np.ndarray:
    """How often each label occurs, (3,)."""
    return np.asarray([np.mean(np.asarray(found) == code) for code in LABELS])


def log_likelihoods(probabilities: np.ndarray, found: Sequence[int]) -> np.ndarray:
    """log P of each label found (k,), with probabilities (k, 3)."""
    columns = np.asarray(found) + 1
    return np.asarray(np.log(probabilities[np.arange(len(columns)), columns]))


@dataclass(frozen=True)
class Mixture:
    """The likeliest share of our runs beside constants."""

    share: float
    log_likelihood: float


def mix(probabilities: np.ndarray, found: Sequence[int]) -> Mixture:
    """Mix probabilities (k, 3), unsmoothed, with the constants of the labels found (k,)."""
    columns = np.asarray(found) + 1
    p = probabilities[np.arange(len(columns)), columns]
    q = constants(found)[columns]
    share = 0.5
    for _ in range(2000):  # EM: the log-likelihood is concave in the share, and each round raises it
        share = float(np.mean(share * p / (share * p + (1.0 - share) * q)))
    return Mixture(share, float(np.sum(np.log(share * p + (1.0 - share) * q))))
