"""The marginal likelihood: gradients, masks, batches; its values are checked in oracles/test_gp_against_sklearn.py."""

import numpy as np
import pytest

from surefoot.gp import likelihood
from surefoot.gp.kernels import KERNELS
from surefoot.gp.likelihood import make_data, negative_log_likelihood, select_runs

each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
STEPS = np.logspace(-3.5, -2.0, 6)


def random_theta(R, S, d, seed=0):
    rng = np.random.default_rng(seed)
    log_ell = rng.uniform(np.log(0.2), np.log(1.5), (R, S, d))
    return np.concatenate([log_ell, rng.uniform(np.log(1e-5), np.log(0.1), (R, S, 1))], axis=-1)


@each_kernel
@pytest.mark.parametrize("d", [1, 2, 6])
@pytest.mark.parametrize("noise", [None, 0.01], ids=["profiled scale", "known noise"])
def test_the_gradient_leaves_a_remainder_of_order_two(kernel, d, noise, make_set, taylor_order):
    X, y = make_set(1, 25, d)
    data = make_data(X, y, noise_variance=None if noise is None else np.array([noise]))
    theta = random_theta(1, 1, d)
    direction = np.random.default_rng(1).standard_normal(d + 1)
    _, gradient = negative_log_likelihood(theta, data, kernel)

    def along(h):
        return negative_log_likelihood(theta + h * direction, data, kernel, gradient=False)[0][0, 0]

    assert taylor_order(along, gradient[0, 0] @ direction, STEPS) == pytest.approx(2.0, abs=0.15)


@each_kernel
@pytest.mark.parametrize("least", [1e-9, 0.5], ids=["bound that does nothing", "bound that holds"])
def test_the_gradient_beside_a_bound_of_the_noise_leaves_a_remainder_of_order_two(
    kernel, least, make_set, taylor_order
):
    X, y = make_set(1, 25, 2)
    data, theta = make_data(X, y, least_noise=np.array([least])), random_theta(1, 1, 2)
    direction = np.random.default_rng(1).standard_normal(3)
    _, gradient = negative_log_likelihood(theta, data, kernel)

    def along(h):
        return negative_log_likelihood(theta + h * direction, data, kernel, gradient=False)[0][0, 0]

    assert taylor_order(along, gradient[0, 0] @ direction, STEPS) == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize("least", [1e-6, 1e-3, 1e-1, 1.0])
def test_with_a_bound_of_the_noise_the_scale_is_the_likeliest_that_keeps_it(least, make_set):
    X, y = make_set(1, 15, 2)
    theta = random_theta(1, 1, 2)
    lam = np.exp(theta[0, 0, -1])
    found, _ = negative_log_likelihood(theta, make_data(X, y, least_noise=np.array([least])), KERNELS["se"])
    noises = np.geomspace(least, 1e3 * max(least, lam), 20_001)  # each a fixed noise variance: s2 = noise / lam
    many = np.concatenate([X] * len(noises)), np.concatenate([y] * len(noises))
    fixed, _ = negative_log_likelihood(
        np.concatenate([theta] * len(noises)), make_data(*many, noise_variance=noises), KERNELS["se"], gradient=False
    )
    assert found[0, 0] == pytest.approx(fixed.min(), abs=1e-5)


@each_kernel
def test_the_derivative_in_log_lam_leaves_a_remainder_of_order_two(kernel, make_set, taylor_order):
    X, y = make_set(1, 25, 2)
    data, theta = make_data(X, y), random_theta(1, 1, 2)
    _, gradient = negative_log_likelihood(theta, data, kernel)
    unit = np.array([0.0, 0.0, 1.0])

    def along(h):
        return negative_log_likelihood(theta + h * unit, data, kernel, gradient=False)[0][0, 0]

    assert taylor_order(along, gradient[0, 0, -1], np.logspace(-2.5, -1.0, 6)) == pytest.approx(2.0, abs=0.15)


@each_kernel
@pytest.mark.parametrize("noise", [None, 0.01], ids=["profiled scale", "known noise"])
def test_padded_rows_change_neither_value_nor_gradient(kernel, noise, make_set):
    X, y = make_set(1, 20, 3)
    rng = np.random.default_rng(2)
    order = rng.permutation(27)
    padded_X = np.concatenate([X, rng.random((1, 7, 3))], axis=1)[:, order]
    padded_y = np.concatenate([y, np.full((1, 7), 1e6)], axis=1)[:, order]  # whatever stands there
    mask = (order < 20).astype(float)[None]
    known = None if noise is None else np.array([noise])
    theta = random_theta(1, 4, 3)
    alone = negative_log_likelihood(theta, make_data(X, y, noise_variance=known), kernel)
    padded = negative_log_likelihood(theta, make_data(padded_X, padded_y, mask, known), kernel)
    np.testing.assert_allclose(padded[0], alone[0], rtol=1e-10)
    np.testing.assert_allclose(padded[1], alone[1], rtol=1e-10, atol=1e-10)


@each_kernel
def test_runs_and_hyperparameters_in_a_batch_give_what_they_give_alone(kernel, make_set):
    X, y = make_set(3, 15, 2)
    theta = random_theta(3, 4, 2)
    nll, gradient = negative_log_likelihood(theta, make_data(X, y), kernel)
    for r, s in np.ndindex(3, 4):
        data = make_data(X[r : r + 1], y[r : r + 1])
        alone, alone_gradient = negative_log_likelihood(theta[r : r + 1, s : s + 1], data, kernel)
        assert nll[r, s] == pytest.approx(alone[0, 0], rel=1e-12)
        np.testing.assert_allclose(gradient[r, s], alone_gradient[0, 0], rtol=1e-9, atol=1e-10)


def test_selected_runs_are_those_runs(make_set):
    X, y = make_set(4, 12, 2)
    mask = np.ones((4, 12))
    mask[:, 9:] = 0.0
    data = make_data(X, y, mask, np.array([0.1, 0.2, 0.3, 0.4]))
    theta = random_theta(4, 2, 2)
    runs = np.array([3, 1])
    kernel = KERNELS["se"]
    some, _ = negative_log_likelihood(theta[runs], select_runs(data, runs), kernel)
    np.testing.assert_allclose(some, negative_log_likelihood(theta, data, kernel)[0][runs], rtol=1e-12)


@each_kernel
def test_a_shift_and_a_scaling_of_y_move_the_likelihood_by_n_log_scale(kernel, make_set):
    X, y = make_set(1, 18, 2)
    theta = random_theta(1, 3, 2)
    plain, gradient = negative_log_likelihood(theta, make_data(X, y), kernel)
    moved, moved_gradient = negative_log_likelihood(theta, make_data(X, 5.0 + 3.0 * y), kernel)
    np.testing.assert_allclose(moved, plain + 18 * np.log(3.0), rtol=1e-10)
    np.testing.assert_allclose(moved_gradient, gradient, rtol=1e-7, atol=1e-8)


@each_kernel
def test_a_matrix_that_is_not_positive_definite_has_no_likelihood(kernel):
    X = np.full((1, 30, 2), 0.5)
    y = np.random.default_rng(0).standard_normal((1, 30))
    theta = np.array([[[0.0, 0.0, np.log(1e-18)], [0.0, 0.0, np.log(1e-2)]]])
    nll, gradient = negative_log_likelihood(theta, make_data(X, y), kernel)
    assert nll[0, 0] == np.inf
    assert np.isfinite(nll[0, 1])
    np.testing.assert_array_equal(gradient[0, 0], 0.0)


@each_kernel
def test_the_value_is_the_same_with_and_without_gradient(kernel, make_set):
    X, y = make_set(2, 14, 3)
    theta = random_theta(2, 3, 3)
    data = make_data(X, y)
    with_gradient, _ = negative_log_likelihood(theta, data, kernel)
    without, _ = negative_log_likelihood(theta, data, kernel, gradient=False)
    np.testing.assert_array_equal(with_gradient, without)


def test_differences_made_one_by_one_give_the_likelihood_of_those_kept(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X, y, theta = rng.random((2, 15, 3)), rng.standard_normal((2, 15)), np.log(rng.uniform(0.1, 1.0, (2, 4, 4)))
    kept = negative_log_likelihood(theta, make_data(X, y), KERNELS["se"])
    monkeypatch.setattr(likelihood, "MOST_DIFFERENCES", 0)
    data = make_data(X, y)
    made = negative_log_likelihood(theta, data, KERNELS["se"])
    assert "sq_diff" not in data.__dict__
    assert "sq_diff" not in select_runs(data, np.asarray([1])).__dict__
    for a, b in zip(made, kept, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)
