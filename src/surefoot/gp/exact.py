"""The exact Gaussian process as a family of surrogates, and the families by name."""

from __future__ import annotations

from surefoot.gp.posterior import condition
from surefoot.gp.regression import Regression
from surefoot.gp.surrogate import Family, Question


def _evidence(asked: Question) -> Regression:
    return Regression(asked.data, asked.kernel, asked.estimate_noise, asked.prior, asked.n_history)


EXACT = Family("exact", _evidence, condition, lambda d: d + 1)
