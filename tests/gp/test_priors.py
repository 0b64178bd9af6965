"""The prior of length scales: its gradient, and what it does to a fit."""

import math

import numpy as np
import pytest

from surefoot.gp.hyperparameters import fit
from surefoot.gp.kernels import KERNELS
from surefoot.gp.likelihood import make_data
from surefoot.gp.priors import MIDDLE, PRIORS, SHORT, none, pooled, short_scales, similar_scales
from surefoot.gp.regression import Regression

MATERN = KERNELS["matern52"]


def scales(X, y, prior):
    d = X.shape[-1]
    draws = np.random.default_rng(0).random((1, 8, d + 1))
    y = (y - y.mean()) / y.std()
    return np.exp(
        fit(Regression(make_data(X[None], y[None]), MATERN, estimate_noise=True, prior=prior), draws).theta[0]
    )


def check_gradient(prior, theta):
    _, gradient = prior(theta)
    for i, step in enumerate(1e-6 * np.eye(theta.shape[-1])):
        slope = (prior(theta + step)[0] - prior(theta - step)[0]) / 2e-6
        np.testing.assert_allclose(gradient[..., i], slope, atol=1e-6)


@pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS.keys())
def test_the_gradient_is_that_of_the_penalty(prior):
    check_gradient(prior, np.random.default_rng(1).normal(-2.0, 1.5, (2, 5, 4)))


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


def test_scales_that_are_alike_cost_nothing_more():
    theta = np.full((1, 1, 5), 0.3)
    theta[..., -1] = -30.0
    assert similar_scales(theta)[0].item() == short_scales(theta)[0].item() == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_from_few_points_scales_of_inputs_that_matter_equally_are_more_alike(seed):
    X = np.random.default_rng(seed).random((12, 5))
    y = np.sum((X - 0.4) ** 2, axis=1)
    alike, free = (np.ptp(np.log(scales(X, y, prior)[:5])) for prior in (similar_scales, short_scales))
    assert alike < free


def test_an_input_that_does_not_matter_is_found_out():
    X = np.random.default_rng(0).random((60, 3))
    y = np.sin(6.0 * X[:, 0]) * X[:, 1]
    found = scales(X, y, similar_scales)
    assert found[2] > 5.0 * found[:2].max()


# --- categories

SHARES = np.asarray(
    [[0.0, 0.5, 0.5, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1 / 3, 1 / 3, 1 / 3]]
)  # one number, 2 and 3 choices


def test_the_gradient_with_categories_is_that_of_the_penalty():
    check_gradient(pooled(short_scales, SHARES), np.random.default_rng(2).normal(-1.0, 1.5, (2, 5, 7)))


def test_without_categories_the_prior_is_the_same_object():
    assert pooled(short_scales, None) is short_scales


def test_scales_of_choices_and_of_numbers_are_not_believed_to_be_alike():
    assert pooled(similar_scales, SHARES).prior is short_scales


def test_maximum_likelihood_stays_so_with_categories():
    assert pooled(none, SHARES) is none


def test_the_middle_of_a_category_counts_parameters_and_not_inputs():
    theta = np.full((1, 1, 7), math.log(MIDDLE * math.sqrt(3)))  # three parameters, six inputs
    assert pooled(short_scales, SHARES)(theta)[0].item() == pytest.approx(0.0, abs=1e-12)


def test_a_choice_apart_from_the_others_of_its_category_is_penalized():
    theta = np.full((1, 1, 7), math.log(MIDDLE * math.sqrt(3)))
    theta[..., 3:6] += np.asarray([2.0, -1.0, -1.0])
    assert pooled(short_scales, SHARES)(theta)[0].item() > 2.0


def test_the_scale_of_a_category_that_seems_not_to_matter_does_not_run_away():
    rng = np.random.default_rng(3)
    choices = np.eye(3)[rng.integers(3, size=12)]
    X = np.concatenate([rng.random((12, 1)), choices], axis=1)
    y = np.sin(6.0 * X[:, 0])
    shares = np.asarray([[0.0, 1 / 3, 1 / 3, 1 / 3]])
    free, held = scales(X, y, short_scales)[1:4], scales(X, y, pooled(short_scales, shares))[1:4]
    assert held.max() < 5.0 < free.max()
