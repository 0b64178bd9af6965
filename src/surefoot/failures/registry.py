"""Failure models by name: how P(success | x) is learned, and how it is read off the model's moments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from surefoot.backend import Array
from surefoot.failures import expectation_propagation, label_regression, laplace
from surefoot.failures.classification import log_success as probit
from surefoot.gp.hyperparameters import Fit, FitState
from surefoot.gp.likelihood import Data
from surefoot.gp.surrogate import Surrogate

MAX_LABELS = 300  # above, labels that say nothing new are left out

Link = Callable[[Array, Array], tuple[Array, Array, Array]]
"""Moments of the surrogate -> log P(success) and its partials in them."""


def _all_but_a_fifth(n: int) -> int:
    return max(MAX_LABELS, 4 * n // 5)


def _at_most(_: int) -> int:
    return MAX_LABELS


def _scales_and_another(d: int) -> int:
    return d + 1  # noise or amplitude


@dataclass(frozen=True)
class FailureModel:
    """How a model of the labels is fitted, and how log P(success) is read off its moments."""

    name: str
    # labels, host draws (R, k, p) for a cold search, the last fit's state, evaluations so far -> surrogate, fit
    fit: Callable[[Data, Array, FitState | None, int], tuple[Surrogate, Fit]]
    link: Link
    keeps: Callable[[int], int] = _at_most  # to how many of n > MAX_LABELS labels it is fitted; thinning.py says which
    n_hyperparameters: Callable[[int], int] = _scales_and_another  # of d inputs


FAILURE_MODELS = {
    model.name: model
    for model in (
        FailureModel(
            "label-regression", label_regression.failure_model, label_regression.log_success, _all_but_a_fifth
        ),
        FailureModel("laplace", laplace.failure_model, probit),
        FailureModel("ep", expectation_propagation.failure_model, probit),
    )
}
NO_MODEL = ("impute", "ignore")  # baselines: the worst value seen in place of the missing one; nothing at all
