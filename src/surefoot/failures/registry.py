"""Failure models by name: how P(success | x) is learned, and how it is read off the model's moments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from surefoot.backend import Array
from surefoot.failures import expectation_propagation, label_regression, laplace
from surefoot.failures.classification import log_success as probit
from surefoot.gp.fit import Fit
from surefoot.gp.posterior import Posterior

MAX_LABELS = 300  # above, labels that say nothing new are left out

Link = Callable[[Array, Array], tuple[Array, Array, Array]]


@dataclass(frozen=True)
class FailureModel:
    """A fit of the labels, and the link from the posterior's moments to log P(success) with its partials.

    keeps: to how many of n > MAX_LABELS labels it is fitted (optimize/thinning.py says to which).
    """

    fit: Callable[..., tuple[Posterior, Fit]]
    link: Link
    keeps: Callable[[int], int]


def _all_but_a_fifth(n: int) -> int:
    return max(MAX_LABELS, 4 * n // 5)


def _at_most(_: int) -> int:
    return MAX_LABELS


FAILURE_MODELS = {
    "label-regression": FailureModel(label_regression.failure_model, label_regression.log_success, _all_but_a_fifth),
    "laplace": FailureModel(laplace.failure_model, probit, _at_most),
    "ep": FailureModel(expectation_propagation.failure_model, probit, _at_most),
}
NO_MODEL = ("impute", "ignore")  # baselines: the worst value seen in place of the missing one; nothing at all
