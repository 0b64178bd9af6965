"""Failure models by name: how P(success | x) is learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from surefoot.backend import Array
from surefoot.failures import expectation_propagation, experts, label_regression, laplace
from surefoot.failures.classification import FitLabels
from surefoot.failures.classification import log_success as probit
from surefoot.gp.hyperparameters import Fit, FitState
from surefoot.gp.likelihood import Data
from surefoot.gp.probability import Latent, Link, Probability
from surefoot.registry import add_new

MAX_LABELS = 300  # above, labels that say nothing new are left out


def _all_but_a_fifth(n: int) -> int:
    return max(MAX_LABELS, 4 * n // 5)


def _at_most(_: int) -> int:
    return MAX_LABELS


def _scales_and_another(d: int) -> int:
    return d + 1  # noise or amplitude


def _at_most_200(_: int) -> int:
    return 200


FitSuccess = Callable[[Data, Array, FitState | None, int], tuple[Probability, Fit]]
"""Labels, host draws (R, k, p) for a cold search, the last fit's state, evaluations so far -> P(success), fit."""


@dataclass(frozen=True)
class FailureModel:
    """How a model of the labels is fitted."""

    name: str
    fit: FitSuccess | None  # None: run by run, with a map for each kind of reason (failures/several.py)
    keeps: Callable[[int], int] = _at_most  # to how many of n labels it is fitted; thinning.py says which
    n_hyperparameters: Callable[[int], int] = _scales_and_another  # of d inputs
    begins_with_scales: bool = True  # whether the first d of them are logarithms of length scales
    least: float = 0.5  # P(success) below which points are avoided, where the user says nothing

    @property
    def tells_kinds(self) -> bool:
        """Whether it makes a difference of what kind a failure is."""
        return self.fit is None


def latent(fit: FitLabels, link: Link) -> FitSuccess:
    """The fit of a model that is one process of the labels, of which `link` reads log P(success)."""

    def fitted(labels: Data, uniforms: Array, state: FitState | None, n_history: int) -> tuple[Probability, Fit]:
        surrogate, found = fit(labels, uniforms, state, n_history)
        return Latent(surrogate, link), found

    return fitted


_BY_REGRESSION = latent(label_regression.failure_model, label_regression.log_success)

FAILURE_MODELS = {
    model.name: model
    for model in (
        FailureModel("label-regression", _BY_REGRESSION, _all_but_a_fifth),
        FailureModel("laplace", latent(laplace.failure_model, probit)),
        FailureModel("ep", latent(expectation_propagation.failure_model, probit)),
        FailureModel("experts", None, _at_most_200, experts.n_hyperparameters, least=0.7),
    )
}
NO_MODEL = ("impute", "ignore")  # baselines: the worst value seen in place of the missing one; nothing at all


def register_failure_model(model: FailureModel) -> None:
    """Make `failures=name` available."""
    add_new(FAILURE_MODELS, model, FailureModel, "failure model", ("fit", "keeps", "n_hyperparameters"), NO_MODEL)
