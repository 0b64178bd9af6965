"""P(all outputs within their limits): a product, with exact gradients, of some runs as of all."""

import numpy as np
import pytest

from surefoot.gp.kernels import MATERN52, per_run
from surefoot.gp.likelihood import make_data
from surefoot.gp.posterior import condition
from surefoot.gp.within import Within
from surefoot.numerics.normal import log_interval

RNG = np.random.default_rng(0)
R, K, N, D = 2, 3, 12, 2
X = RNG.random((R, N, D))
THETA = np.log(np.asarray([[0.4, 0.6, 1e-6]]))


@pytest.fixture(scope="module")
def within():
    """Three outputs of two runs: an upper limit, a lower one, and both."""
    rows = np.concatenate([X] * K)
    y = np.sin(5.0 * rows[..., 0] + np.arange(K * R)[:, None]) + rows[..., 1]
    surrogate = condition(make_data(rows, y), np.repeat(THETA, K * R, axis=0), per_run((MATERN52,) * (K * R)))
    lower = np.repeat([-np.inf, 0.2, 0.0], R)[:, None]
    upper = np.repeat([0.8, np.inf, 0.7], R)[:, None]
    return Within(surrogate, lower, upper, R)


def points(m=5):
    return np.random.default_rng(1).random((R, m, D))


def central(function, x, h=1e-6):
    slopes = []
    for i in range(D):
        step = np.zeros(D)
        step[i] = h
        slopes.append((function(x + step) - function(x - step)) / (2.0 * h))
    return np.stack(slopes, axis=-1)


def test_it_is_the_sum_of_the_logarithms_of_each_output(within):
    x = points()
    mu, sd = within.surrogate.moments(np.concatenate([x] * K))
    each, _, _ = log_interval((within.lower - mu) / sd, (within.upper - mu) / sd)
    np.testing.assert_allclose(within.log_p(x), each[0:2] + each[2:4] + each[4:6], rtol=1e-14)


def test_its_gradient_is_that_of_its_value(within):
    x = points()
    value, gradient = within.log_p_and_gradient(x)
    np.testing.assert_allclose(value, within.log_p(x), rtol=1e-12)
    np.testing.assert_allclose(gradient, central(within.log_p, x), rtol=1e-5, atol=1e-6)


def test_the_gradient_of_the_slack_is_that_of_its_value(within):
    x = points()
    _, gradient = within.slack_and_gradient(x, 1.5)
    finite = [1, 2, 3, 5]  # lower limits of outputs 2 and 3, upper limits of outputs 1 and 3
    slopes = central(lambda at: within.slack_and_gradient(at, 1.5)[0][..., finite], x)
    np.testing.assert_allclose(gradient[:, :, finite], slopes, rtol=1e-5, atol=1e-6)


def test_the_slack_of_a_limit_that_is_not_there_is_infinite(within):
    slack, _ = within.slack_and_gradient(points(), 2.0)
    assert (slack[..., [0, 4]] == np.inf).all()


@pytest.mark.parametrize("runs", [slice(1, 2), np.asarray([1])])
def test_that_of_one_run_is_the_same_as_among_all(within, runs):
    x = points()
    np.testing.assert_allclose(within.select(runs).log_p(x[1:2]), within.log_p(x)[1:2], rtol=1e-12)


def test_a_believed_point_makes_it_surer_there_and_leaves_the_mean(within):
    x = points(1)
    before, after = (w.surrogate.moments(np.concatenate([x] * K)) for w in (within, within.add_points(x)))
    np.testing.assert_allclose(after[0], before[0], atol=1e-6)
    assert (after[1] < 0.1 * before[1]).all()


def test_rates_are_those_of_the_output_that_varies_fastest(within):
    np.testing.assert_allclose(within.rates, np.exp(-THETA[:, :D]).repeat(R, axis=0))


def test_its_cheap_bound_is_nowhere_below_it(within):
    x = points(200)
    assert (within.log_p_bound(x) >= within.log_p(x) - 1e-12).all()


def test_its_cheap_bound_tells_points_far_outside(within):
    x = points(200)
    far = within.log_p(x) < -20.0
    assert far.any()
    assert (within.log_p_bound(x)[far] < -10.0).mean() > 0.5
