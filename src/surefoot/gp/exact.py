"""The exact Gaussian process as a family of surrogates."""

from __future__ import annotations

from surefoot.gp.posterior import condition
from surefoot.gp.regression import Regression
from surefoot.gp.surrogate import Family, Question


def _evidence(asked: Question) -> Regression:
    return Regression(asked.data, asked.kernel, asked.estimate_noise, asked.prior, asked.n_history)


def _n_hyperparameters(d: int) -> int:
    return d + 1  # length scales and noise


EXACT = Family("exact", _evidence, condition, _n_hyperparameters)
