"""The predictive distribution: gradients, added points, masks, and the accuracy of its variance."""

import mpmath
import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from surefoot import backend
from surefoot.gp.kernels import KERNELS, Kernel, per_run
from surefoot.gp.likelihood import make_data
from surefoot.gp.posterior import MIN_VARIANCE, condition
from tests.gp.textbook import correlations

each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
STEPS = np.logspace(-4.0, -2.5, 6)


def theta_of(ell, lam, R=1):
    return np.broadcast_to(np.log([*ell, lam]), (R, len(ell) + 1)).copy()


def by_hand(kernel, X, y, c, s2, ell, lam, x):
    """mu and sd at x (m, d) by textbook formulas [NH18, Eq. 1], c and s2 given."""
    C = correlations(kernel, X / ell, X / ell) + lam * np.eye(len(X))
    k = correlations(kernel, x / ell, X / ell)
    factor = cho_factor(C, lower=True)
    mu = c + k @ cho_solve(factor, y - c)
    return mu, np.sqrt(s2 * (1.0 - np.sum(k * cho_solve(factor, k.T).T, axis=1)))


@each_kernel
@pytest.mark.parametrize("d", [1, 2, 6])
@pytest.mark.parametrize("moment", [0, 1], ids=["mu", "sd"])
def test_gradients_in_x_leave_a_remainder_of_order_two(kernel, d, moment, make_set, taylor_order):
    X, y = make_set(1, 20, d)
    post = condition(make_data(X, y), theta_of(np.linspace(0.3, 0.8, d), 1e-5), kernel)
    rng = np.random.default_rng(3)
    for _ in range(5):
        x, direction = rng.uniform(0.1, 0.9, (1, 1, d)), rng.standard_normal(d)
        gradient = post.moments_and_gradients(x)[2 + moment][0, 0]

        def along(h, x=x, direction=direction):
            return post.moments(x + h * direction)[moment][0, 0]

        assert taylor_order(along, gradient @ direction, STEPS) > 1.7


@each_kernel
def test_both_forms_give_the_same_moments(kernel, make_set):
    X, y = make_set(2, 20, 3)
    post = condition(make_data(X, y), theta_of([0.5, 0.6, 0.9], 1e-4, R=2), kernel)
    x = np.random.default_rng(1).random((2, 30, 3))
    mu, sd = post.moments(x)
    mu_too, sd_too, _, _ = post.moments_and_gradients(x)
    np.testing.assert_allclose(mu_too, mu, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(sd_too, sd, rtol=1e-9)


@each_kernel
def test_moments_are_those_of_the_textbook(kernel, make_set):
    X, y = make_set(1, 25, 2)
    ell, lam = np.array([0.3, 0.7]), 1e-3
    post = condition(make_data(X, y), theta_of(ell, lam), kernel)
    x = np.random.default_rng(2).random((1, 40, 2))
    mu, sd = post.moments(x)
    expected_mu, expected_sd = by_hand(kernel, X[0], y[0], post.c[0], post.s2[0], ell, lam, x[0])
    np.testing.assert_allclose(mu[0], expected_mu, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(sd[0], expected_sd, rtol=1e-8)


@each_kernel
def test_without_noise_the_mean_passes_through_the_observations(kernel, make_set):
    X, y = make_set(1, 12, 2)
    post = condition(make_data(X, y), theta_of([0.3, 0.3], 1e-14), kernel)
    mu, sd = post.moments(X)
    np.testing.assert_allclose(mu, y, atol=1e-6)
    assert sd.max() < 1e-6 * np.sqrt(post.s2[0])


@each_kernel
def test_far_from_the_data_the_moments_are_those_of_the_prior(kernel, make_set):
    X, y = make_set(1, 10, 2)
    post = condition(make_data(X, y), theta_of([0.01, 0.01], 1e-6), kernel)
    mu, sd = post.moments(np.array([[[-9.0, -9.0]]]))
    assert mu[0, 0] == pytest.approx(post.c[0], rel=1e-12)
    assert sd[0, 0] == pytest.approx(np.sqrt(post.s2[0]), rel=1e-12)


@each_kernel
def test_the_quick_mean_is_the_mean(kernel, make_set):
    X, y = make_set(2, 20, 2)
    post = condition(make_data(X, y), theta_of([0.4, 0.4], 1e-4, R=2), kernel)
    x = np.random.default_rng(4).random((2, 30, 2))
    np.testing.assert_allclose(post.quick_mean(post.cross_correlations(x)), post.moments(x)[0], rtol=1e-8, atol=1e-9)


@each_kernel
def test_padded_rows_do_not_change_the_moments(kernel, make_set):
    X, y = make_set(1, 18, 2)
    rng = np.random.default_rng(5)
    order = rng.permutation(24)
    padded_X = np.concatenate([X, rng.random((1, 6, 2))], axis=1)[:, order]
    padded_y = np.concatenate([y, np.full((1, 6), 77.0)], axis=1)[:, order]
    mask = (order < 18).astype(float)[None]
    theta = theta_of([0.4, 0.7], 1e-3)
    x = rng.random((1, 30, 2))
    alone = condition(make_data(X, y), theta, kernel).moments_and_gradients(x)
    padded = condition(make_data(padded_X, padded_y, mask), theta, kernel).moments_and_gradients(x)
    for a, b in zip(padded, alone, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


@each_kernel
def test_selected_runs_are_those_runs(kernel, make_set):
    X, y = make_set(3, 15, 2)
    post = condition(make_data(X, y), theta_of([0.4, 0.7], 1e-3, R=3), kernel)
    x = np.random.default_rng(6).random((3, 10, 2))
    runs = np.array([2, 0])
    some, _ = post.select(runs).moments(x[runs])
    np.testing.assert_array_equal(some, post.moments(x)[0][runs])


@each_kernel
@pytest.mark.parametrize("e", [1, 4])
def test_added_points_give_the_posterior_from_scratch_with_mean_and_scale_kept(kernel, e, make_set):
    X, y = make_set(1, 20 + e, 2)
    ell, lam = np.array([0.3, 0.6]), 1e-4
    before = condition(make_data(X[:, :20], y[:, :20]), theta_of(ell, lam), kernel)
    after = before.add_points(X[:, 20:], y[:, 20:])
    x = np.random.default_rng(7).random((1, 40, 2))
    mu, sd = after.moments(x)
    expected_mu, expected_sd = by_hand(kernel, X[0], y[0], before.c[0], before.s2[0], ell, lam, x[0])
    np.testing.assert_allclose(mu[0], expected_mu, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(sd[0], expected_sd, rtol=1e-8)


@each_kernel
def test_points_added_one_at_a_time_or_together_give_the_same_posterior(kernel, make_set):
    X, y = make_set(2, 18, 2)
    first = condition(make_data(X[:, :15], y[:, :15]), theta_of([0.4, 0.5], 1e-3, R=2), kernel)
    together = first.add_points(X[:, 15:], y[:, 15:])
    single = first
    for i in range(15, 18):
        single = single.add_points(X[:, i : i + 1], y[:, i : i + 1])
    x = np.random.default_rng(8).random((2, 20, 2))
    np.testing.assert_allclose(single.moments(x), together.moments(x), rtol=1e-9, atol=1e-10)


@each_kernel
def test_gradients_after_adding_points_leave_a_remainder_of_order_two(kernel, make_set, taylor_order):
    X, y = make_set(1, 15, 2)
    post = condition(make_data(X[:, :12], y[:, :12]), theta_of([0.4, 0.5], 1e-4), kernel)
    post = post.add_points(X[:, 12:], y[:, 12:])
    x, direction = np.array([[[0.35, 0.62]]]), np.array([0.6, -0.8])
    _, _, d_mu, d_sd = post.moments_and_gradients(x)
    for moment, gradient in ((0, d_mu), (1, d_sd)):

        def along(h, moment=moment):
            return post.moments(x + h * direction)[moment][0, 0]

        assert taylor_order(along, gradient[0, 0] @ direction, STEPS) > 1.7


@each_kernel
def test_believed_points_leave_the_mean_as_it_was(kernel, make_set):
    X, y = make_set(1, 15, 2)
    post = condition(make_data(X, y), theta_of([0.4, 0.5], 1e-4), kernel)
    x = np.random.default_rng(9).random((1, 30, 2))
    believed = post.add_points(np.array([[[0.2, 0.9], [0.5, 0.5]]]))
    np.testing.assert_allclose(believed.moments(x)[0], post.moments(x)[0], rtol=1e-9, atol=1e-10)


@each_kernel
def test_believed_points_lower_the_sd_everywhere_and_most_of_all_there(kernel, make_set):
    X, y = make_set(1, 15, 2)
    post = condition(make_data(X, y), theta_of([0.4, 0.5], 1e-8), kernel)
    new = np.array([[[0.2, 0.9], [0.5, 0.5]]])
    x = np.random.default_rng(10).random((1, 30, 2))
    believed = post.add_points(new)
    assert (believed.moments(x)[1] <= post.moments(x)[1] * (1.0 + 1e-9)).all()
    assert (believed.moments(new)[1] < 1e-2 * post.moments(new)[1]).all()


@each_kernel
def test_adding_an_observed_point_again_keeps_the_posterior_finite(kernel, make_set):
    X, y = make_set(1, 15, 2)
    post = condition(make_data(X, y), theta_of([0.4, 0.5], 1e-14), kernel)
    again = post.add_points(np.concatenate([X[:, :1], X[:, :1]], axis=1), np.repeat(y[:, :1], 2, axis=1))
    x = np.random.default_rng(11).random((1, 30, 2))
    mu, sd = again.moments(x)
    np.testing.assert_allclose(mu, post.moments(x)[0], rtol=1e-4, atol=1e-4)
    assert np.isfinite(sd).all()


@each_kernel
def test_points_added_to_a_padded_run_count(kernel, make_set):
    X, y = make_set(1, 16, 2)
    theta = theta_of([0.4, 0.5], 1e-3)
    mask = np.ones((1, 15))
    mask[0, 12:] = 0.0
    padded = condition(make_data(X[:, :15], y[:, :15], mask), theta, kernel).add_points(X[:, 15:], y[:, 15:])
    plain = condition(make_data(X[:, :12], y[:, :12]), theta, kernel).add_points(X[:, 15:], y[:, 15:])
    x = np.random.default_rng(12).random((1, 20, 2))
    np.testing.assert_allclose(padded.moments(x), plain.moments(x), rtol=1e-10, atol=1e-10)


def variances(n=60, lam=1e-14):
    """1 - k' C^-1 k of an ill-conditioned C in four ways: ours, by triangular solves, by C^-1, and exactly."""
    kernel = KERNELS["se"]
    X = np.random.default_rng(13).random((1, n, 2))
    y = np.sin(5.0 * X.sum(axis=-1))
    ell = [0.45, 0.45]
    post = condition(make_data(X, y), theta_of(ell, lam), kernel)
    x = np.clip(X + 1e-3 * np.random.default_rng(14).standard_normal(X.shape), 0.0, 1.0)  # close to observations
    k = post.cross_correlations(x)[0]
    data = make_data(X, y)
    r2 = (data.sq_diff[0] * (1.0 / np.array(ell))[:, None] ** 2).sum(axis=0).reshape(n, n)
    C = kernel.value(r2) + lam * np.eye(n)
    L = np.linalg.cholesky(C)
    v = solve_triangular(L, k.T, lower=True)
    C_inv = cho_solve((L, True), np.eye(n))
    ours = post.moments(x)[1][0] ** 2 / post.s2[0]
    by_solve = 1.0 - np.sum(v * v, axis=0)
    by_inverse = 1.0 - np.sum((k @ C_inv) * k, axis=1)
    with mpmath.workdps(60):
        exact = []
        L_mp = [[mpmath.mpf(a) for a in row] for row in L.tolist()]
        for column in k.tolist():
            w = []
            for i in range(n):
                w.append((mpmath.mpf(column[i]) - mpmath.fdot(zip(L_mp[i][:i], w, strict=True))) / L_mp[i][i])
            exact.append(float(1 - mpmath.fdot(zip(w, w, strict=True))))
    return post, ours, by_solve, by_inverse, np.array(exact), np.linalg.cond(C)


def test_the_variance_of_an_ill_conditioned_model_is_that_of_the_triangular_solve():
    post, ours, by_solve, _, exact, condition_number = variances()
    assert post.ok.all()
    assert condition_number > 1e13
    assert np.median(exact) < 1e-6
    scale = np.maximum(exact, MIN_VARIANCE)
    error, solve_error = (np.abs(v - exact) / scale for v in (ours, by_solve))
    assert np.median(error) < 30.0 * np.median(solve_error)


def test_the_variance_from_the_inverse_matrix_is_worse_by_orders_of_magnitude():
    _, ours, _, by_inverse, exact, _ = variances()
    assert np.median(np.abs(by_inverse - exact)) > 100.0 * np.median(np.abs(ours - exact))


def test_at_an_observation_the_variance_is_at_its_floor_and_has_no_gradient():
    X, y = np.full((1, 1, 2), 0.5), np.zeros((1, 1))
    post = condition(make_data(X, y), theta_of([0.5, 0.5], 1e-17), KERNELS["se"])
    _, sd, _, d_sd = post.moments_and_gradients(X)
    assert sd[0, 0] == pytest.approx(np.sqrt(post.s2[0] * MIN_VARIANCE))
    np.testing.assert_array_equal(d_sd, 0.0)


def test_where_no_matrix_is_positive_definite_the_prediction_is_the_prior() -> None:
    rng = np.random.default_rng(0)
    X, y, x = rng.random((2, 6, 2)), rng.standard_normal((2, 6)), rng.random((2, 5, 2))
    growing = Kernel("growing", lambda r2: 1.0 + 100.0 * r2, lambda r2: (1.0 + 100.0 * r2, 100.0 + 0.0 * r2))
    post = condition(make_data(X, y), np.log([[0.3, 0.3, 1e-14]] * 2), per_run([KERNELS["se"], growing]))
    assert post.ok.tolist() == [True, False]
    mu, sd = post.moments(x)
    np.testing.assert_array_equal(mu[1], np.full(5, post.c[1]))
    np.testing.assert_array_equal(sd[1], np.full(5, np.sqrt(post.s2[1])))
    np.testing.assert_allclose([post.c[1], post.s2[1]], [y[1].mean(), y[1].var()])


@pytest.mark.parametrize("seed", range(4))
def test_the_inverse_factor_times_the_factor_is_the_identity_to_rounding(seed):
    """As exact as a solution of L v = k: where a run converges, correlations are nearly singular."""
    away = 10.0 ** np.linspace(0.0, -5.0, 56)[:, None]
    X = np.clip(0.3 + away * np.random.default_rng(seed).standard_normal((56, 3)), 0.0, 1.0)
    C = np.exp(-0.5 * ((X[:, None] - X) ** 2 * [150.0, 0.16, 0.09]).sum(axis=2)) + 1e-14 * np.eye(56)
    L = np.linalg.cholesky(C)
    L_inv = backend.triangular_inverse(L[None])[0]
    rounding = len(X) * np.finfo(float).eps * (np.abs(L_inv) @ np.abs(L))
    assert (np.abs(L_inv @ L - np.eye(len(X))) <= rounding).all()
