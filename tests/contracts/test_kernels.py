"""What every kernel keeps to."""

import numpy as np
import pytest

from surefoot.errors import UnknownNameError
from surefoot.gp.hyperparameters import fit
from surefoot.gp.kernels import KERNELS, get_kernel, per_run
from surefoot.gp.likelihood import make_data, negative_log_likelihood
from surefoot.gp.paths import random_features
from surefoot.gp.posterior import condition
from surefoot.gp.regression import Regression

each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
R2 = np.concatenate([[0.0], np.logspace(-12, 4, 200)])


@each_kernel
def test_the_correlation_of_a_point_with_itself_is_one(kernel):
    assert kernel.value(np.zeros(1))[0] == 1.0


@each_kernel
def test_both_forms_give_the_same_value(kernel):
    np.testing.assert_array_equal(kernel.value(R2.copy()), kernel.value_and_slope(R2.copy())[0])


@each_kernel
def test_the_correlation_falls_strictly_with_distance(kernel):
    r2 = np.concatenate([[0.0], np.logspace(-10, 2.5, 200)])
    assert (np.diff(kernel.value(r2)) < 0.0).all()


@each_kernel
def test_the_correlation_lies_between_zero_and_one(kernel):
    k = kernel.value(R2.copy())
    assert k.min() >= 0.0
    assert k.max() <= 1.0


@each_kernel
def test_the_slope_is_negative_and_finite_down_to_distance_zero(kernel):
    _, slope = kernel.value_and_slope(np.concatenate([[0.0], np.logspace(-300, 2, 100)]))
    assert np.isfinite(slope).all()
    assert (slope < 0.0).all()


@each_kernel
@pytest.mark.parametrize("r2", [1e-3, 0.1, 1.0, 9.0, 60.0])
def test_the_slope_leaves_a_remainder_of_order_two(kernel, r2):
    steps = r2 * np.logspace(-3.0, -1.5, 6)
    value, slope = (a[0] for a in kernel.value_and_slope(np.array([r2])))
    remainders = np.abs(kernel.value(r2 + steps) - value - steps * slope)
    assert np.polyfit(np.log(steps), np.log(remainders), 1)[0] == pytest.approx(2.0, abs=0.1)


@each_kernel
@pytest.mark.parametrize("d", [1, 2, 5, 20])
def test_gram_matrices_of_random_points_are_positive_definite(kernel, d):
    x = np.random.default_rng(d).random((4, 40, d)) / (0.03 if d == 1 else 0.2 * np.sqrt(d))
    eigenvalues = np.linalg.eigvalsh(kernel.between(x, x))
    assert eigenvalues.min() > 0.0


@each_kernel
@pytest.mark.parametrize("d", [1, 3])
def test_gram_matrices_of_crowded_points_are_semidefinite_to_rounding(kernel, d):
    x = np.random.default_rng(d).random((2, 100, d))
    eigenvalues = np.linalg.eigvalsh(kernel.between(x, x))
    assert eigenvalues.min() > -1e-13


@each_kernel
def test_a_kernel_is_found_by_its_name(kernel):
    assert get_kernel(kernel.name) is kernel


def test_an_unknown_kernel_is_refused_with_the_names_there_are():
    with pytest.raises(UnknownNameError, match="'se'"):
        get_kernel("cubic")


OWN = [KERNELS["se"], KERNELS["matern52-sums"], KERNELS["matern52-sums"], KERNELS["matern52"]]


def test_runs_of_which_some_have_sums_get_what_each_kernel_gives():
    A, B = np.random.default_rng(0).random((2, 4, 6, 3))
    np.testing.assert_array_equal(
        per_run(OWN).between(A, B), [kernel.between(A[[r]], B[[r]])[0] for r, kernel in enumerate(OWN)]
    )
    diff = A[:, :, None] - B[:, None]
    k, slope, steps = per_run(OWN).along(diff)
    np.testing.assert_allclose(k, per_run(OWN).between(A, B), rtol=1e-12)
    for r, kernel in enumerate(OWN):
        own = kernel.along(diff[[r]])
        np.testing.assert_allclose(slope[r, ..., None] * steps[r], own[1][0, ..., None] * own[2][0], rtol=1e-12)


def test_likelihoods_of_runs_of_which_some_have_sums_are_those_of_each_alone():
    rng = np.random.default_rng(1)
    X, y, theta = rng.random((4, 9, 3)), rng.standard_normal((4, 9)), rng.uniform(-2.0, 0.0, (4, 2, 4))
    found = negative_log_likelihood(theta, make_data(X, y), per_run(OWN))
    for r, kernel in enumerate(OWN):
        alone = negative_log_likelihood(theta[[r]], make_data(X[[r]], y[[r]]), kernel)
        for a, b in zip(found, alone, strict=True):
            np.testing.assert_allclose(a[r], b[0], rtol=1e-10)


@each_kernel
def test_functions_drawn_from_the_prior_have_the_covariance_of_the_kernel(kernel):
    X = np.random.default_rng(0).random((40, 5, 2)) * 2.0  # 40 draws of the frequencies at the same five points
    X[:] = X[0]
    functions, _ = random_features(kernel, X, tuple(np.random.default_rng(r) for r in range(40)), 100)
    values = functions(X)
    found = np.einsum("rms,rns->mn", values, values) / values[:, 0].size
    np.testing.assert_allclose(found, kernel.between(X[:1], X[:1])[0], atol=0.08)


def test_what_is_learned_along_one_input_holds_wherever_the_others_are():
    """A sum of functions of one input each: 40 points in five dimensions tell it to a kernel with sums."""

    def f(x):
        return np.sin(7.0 * x).sum(axis=-1)

    rng = np.random.default_rng(0)
    X, x = rng.random((1, 40, 5)), rng.random((1, 300, 5))
    y = (f(X) - f(X).mean()) / f(X).std()
    error = {}
    for name in ("matern52", "matern52-sums"):
        data = make_data(X, y)
        theta = fit(Regression(data, KERNELS[name], estimate_noise=False), rng.random((1, 8, 6))).theta
        mu, _ = condition(data, theta, KERNELS[name]).moments(x)
        error[name] = np.sqrt(np.mean((mu * f(X).std() + f(X).mean() - f(x)) ** 2))
    assert error["matern52-sums"] < 0.3 * error["matern52"]


def test_runs_with_kernels_of_their_own_get_what_each_kernel_gives():
    own = [KERNELS["se"], KERNELS["matern52"], KERNELS["se"]]
    r2 = np.random.default_rng(0).random((3, 2, 4))
    both = per_run(own).value_and_slope(r2.copy())
    expected = [kernel.value_and_slope(r2[r].copy()) for r, kernel in enumerate(own)]
    np.testing.assert_array_equal(both, np.swapaxes(expected, 0, 1))
    np.testing.assert_array_equal(per_run(own).value(r2.copy()), both[0])


@pytest.mark.parametrize("runs", [np.array([1, 2]), slice(1, 3)], ids=["indices", "slice"])
def test_some_of_the_runs_keep_their_kernels(runs):
    r2 = np.random.default_rng(0).random((2, 3))
    part = per_run([KERNELS["se"], KERNELS["matern52"], KERNELS["se"]]).select(runs)
    np.testing.assert_array_equal(
        part.value(r2.copy()), [KERNELS["matern52"].value(r2[0].copy()), KERNELS["se"].value(r2[1].copy())]
    )


@each_kernel
def test_runs_with_one_kernel_share_it(kernel):
    assert per_run([kernel, kernel]) is kernel
    assert per_run([KERNELS["se"], kernel, kernel]).select(np.array([1, 2])) is kernel
