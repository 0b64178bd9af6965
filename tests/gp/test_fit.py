"""Maximum likelihood: batches, masks, warm starts, and data that break other fits."""

import numpy as np
import pytest

from surefoot.gp.hyperparameters import REFIT_GROWTH, SUBSET, FitState, fit, is_healthy
from surefoot.gp.kernels import KERNELS
from surefoot.gp.likelihood import make_data, negative_log_likelihood
from surefoot.gp.posterior import condition
from surefoot.gp.regression import MAX_ELL, MAX_LAM, MIN_ELL, MIN_LAM, Regression, cold_starts, min_lam
from surefoot.numerics.quasi_newton import Rules, minimize_box

each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
noise_or_not = pytest.mark.parametrize("estimate_noise", [True, False], ids=["noise estimated", "no noise"])
SE = KERNELS["se"]


def uniforms(R, d, seed=0, k=4):
    return np.random.default_rng(seed).random((R, k, d + 1))


def nll_at(theta, data, kernel):
    return negative_log_likelihood(theta[:, None], data, kernel, gradient=False)[0][:, 0]


# --- the optimum


@each_kernel
@noise_or_not
def test_the_value_reported_is_the_likelihood_at_the_optimum(kernel, estimate_noise, make_set):
    X, y = make_set(2, 20, 2)
    data = make_data(X, y)
    result = fit(Regression(data, kernel, estimate_noise=estimate_noise), uniforms(2, 2))
    np.testing.assert_allclose(result.cost, nll_at(result.theta, data, kernel), rtol=1e-9)


@each_kernel
def test_the_optimum_is_no_worse_than_any_of_its_starts(kernel, make_set):
    X, y = make_set(2, 20, 3)
    data = make_data(X, y)
    u = uniforms(2, 3)
    result = fit(Regression(data, kernel, estimate_noise=True), u)
    at_starts, _ = negative_log_likelihood(cold_starts(3, u), data, kernel)
    assert (result.cost <= at_starts.min(axis=1)).all()


@each_kernel
def test_the_projected_gradient_vanishes_at_the_optimum(kernel, make_set):
    X, y = make_set(3, 25, 2)
    data = make_data(X, y)
    theta = fit(Regression(data, kernel, estimate_noise=True), uniforms(3, 2)).theta
    _, gradient = negative_log_likelihood(theta[:, None], data, kernel)
    lower = np.log([MIN_ELL, MIN_ELL, MIN_LAM])
    upper = np.log([MAX_ELL, MAX_ELL, MAX_LAM])
    step = np.clip(theta - gradient[:, 0], lower, upper) - theta  # a projected unit step of steepest descent
    assert np.abs(step).max() < 0.05


@each_kernel
@noise_or_not
def test_hyperparameters_stay_within_their_bounds(kernel, estimate_noise, make_set):
    X, y = make_set(4, 15, 3)
    theta = fit(Regression(make_data(X, y), kernel, estimate_noise=estimate_noise), uniforms(4, 3)).theta
    assert (theta[:, :-1] >= np.log(MIN_ELL)).all()
    assert (theta[:, :-1] <= np.log(MAX_ELL)).all()
    assert (theta[:, -1] >= np.log(MIN_LAM) - 1e-12).all()
    assert (theta[:, -1] <= np.log(MAX_LAM)).all()


def test_without_noise_lam_stays_at_its_floor(make_set):
    X, y = make_set(1, 10, 2)
    result = fit(Regression(make_data(X, y), KERNELS["matern52"], estimate_noise=False), uniforms(1, 2))
    assert result.theta[0, -1] == pytest.approx(np.log(MIN_LAM))
    assert not result.jitter_raised[0]


@each_kernel
def test_noise_that_is_there_is_found(kernel):
    rng = np.random.default_rng(0)
    X = rng.random((1, 120, 1))
    y = np.sin(6.0 * X[..., 0]) + 0.2 * rng.standard_normal((1, 120))
    data = make_data(X, y)
    post = condition(data, fit(Regression(data, kernel, estimate_noise=True), uniforms(1, 1)).theta, kernel)
    assert np.sqrt(post.lam * post.s2)[0] == pytest.approx(0.2, rel=0.2)


def test_an_input_without_influence_gets_a_long_length_scale(make_set):
    X = np.random.default_rng(1).random((1, 40, 2))
    y = np.sin(8.0 * X[..., 0])
    theta = fit(Regression(make_data(X, y), SE, estimate_noise=True), uniforms(1, 2)).theta[0]
    assert np.exp(theta[1]) > 10.0 * np.exp(theta[0])


def test_with_a_known_noise_the_scale_follows_from_it(make_set):
    X, y = make_set(1, 30, 2)
    data = make_data(X, y, noise_variance=np.array([0.01]))
    result = fit(Regression(data, SE, estimate_noise=False), uniforms(1, 2))
    post = condition(data, result.theta, SE)
    assert post.lam[0] * post.s2[0] == pytest.approx(0.01, rel=1e-12)
    _, gradient = negative_log_likelihood(result.theta[:, None], data, SE)
    assert abs(gradient[0, 0, -1]) < 0.05


# --- alone = in a batch = padded


@each_kernel
def test_a_run_alone_is_fitted_as_in_a_batch_of_fifty(kernel, make_set):
    X, y = make_set(50, 12, 2)
    u = uniforms(50, 2)
    together = fit(Regression(make_data(X, y), kernel, estimate_noise=True), u)
    for r in (0, 7, 23, 49):
        data = make_data(X[r : r + 1], y[r : r + 1])
        alone = fit(Regression(data, kernel, estimate_noise=True), u[r : r + 1])
        np.testing.assert_allclose(together.theta[r], alone.theta[0], rtol=0, atol=1e-10)
        assert together.cost[r] == pytest.approx(alone.cost[0], rel=1e-10)


@each_kernel
def test_a_padded_run_is_fitted_as_the_unpadded_one(kernel, make_set):
    X, y = make_set(1, 14, 2)
    padded_X = np.concatenate([X, np.full((1, 5, 2), 0.5)], axis=1)
    padded_y = np.concatenate([y, np.zeros((1, 5))], axis=1)
    mask = np.concatenate([np.ones((1, 14)), np.zeros((1, 5))], axis=1)
    plain = fit(Regression(make_data(X, y), kernel, estimate_noise=True), uniforms(1, 2))
    padded = fit(Regression(make_data(padded_X, padded_y, mask), kernel, estimate_noise=True), uniforms(1, 2))
    assert padded.cost[0] == pytest.approx(plain.cost[0], rel=1e-10)


def test_the_same_draws_give_the_same_fit(make_set):
    X, y = make_set(2, 15, 2)
    first, second = (fit(Regression(make_data(X, y), SE, estimate_noise=True), uniforms(2, 2)) for _ in range(2))
    np.testing.assert_array_equal(first.theta, second.theta)


# --- warm starts


@each_kernel
@noise_or_not
def test_a_warm_refit_is_never_worse_than_the_old_optimum_on_the_new_data(kernel, estimate_noise, make_set):
    X, y = make_set(5, 40, 2)
    state, reference = None, None
    for n in range(12, 40):
        data = make_data(X[:, :n], y[:, :n])
        result = fit(Regression(data, kernel, estimate_noise=estimate_noise), uniforms(5, 2, seed=n), state)
        if reference is not None:
            old = nll_at(reference, data, kernel)
            assert (result.cost <= old + 1e-9 * np.abs(old)).all()
        state, reference = result.state, result.theta


def test_a_warm_refit_that_jumped_far_is_still_no_worse(make_set):
    X, y = make_set(1, 30, 2)
    state = fit(Regression(make_data(X[:, :28], y[:, :28]), SE, estimate_noise=True), uniforms(1, 2)).state
    y = y.copy()
    y[0, 29] += 50.0  # an outlier: the old optimum is far from the new one
    data = make_data(X, y)
    result = fit(Regression(data, SE, estimate_noise=True), uniforms(1, 2), state)
    assert result.cost[0] <= nll_at(state.theta, data, SE)[0]


def test_a_cold_search_is_repeated_when_the_data_have_grown_by_a_quarter(make_set):
    X, y = make_set(1, 40, 2)
    state = fit(Regression(make_data(X[:, :20], y[:, :20]), SE, estimate_noise=True), uniforms(1, 2)).state
    assert state.n_cold == (20,)
    for n in (21, 24, 25):
        data = make_data(X[:, :n], y[:, :n])
        new = fit(Regression(data, SE, estimate_noise=True), uniforms(1, 2), state).state
        assert new.n_cold == ((n if n >= REFIT_GROWTH * 20 else 20),)


def test_a_bad_optimum_is_left_at_the_next_cold_search(make_set):
    X, y = make_set(1, 30, 2)
    data = make_data(X, y)
    bad = FitState(np.log([[MIN_ELL, MIN_ELL, 1e-3]]), np.eye(3)[None], (10,))
    trapped = fit(Regression(data, SE, estimate_noise=True), uniforms(1, 2), bad)
    cold = fit(Regression(data, SE, estimate_noise=True), uniforms(1, 2))
    assert trapped.cost[0] <= cold.cost[0] + 1e-3


def test_a_healthy_state_is_told_from_a_sick_one():
    assert is_healthy(FitState(np.zeros((1, 3)), np.eye(3)[None], (5,)))
    assert not is_healthy(FitState(np.full((1, 3), np.nan), np.eye(3)[None], (5,)))
    assert not is_healthy(FitState(np.zeros((1, 3)), np.full((1, 3, 3), np.inf), (5,)))


@each_kernel
def test_more_points_than_the_subset_are_all_used_in_the_end(kernel, make_set):
    n = SUBSET + 60
    X, y = make_set(1, n, 2)
    y = y + 0.05 * np.random.default_rng(0).standard_normal(y.shape)
    data = make_data(X, y)
    result = fit(Regression(data, kernel, estimate_noise=True), uniforms(1, 2))
    lower, upper = np.log([MIN_ELL, MIN_ELL, MIN_LAM]), np.log([MAX_ELL, MAX_ELL, MAX_LAM])
    best = minimize_box(
        lambda theta, runs: negative_log_likelihood(theta, data, kernel),
        result.theta[:, None],
        lower,
        upper,
        Rules(first_step=0.1, max_step=1.0, f_tol=1e-8, max_calls=60),
    )
    assert result.cost[0] == pytest.approx(nll_at(result.theta, data, kernel)[0], rel=1e-9)
    assert result.cost[0] <= best.f[0, 0] + 0.05


# --- never dies


def survives(X, y, kernel, estimate_noise):
    data = make_data(X, y)
    d = X.shape[-1]
    result = fit(Regression(data, kernel, estimate_noise=estimate_noise), uniforms(len(X), d))
    post = condition(data, result.theta, kernel)
    mu, sd = post.moments(np.concatenate([np.random.default_rng(0).random((len(X), 20, d)), X[:, :5]], axis=1))
    for array in (result.theta, result.cost, mu, sd):
        assert np.isfinite(array).all()
    assert (sd > 0.0).all()
    assert post.ok.all()
    return result, post


@each_kernel
@noise_or_not
def test_duplicates_are_survived(kernel, estimate_noise, make_set):
    X, y = make_set(1, 10, 2)
    survives(np.concatenate([X, X, X], axis=1), np.concatenate([y, y, y], axis=1), kernel, estimate_noise)


@each_kernel
@noise_or_not
def test_duplicates_with_contradicting_values_are_survived(kernel, estimate_noise, make_set):
    X, y = make_set(1, 10, 2)
    survives(np.concatenate([X, X], axis=1), np.concatenate([y, -y], axis=1), kernel, estimate_noise)


@each_kernel
def test_contradicting_duplicates_are_taken_for_noise_where_that_is_estimated(kernel, make_set):
    X, y = make_set(1, 10, 2)
    wiggle = 0.3 * np.random.default_rng(0).standard_normal(y.shape)
    X, y = np.concatenate([X, X], axis=1), np.concatenate([y + wiggle, y - wiggle], axis=1)
    _, post = survives(X, y, kernel, True)
    assert post.lam[0] > 1e-3


@each_kernel
@noise_or_not
@pytest.mark.parametrize("level", [0.0, 3.0])
def test_constant_values_are_survived(kernel, estimate_noise, level):
    X = np.random.default_rng(0).random((1, 15, 2))
    survives(X, np.full((1, 15), level), kernel, estimate_noise)


@each_kernel
def test_the_mean_of_constant_values_is_that_constant(kernel):
    X = np.random.default_rng(0).random((1, 15, 2))
    _, post = survives(X, np.full((1, 15), 3.0), kernel, True)
    np.testing.assert_allclose(post.moments(np.random.default_rng(1).random((1, 9, 2)))[0], 3.0, rtol=1e-6)


@each_kernel
@noise_or_not
@pytest.mark.parametrize("d", [1, 3])
def test_one_point_is_survived(kernel, estimate_noise, d):
    survives(np.full((1, 1, d), 0.4), np.array([[0.7]]), kernel, estimate_noise)


@each_kernel
@noise_or_not
def test_two_points_that_coincide_are_survived(kernel, estimate_noise):
    survives(np.full((1, 2, 2), 0.4), np.array([[1.0, -1.0]]), kernel, estimate_noise)


@noise_or_not
def test_a_thousand_points_within_1e_8_are_survived(estimate_noise):
    rng = np.random.default_rng(0)
    X = 0.5 + 1e-8 * rng.random((1, 1000, 2))
    y = rng.standard_normal((1, 1000))
    survives(X, y, SE, estimate_noise)


def test_a_thousand_points_within_1e_8_without_noise_are_reported_as_singular(monkeypatch):
    monkeypatch.setattr(
        "surefoot.gp.regression.MIN_LAM", 1e-16
    )  # a floor too low for Cholesky: the ladder has to climb
    rng = np.random.default_rng(0)
    X = 0.5 + 1e-8 * rng.random((1, 1000, 2))
    result, _ = survives(X, X.sum(axis=-1) * 1e8 - 1e8, SE, False)
    assert result.jitter_raised[0]
    assert result.theta[0, -1] > np.log(min_lam(1000))


def test_a_raised_jitter_is_the_matter_of_one_run_only(make_set, monkeypatch):
    monkeypatch.setattr("surefoot.gp.regression.MIN_LAM", 1e-16)
    X, y = make_set(1, 700, 2)
    crowd = 0.5 + 1e-8 * np.random.default_rng(0).random((1, 700, 2))
    both = make_data(np.concatenate([X, crowd]), np.concatenate([y, y]))
    result = fit(Regression(both, KERNELS["matern52"], estimate_noise=False), uniforms(2, 2))
    assert result.jitter_raised.tolist() == [False, True]
    assert result.theta[0, -1] == pytest.approx(np.log(min_lam(700)))


@each_kernel
@noise_or_not
@pytest.mark.parametrize("size", [1e3, 1e6])
def test_an_outlier_is_survived(kernel, estimate_noise, size, make_set):
    X, y = make_set(1, 30, 2)
    y = y.copy()
    y[0, 17] = size
    survives(X, (y - y.mean()) / y.std(), kernel, estimate_noise)


@each_kernel
@noise_or_not
@pytest.mark.parametrize("d", [1, 50])
def test_one_input_and_fifty_inputs_are_survived(kernel, estimate_noise, d, make_set):
    X, y = make_set(2, 40, d)
    survives(X, y, kernel, estimate_noise)


@each_kernel
@noise_or_not
def test_points_on_a_line_in_many_inputs_are_survived(kernel, estimate_noise):
    t = np.linspace(0.0, 1.0, 40)[None, :, None]
    survives(np.broadcast_to(t, (1, 40, 5)).copy(), np.sin(9.0 * t[..., 0]), kernel, estimate_noise)


@each_kernel
def test_a_run_with_a_single_unmasked_point_is_survived(kernel):
    X, y = np.random.default_rng(0).random((1, 8, 2)), np.zeros((1, 8))
    mask = np.zeros((1, 8))
    mask[0, 3] = 1.0
    data = make_data(X, y, mask)
    result = fit(Regression(data, kernel, estimate_noise=True), uniforms(1, 2))
    mu, sd = condition(data, result.theta, kernel).moments(X)
    assert np.isfinite(result.cost).all()
    assert np.isfinite(mu).all()
    assert np.isfinite(sd).all()


def test_the_subset_of_a_cold_search_has_all_points_of_a_run_that_has_few(make_set):
    n = SUBSET + 40
    X, y = make_set(2, n, 2)
    mask = np.ones((2, n))
    mask[1, :SUBSET] = 0.0
    few = Regression(make_data(X, y, mask), SE, estimate_noise=True).subset()
    assert few.data.n_points.tolist() == [SUBSET, 40]
