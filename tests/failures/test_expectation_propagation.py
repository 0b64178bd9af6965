"""Expectation propagation against the exact posterior, and against one site at a time by the textbook."""

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.special import log_ndtr, ndtr
from scipy.stats import multivariate_normal

from surefoot.failures import expectation_propagation as ep
from surefoot.gp.kernels import SE
from surefoot.gp.likelihood import make_data


def correlations(A: np.ndarray, B: np.ndarray, ell: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * (((A[:, None, :] - B[None, :, :]) / ell) ** 2).sum(-1))


def labelled(n: int, d: int = 2, seed: int = 0, flipped: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).random((1, n, d))
    h = np.where(((X - 0.5) ** 2).sum(-1) < 0.12, 1.0, -1.0)
    h[0, :flipped] *= -1.0
    return X, h


def sequential(K: np.ndarray, h: np.ndarray, n_sweeps: int = 400) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Algorithm 3.5 of [RW06] with plain inverses; log Z, the integral of scaled Gaussian sites, moments, K^-1 mean."""
    n = len(h)
    tau, nu = np.zeros(n), np.zeros(n)
    Sigma, mu = K.copy(), np.zeros(n)
    for _ in range(n_sweeps):
        before = tau.copy()
        for i in range(n):
            T = 1.0 / Sigma[i, i] - tau[i]
            m, v = (mu[i] / Sigma[i, i] - nu[i]) / T, 1.0 / T
            u = h[i] * m / np.sqrt(1 + v)
            ratio = np.exp(-0.5 * u * u - 0.5 * np.log(2 * np.pi) - log_ndtr(u))
            mean = m + h[i] * v * ratio / np.sqrt(1 + v)
            variance = v - v * v * ratio / (1 + v) * (u + ratio)
            change = 1.0 / variance - T - tau[i]
            tau[i], nu[i] = tau[i] + change, mean / variance - T * m
            Sigma = Sigma - np.outer(Sigma[:, i], Sigma[i]) * change / (1.0 + change * Sigma[i, i])
            mu = Sigma @ nu
        R = np.linalg.inv(np.diag(1.0 / np.sqrt(tau)) @ np.diag(1.0 / np.sqrt(tau)) + K)
        Sigma = K - K @ R @ K
        mu = Sigma @ nu
        if np.abs(tau - before).max() < 1e-14:
            break
    T = 1.0 / np.diag(Sigma) - tau
    m, v, site_mean, site_var = (mu / np.diag(Sigma) - nu) / T, 1.0 / T, nu / tau, 1.0 / tau
    log_scale = log_ndtr(h * m / np.sqrt(1 + v)) + 0.5 * np.log(2 * np.pi * (v + site_var))
    log_scale += 0.5 * (m - site_mean) ** 2 / (v + site_var)
    log_z = log_scale.sum() + multivariate_normal(np.zeros(n), K + np.diag(site_var)).logpdf(site_mean)
    return log_z, mu, Sigma, np.linalg.solve(K + np.diag(site_var), site_mean)


def test_one_label_is_treated_exactly():
    """n = 1: Z = 1/2 and mean, variance of N(0, s2) Phi(f) / Z in closed form."""
    s2 = 5.0
    data = make_data(np.full((1, 1, 1), 0.4), np.ones((1, 1)))
    theta = np.log([[0.3, s2]])
    assert ep.approximate(theta[None], data, SE).nll[0, 0] == pytest.approx(np.log(2.0), abs=1e-10)
    mu, sd = ep.condition(data, theta, SE).moments(np.full((1, 1, 1), 0.4))
    r = np.sqrt(2 / np.pi)  # phi(0) / Phi(0)
    assert mu[0, 0] == pytest.approx(s2 * r / np.sqrt(1 + s2), abs=1e-9)
    assert sd[0, 0] ** 2 == pytest.approx(s2 - s2**2 * r * r / (1 + s2), abs=1e-9)


@pytest.mark.parametrize("signs", [(1, 1), (1, -1)], ids=str)
@pytest.mark.parametrize("s2", [1.0, 10.0])
def test_two_labels_are_close_to_quadrature(signs, s2):
    """Expectation propagation is not exact from two labels on: it misses log Z by 0.007 at s2 = 10."""
    X, h, ell = np.array([[[0.2], [0.5]]]), np.array([signs], dtype=float), 0.4
    K = s2 * correlations(X[0], X[0], np.array([ell]))
    prior = multivariate_normal(np.zeros(2), K)
    wide = 8 * np.sqrt(s2)

    def integral(weight):
        return dblquad(
            lambda g, f: weight(f, g) * prior.pdf([f, g]) * ndtr(h[0, 0] * f) * ndtr(h[0, 1] * g),
            -wide, wide, -wide, wide, epsabs=1e-7, epsrel=1e-7,
        )[0]  # fmt: skip

    Z = integral(lambda f, g: 1.0)
    mean = integral(lambda f, g: f) / Z
    theta = np.log([[ell, s2]])
    data = make_data(X, h)
    assert ep.approximate(theta[None], data, SE).nll[0, 0] == pytest.approx(-np.log(Z), abs=1e-2)
    assert ep.condition(data, theta, SE).moments(X)[0][0, 0] == pytest.approx(mean, rel=2e-2)


@pytest.mark.parametrize("signs", [(1, 1, 1), (1, -1, 1), (-1, -1, 1)], ids=str)
@pytest.mark.parametrize("s2", [1.0, 10.0, 100.0])
def test_three_labels_are_close_to_the_orthant_probability(signs, s2):
    """Z is the probability that three Gaussians with covariance K + I have the signs h: known in closed form."""
    X, h = np.array([[[0.1], [0.4], [0.8]]]), np.array([signs], dtype=float)
    rho = s2 * correlations(X[0], X[0], np.array([0.4])) / (1.0 + s2) * np.outer(h[0], h[0])
    Z = 1 / 8 + (np.arcsin(rho[0, 1]) + np.arcsin(rho[0, 2]) + np.arcsin(rho[1, 2])) / (4 * np.pi)
    found = ep.approximate(np.log([[[0.4, s2]]]), make_data(X, h), SE)
    assert found.nll[0, 0] == pytest.approx(-np.log(Z), abs=2e-2)


@pytest.mark.parametrize(
    "theta", np.log([[0.3, 0.5, 4.0], [1.0, 0.2, 0.5], [0.6, 0.6, 40.0], [0.8, 0.8, 900.0]]), ids=str
)
@pytest.mark.parametrize("flipped", [0, 3])
def test_all_sites_at_once_end_where_one_at_a_time_does(theta, flipped):
    X, h = labelled(20, flipped=flipped)
    x = np.random.default_rng(5).random((1, 30, 2))
    ell, s2 = np.exp(theta[:-1]), np.exp(theta[-1])
    K = s2 * correlations(X[0], X[0], ell)
    log_z, mu_data, Sigma, a = sequential(K, h[0])
    data = make_data(X, h)
    post = ep.condition(data, theta[None], SE)
    mu, sd = post.moments(X)
    assert -ep.approximate(theta[None, None], data, SE).nll[0, 0] == pytest.approx(log_z, abs=1e-9)
    np.testing.assert_allclose(mu[0], mu_data, rtol=0, atol=1e-7)
    np.testing.assert_allclose(sd[0] ** 2, np.diag(Sigma), rtol=1e-7)
    k = s2 * correlations(x[0], X[0], ell)
    np.testing.assert_allclose(post.moments(x)[0][0], k @ a, rtol=0, atol=1e-7)


def test_a_start_elsewhere_leads_to_the_same_fixed_point():
    X, h = labelled(30, flipped=3)
    data = make_data(X, h)
    theta = np.log([[[0.3, 0.5, 4.0]]])
    far = ep.approximate(np.log([[[0.1, 2.0, 900.0]]]), data, SE).start
    np.testing.assert_allclose(
        ep.approximate(theta, data, SE, far).nll, ep.approximate(theta, data, SE).nll, rtol=0, atol=1e-9
    )


def test_the_fixed_point_is_reached_over_the_whole_range_of_hyperparameters():
    X, h = labelled(60, flipped=2)
    data = make_data(X, h)
    ell, s2 = np.meshgrid([0.02, 0.1, 0.3, 1.0, 20.0], [0.1, 1.0, 10.0, 100.0, 1000.0])
    theta = np.log(np.stack([ell.ravel(), ell.ravel(), s2.ravel()], axis=-1))[None]
    sites = ep.find_sites(ep.latent_prior(theta, data, SE).K, data.y, None, ep.FINAL_TOL)
    assert sites.residual.max() < 1e-9


def test_the_fixed_point_is_reached_for_contradictory_labels_almost_at_the_same_point():
    """The first moves grow here: an acceleration that is not watched leads back to the start for ever."""
    data = make_data(np.array([[[0.5], [0.5001]]]), np.array([[1.0, -1.0]]))
    sites = ep.find_sites(ep.latent_prior(np.log([[[0.3, 50.0]]]), data, SE).K, data.y, None, ep.FINAL_TOL)
    assert sites.residual[0, 0] < ep.FINAL_TOL


def test_where_sites_do_not_settle_the_last_ones_are_kept_and_other_runs_are_not_disturbed(monkeypatch):
    X, h = labelled(40)
    X, h = np.concatenate([X, X]), np.concatenate([h, np.ones_like(h)])  # run 1: one label only, slow at s2 = 1e3
    theta = np.log(np.array([[1.0, 1.0, 1.0], [20.0, 20.0, 1000.0]]))
    monkeypatch.setattr(ep, "MAX_ITER", 12)
    both = ep.find_sites(ep.latent_prior(theta[:, None], make_data(X, h), SE).K, h, None, 1e-8)
    alone = make_data(X[:1], h[:1])
    one = ep.find_sites(ep.latent_prior(theta[:1, None], alone, SE).K, alone.y, None, 1e-8)
    assert both.residual[0, 0] < 1e-8 < both.residual[1, 0]
    assert np.isfinite(both.log_z).all()
    assert np.isfinite(both.mu).all()
    np.testing.assert_allclose(both.mu[0], one.mu[0], rtol=0, atol=1e-12)
