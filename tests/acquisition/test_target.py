"""Policies weighted by the probability of success [NH18, Eq. 10-11], and label regression."""

import numpy as np
import pytest
from scipy import stats

from surefoot.acquisition import registry
from surefoot.acquisition.registry import PAPER_POLICIES, policy_at
from surefoot.failures.classification import label_data
from surefoot.failures.label_regression import failure_model
from surefoot.numerics.designs import generator, latin_hypercube

MODEL_BASED = [name for name in (*PAPER_POLICIES, "MES-R") if policy_at(name, 0).prepare is not None]
each_policy = pytest.mark.parametrize("name", MODEL_BASED)


def labels(R=1, n=40, d=2, seed=0):
    """Evaluations fail where x_0 > 0.6: points, failed (R, n), and the posterior of the labels."""
    X = np.stack([latin_hypercube(n, d, generator(seed, r, 0)) for r in range(R)])
    failed = (X[..., 0] > 0.6).astype(float)
    uniforms = np.stack([generator(seed, r, 1).random((4, d + 1)) for r in range(R)])
    post, _ = failure_model(label_data(X, failed, None), uniforms, None)
    return X, failed, post


def log_p(success, x):
    h_hat, s_h = success.moments(x)
    return stats.norm.logcdf(-h_hat / s_h)


@pytest.fixture
def weighted(make_posterior, make_target):
    def make(name, R=2, policy=None):
        post, y, f_best = make_posterior(R, 14, 2)
        return make_target(name, post, f_best, labels(R)[2], y.max(axis=1, keepdims=True), policy)

    return make


def test_log_success_is_the_log_probability_that_the_label_is_negative(weighted):
    target = weighted("EI")
    x = np.random.default_rng(0).random((2, 50, 2))
    (weight,) = target.weights
    np.testing.assert_allclose(weight.values(x), log_p(weight.of.surrogate, x), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(weight.probability(x), np.exp(weight.values(x)), rtol=1e-12)


@pytest.mark.parametrize("name", ["PI", "EI", "ScaledEI", "MES"])
def test_the_weighted_value_is_the_product_of_policy_and_probability(name, weighted):
    target = weighted(name)
    x = np.random.default_rng(1).random((2, 30, 2))
    unweighted, _, _ = target.score(*target.surrogate.moments(x))
    expected = np.exp(unweighted) * np.exp(log_p(target.weights[0].of.surrogate, x))
    np.testing.assert_allclose(np.exp(target.values(x)), expected, rtol=1e-9)


@each_policy
def test_gradients_of_the_weighted_value_leave_a_remainder_of_order_two(name, weighted, taylor_order):
    target = weighted(name, R=1)
    rng = np.random.default_rng(2)
    points = rng.uniform(0.05, 0.95, (1, 60, 2))
    value, gradient = target.values_and_gradients(points)
    inside = np.flatnonzero(value[0] > value[0].max() - 15.0)[:6]  # not where a shifted policy is at its floor
    assert len(inside) == 6
    for i in inside:
        x, direction = points[:, i : i + 1], rng.standard_normal(2)

        def along(h, x=x, direction=direction):
            return target.values(x + h * direction)[0, 0]

        assert taylor_order(along, gradient[0, i] @ direction, np.logspace(-4.0, -2.75, 6)) > 1.6


@each_policy
def test_both_forms_give_the_same_weighted_value(name, weighted):
    target = weighted(name)
    x = np.random.default_rng(3).random((2, 20, 2))
    np.testing.assert_allclose(target.values_and_gradients(x)[0], target.values(x), rtol=1e-7, atol=1e-7)


@each_policy
def test_the_unweighted_part_is_an_upper_bound_of_the_weighted_value(name, weighted):
    target = weighted(name)
    x = np.random.default_rng(4).random((2, 50, 2))
    assert (target.values(x) <= target.unweighted(*target.surrogate.moments(x))[0] + 1e-12).all()


@each_policy
def test_selected_runs_are_those_runs(name, weighted):
    target = weighted(name, R=3)
    x = np.random.default_rng(5).random((3, 8, 2))
    runs = np.array([2, 0])
    np.testing.assert_allclose(target.select(runs).values(x[runs]), target.values(x)[runs], rtol=1e-10)


@pytest.mark.parametrize("name", ["MN", "LCB"])
def test_at_equal_probability_the_shift_keeps_every_preference(name, weighted):
    target = weighted(name, R=1)
    rng = np.random.default_rng(6)
    mu, sd = rng.normal(size=(1, 300)), rng.uniform(0.05, 1.0, (1, 300))
    raw = target.score(mu, sd)[0][0]
    floor = target.score(target.y_worst, np.zeros((1, 1)))[0][0, 0]
    above = raw > floor
    shifted = target.unweighted(mu, sd)[0][0]
    assert above.sum() > 100
    np.testing.assert_array_equal(np.argsort(raw[above]), np.argsort(shifted[above]))


@pytest.mark.parametrize("name", ["MN", "LCB"])
def test_the_weighted_value_of_a_shifted_policy_is_its_logarithm_plus_that_of_the_probability(name, weighted):
    target = weighted(name, R=1)
    x = np.random.default_rng(7).random((1, 400, 2))
    score = target.unweighted(*target.surrogate.moments(x))[0][0]
    value, probability = target.values(x)[0], target.weights[0].values(x)[0]
    np.testing.assert_allclose(value, score + probability, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["MN", "LCB"])
def test_a_weighted_policy_is_finite_for_points_worse_than_the_worst_observation(name, weighted):
    target = weighted(name, R=1)
    value, by_mu, by_sd = target.unweighted(np.array([[100.0]]), np.array([[0.1]]))
    assert np.isfinite(value).all()
    np.testing.assert_array_equal([by_mu, by_sd], 0.0)


def test_a_users_policy_without_partials_can_be_weighted(weighted, monkeypatch):
    monkeypatch.setattr(registry, "_POLICIES", dict(registry._POLICIES))
    registry.register_policy("mine", lambda mu, sd, f_best: sd - mu)
    target = weighted("mine", R=1, policy=policy_at("mine", 0))
    value, gradient = target.values_and_gradients(np.random.default_rng(8).random((1, 5, 2)))
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()


def test_success_is_unlikely_at_failed_points_and_likely_at_the_others():
    X, failed, post = labels()
    probability = np.exp(log_p(post, X))
    assert probability[failed > 0.0].max() < 0.35
    assert probability[failed == 0.0].min() > 0.65


def test_success_is_predicted_on_both_sides_of_the_boundary():
    _, _, post = labels()
    x = np.random.default_rng(9).random((1, 500, 2))
    x = x[:, np.abs(x[0, :, 0] - 0.6) > 0.1]
    predicted = np.exp(log_p(post, x)) > 0.5
    assert (predicted == (x[..., 0] < 0.6)).mean() > 0.97


def test_labels_of_rows_not_seen_do_not_count():
    X, failed, _ = labels()
    uniforms = generator(0, 0, 1).random((1, 4, 3))
    seen = np.ones((1, 40))
    seen[0, 30:] = 0.0
    masked, _ = failure_model(label_data(X, failed, seen), uniforms, None)
    plain, _ = failure_model(label_data(X[:, :30], failed[:, :30], None), uniforms, None)
    x = np.random.default_rng(10).random((1, 30, 2))
    np.testing.assert_allclose(log_p(masked, x), log_p(plain, x), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_labels_that_are_all_alike_give_finite_probabilities(share):
    X = np.random.default_rng(11).random((1, 12, 2))
    uniforms = generator(0, 0, 1).random((1, 4, 3))
    post, _ = failure_model(label_data(X, np.full((1, 12), share), None), uniforms, None)
    p = np.exp(log_p(post, np.random.default_rng(12).random((1, 20, 2))))
    assert (p < 0.5).all() if share else (p > 0.5).all()
