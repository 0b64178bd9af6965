"""The prior of length scales: its gradient, and what it does to a fit."""

import math

import numpy as np
import pytest

from surefoot.gp.hyperparameters import fit
from surefoot.gp.kernels import KERNELS
from surefoot.gp.likelihood import make_data
from surefoot.gp.priors import PRIORS, SHORT, none, short_scales
from surefoot.gp.regression import Regression

MATERN = KERNELS["matern52"]


def scales(X, y, prior):
    d = X.shape[-1]
    draws = np.random.default_rng(0).random((1, 8, d + 1))
    y = (y - y.mean()) / y.std()
    return np.exp(
        fit(Regression(make_data(X[None], y[None]), MATERN, estimate_noise=True, prior=prior), draws).theta[0]
    )


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS.keys())
def test_the_gradient_is_that_of_the_penalty(prior):
    theta = np.random.default_rng(1).normal(-2.0, 1.5, (2, 5, 4))
    _, gradient = prior(theta)
    for i in range(4):
        step = np.zeros(4)
        step[i] = 1e-6
        slope = (prior(theta + step)[0] - prior(theta - step)[0]) / 2e-6
        np.testing.assert_allclose(gradient[..., i], slope, atol=1e-6)


def test_only_short_scales_are_penalized():
    d = 4
    at = math.log(SHORT * math.sqrt(d))
    long, short = np.full((1, 1, d + 1), at + 0.1), np.full((1, 1, d + 1), at - 0.1)
    long[..., -1] = short[..., -1] = -30.0  # the noise ratio is nobody's business
    assert short_scales(long)[0].item() == 0.0
    assert short_scales(short)[0].item() > 0.0


@pytest.mark.parametrize("seed", range(4))
def test_what_is_noise_is_explained_with_longer_scales(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.random((60, 5)), rng.standard_normal(60)
    assert scales(X, y, short_scales)[:5].min() > 1.3 * scales(X, y, none)[:5].min()


def test_a_function_that_does_vary_quickly_is_still_learned():
    X = np.linspace(0.0, 1.0, 60)[:, None]
    y = np.sin(2.0 * math.pi * 12.0 * X[:, 0])
    short, free = scales(X, y, short_scales), scales(X, y, none)
    assert short[0] < 0.1
    np.testing.assert_allclose(short[0], free[0], rtol=0.2)


def test_where_scales_are_long_anyway_it_is_maximum_likelihood(make_set):
    X, y = make_set(1, 30, 2)
    np.testing.assert_allclose(scales(X[0], y[0], short_scales), scales(X[0], y[0], none), rtol=1e-6)
