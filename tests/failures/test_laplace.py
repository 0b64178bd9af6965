"""Laplace's approximation against a plain implementation of the definition, one run at a time."""

import numpy as np
import pytest
from scipy.optimize import root as find_root
from scipy.special import log_ndtr, ndtr

from surefoot.failures import laplace
from surefoot.failures.classification import log_success
from surefoot.gp.kernels import MATERN52, SE
from surefoot.gp.likelihood import make_data


def labelled(n: int, d: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((1, n, d))
    h = np.where(((X - 0.5) ** 2).sum(-1) < 0.12, 1.0, -1.0)
    h[0, :3] *= -1.0  # not quite separable
    return X, h


def correlations(A: np.ndarray, B: np.ndarray, ell: np.ndarray, kernel: str) -> np.ndarray:
    r2 = (((A[:, None, :] - B[None, :, :]) / ell) ** 2).sum(-1)
    if kernel == "se":
        return np.exp(-0.5 * r2)
    r = np.sqrt(5.0 * r2)
    return (1.0 + r + r * r / 3.0) * np.exp(-r)


def reference(X, h, theta, x, kernel):
    """Mode by a general root finder, determinants and inverses as they stand in the definition."""
    ell, s2 = np.exp(theta[:-1]), np.exp(theta[-1])
    K = s2 * correlations(X, X, ell, kernel)

    def slope(f):
        return h * np.exp(-0.5 * f * f - 0.5 * np.log(2 * np.pi) - log_ndtr(h * f))

    f = np.zeros(len(h))
    for _ in range(3):
        f = find_root(lambda f: f - K @ slope(f), f, tol=1e-14).x
    a = slope(f)
    W = a * a + f * a
    log_q = log_ndtr(h * f).sum() - 0.5 * a @ f - 0.5 * np.linalg.slogdet(np.eye(len(h)) + K * W)[1]
    k = s2 * correlations(x, X, ell, kernel)
    mean = k @ a
    variance = s2 - np.einsum("ij,ji->i", k, np.linalg.solve(K + np.diag(1.0 / W), k.T))
    return log_q, f, mean, variance


@pytest.fixture(params=[SE, MATERN52], ids=lambda kernel: kernel.name)
def kernel(request):
    return request.param


THETAS = np.log(np.array([[0.3, 0.5, 4.0], [1.0, 0.2, 0.5], [0.6, 0.6, 40.0]]))


@pytest.mark.parametrize("theta", THETAS, ids=str)
def test_the_marginal_likelihood_is_that_of_the_definition(theta, kernel):
    X, h = labelled(25)
    found = laplace.approximate(theta[None, None], make_data(X, h), kernel)
    log_q, _, _, _ = reference(X[0], h[0], theta, X[0], kernel.name)
    assert -found.nll[0, 0] == pytest.approx(log_q, rel=0, abs=1e-9)


@pytest.mark.parametrize("theta", THETAS, ids=str)
def test_the_mode_is_that_of_the_definition(theta, kernel):
    X, h = labelled(25)
    found = laplace.approximate(theta[None, None], make_data(X, h), kernel)
    _, f, _, _ = reference(X[0], h[0], theta, X[0], kernel.name)
    K = np.exp(theta[-1]) * correlations(X[0], X[0], np.exp(theta[:-1]), kernel.name)
    np.testing.assert_allclose(K @ found.start[0, 0, 0], f, rtol=0, atol=1e-9)


@pytest.mark.parametrize("theta", THETAS, ids=str)
def test_predictions_are_those_of_the_definition(theta, kernel):
    X, h = labelled(25)
    x = np.random.default_rng(5).random((1, 40, 2))
    post = laplace.condition(make_data(X, h), theta[None], kernel)
    mu, sd = post.moments(x)
    _, _, mean, variance = reference(X[0], h[0], theta, x[0], kernel.name)
    np.testing.assert_allclose(mu[0], mean, rtol=0, atol=1e-9)
    np.testing.assert_allclose(sd[0] ** 2, variance, rtol=1e-9)


def test_predictions_at_the_data_give_the_mode_back():
    X, h = labelled(25)
    data = make_data(X, h)
    mu, _ = laplace.condition(data, THETAS[:1], SE).moments(X)
    _, f, _, _ = reference(X[0], h[0], THETAS[0], X[0], "se")
    np.testing.assert_allclose(mu[0], f, rtol=0, atol=1e-9)


def test_a_start_elsewhere_leads_to_the_same_mode():
    X, h = labelled(25)
    data = make_data(X, h)
    far = laplace.approximate(np.log([[[0.1, 2.0, 900.0]]]), data, SE).start
    cold = laplace.approximate(THETAS[None, :1], data, SE)
    warm = laplace.approximate(THETAS[None, :1], data, SE, far)
    np.testing.assert_allclose(warm.nll, cold.nll, rtol=0, atol=1e-9)


def test_predictions_agree_in_both_ways_of_asking():
    X, h = labelled(25)
    x = np.random.default_rng(5).random((1, 10, 2))
    post = laplace.condition(make_data(X, h), THETAS[2:], SE)
    for a, b in zip(post.moments_and_gradients(x)[:2], post.moments(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_weights_that_underflow_leave_predictions_finite_and_consistent():
    """Twenty sure labels at s2 = 1e8: phi(u) is 0 for most of them."""
    X, _ = labelled(20)
    h = np.where(X[..., 0] > 0.5, 1.0, -1.0)
    post = laplace.condition(make_data(X, h), np.log([[1.0, 1.0, 1e8]]), SE)
    x = np.random.default_rng(5).random((1, 10, 2))
    mu, sd = post.moments(x)
    k = correlations(x[0], X[0], np.ones(2), "se")
    assert np.isfinite(sd).all()
    np.testing.assert_allclose(mu[0], k @ post.alpha[0], rtol=1e-9, atol=1e-9 * np.abs(mu).max())


def test_p_of_success_has_the_order_of_scikit_learns_logistic_classifier():
    gaussian_process = pytest.importorskip("sklearn.gaussian_process")
    X, h = labelled(60, seed=3)
    x = np.random.default_rng(5).random((1, 200, 2))
    peer = gaussian_process.GaussianProcessClassifier(
        30.0 * gaussian_process.kernels.RBF([0.3, 0.3]), optimizer=None
    ).fit(X[0], h[0])
    post = laplace.condition(make_data(X, h), np.log([[0.3, 0.3, 30.0 / 1.7**2]]), SE)  # logistic: 1.7 times probit
    P = np.exp(log_success(*post.moments(x))[0])[0]
    np.testing.assert_allclose(P, peer.predict_proba(x[0])[:, 0], atol=0.03)


def test_one_label_has_the_likelihood_known_in_closed_form():
    """n = 1: f = s2 rho(f), log q = log Phi(f) - f^2 / (2 s2) - log(1 + s2 W) / 2."""
    s2 = 3.0
    f = 0.0
    for _ in range(200):  # a = rho(f) by bisection-like damping
        rho = np.exp(-0.5 * f * f) / np.sqrt(2 * np.pi) / ndtr(f)
        f += 0.2 * (s2 * rho - f)
    rho = f / s2
    expected = log_ndtr(f) - 0.5 * f * rho - 0.5 * np.log1p(s2 * rho * (rho + f))
    found = laplace.approximate(np.log([[[0.3, s2]]]), make_data(np.full((1, 1, 1), 0.4), np.ones((1, 1))), SE)
    assert -found.nll[0, 0] == pytest.approx(expected, abs=1e-9)
