"""PI, EI and ScaledEI against numerical integration of their definitions; MES against its plain formula."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq

from surefoot.acquisition import entropy
from surefoot.acquisition.improvement import log_ei, log_pi, log_scaled_ei
from surefoot.acquisition.naive import mn
from surefoot.acquisition.optimistic import lcb

CASES = [
    (mu, sd, f_best)
    for f_best in (-1.3, 0.4)
    for sd in (0.05, 1.0, 7.0)
    for mu in (f_best - 3.0 * sd, f_best - 0.2 * sd, f_best, f_best + sd, f_best + 4.0 * sd)
]
each_case = pytest.mark.parametrize(("mu", "sd", "f_best"), CASES)


def moment(power, mu, sd, f_best):
    """E[I^power] with I = max(f_best - f, 0) and f ~ N(mu, sd^2) [NH18, Eq. 2]."""
    u = (f_best - mu) / sd
    # f = mu - sd z: the improvement is positive for z > -u; split at the bulk of the density
    edges = [-u, *sorted(b for b in (0.0, -u + 1.0, 3.0) if b > -u), max(-u, 0.0) + 12.0]

    def integrand(z):
        return (f_best - mu + sd * z) ** power * stats.norm.pdf(z)

    return sum(quad(integrand, a, b, epsabs=0.0, epsrel=1e-12)[0] for a, b in itertools.pairwise(edges))


def scalar(function, *arguments):
    return float(np.exp(function(*(np.array([[a]]) for a in arguments))[0][0, 0]))


@each_case
def test_pi_is_the_probability_of_an_improvement(mu, sd, f_best):
    assert scalar(log_pi, mu, sd, f_best) == pytest.approx(moment(0, mu, sd, f_best), rel=1e-9)


@each_case
def test_ei_is_the_expectation_of_the_improvement(mu, sd, f_best):
    assert scalar(log_ei, mu, sd, f_best) == pytest.approx(moment(1, mu, sd, f_best), rel=1e-9)


@each_case
def test_scaled_ei_is_the_expectation_of_the_improvement_over_its_standard_deviation(mu, sd, f_best):
    mean, square = moment(1, mu, sd, f_best), moment(2, mu, sd, f_best)
    expected = mean / np.sqrt(square - mean * mean)
    assert scalar(log_scaled_ei, mu, sd, f_best) == pytest.approx(expected, rel=1e-8)


def test_lcb_is_kappa_standard_deviations_below_the_mean():
    assert lcb(np.array([[1.5]]), np.array([[0.2]]), 3.0)[0][0, 0] == pytest.approx(-(1.5 - 3.0 * 0.2))


def test_mn_is_minus_the_mean():
    assert mn(np.array([[1.5]]), np.array([[0.2]]))[0][0, 0] == -1.5


def test_mes_is_the_mean_over_samples_of_its_plain_formula():
    rng = np.random.default_rng(0)
    mu, sd = rng.normal(size=(2, 30)), rng.uniform(0.2, 1.5, (2, 30))
    f_star = -1.0 - rng.random((2, 100))
    gamma = (mu[..., None] - f_star[:, None, :]) / sd[..., None]
    Phi, phi = stats.norm.cdf(gamma), stats.norm.pdf(gamma)
    plain = np.mean(gamma * phi / (2.0 * Phi) - stats.norm.logcdf(gamma), axis=-1)
    np.testing.assert_allclose(np.exp(entropy.log_mes(mu, sd, f_star)[0]), plain, rtol=1e-6)


def test_mes_far_above_the_samples_keeps_its_logarithm():
    gamma = np.array([[8.0, 20.0, 37.0, 300.0]])
    log_h = entropy.log_mes(gamma, np.ones((1, 4)), np.zeros((1, 1)))[0]
    expected = stats.norm.logpdf(gamma) + np.log(gamma / 2.0)  # leading order; the next is 2/gamma^2 relative
    np.testing.assert_allclose(log_h, expected, atol=0.05)


def quartile(level, mu, sd):
    """z with P(min f < z) = level, the points taken as independent."""

    def excess(z):
        return -np.expm1(stats.norm.logcdf((mu - z) / sd).sum()) - level

    return brentq(excess, (mu - 9.0 * sd).min(), mu.max(), xtol=1e-10)


def test_the_median_of_gumbel_samples_is_that_of_the_exact_minimum():
    rng = np.random.default_rng(1)
    mu, sd = rng.normal(size=(1, 400)), rng.uniform(0.1, 0.8, (1, 400))
    uniforms = (np.arange(1.0, 2001.0) / 2001.0)[None]
    samples = entropy.sample_minimum_gumbel(mu, sd, np.array([[9.0]]), uniforms)
    assert np.median(samples) == pytest.approx(quartile(0.5, mu[0], sd[0]), abs=1e-3)


def test_the_quartiles_of_gumbel_samples_are_close_to_those_of_the_exact_minimum():
    rng = np.random.default_rng(1)
    mu, sd = rng.normal(size=(1, 400)), rng.uniform(0.1, 0.8, (1, 400))
    uniforms = (np.arange(1.0, 2001.0) / 2001.0)[None]
    samples = entropy.sample_minimum_gumbel(mu, sd, np.array([[9.0]]), uniforms)
    exact = [quartile(level, mu[0], sd[0]) for level in (0.25, 0.75)]
    np.testing.assert_allclose(np.quantile(samples, [0.25, 0.75]), exact, atol=0.1 * (exact[1] - exact[0]))


def test_the_spread_between_quartiles_of_gumbel_samples_is_exact():
    rng = np.random.default_rng(2)
    mu, sd = rng.normal(size=(1, 50)), rng.uniform(0.1, 0.8, (1, 50))
    uniforms = (np.arange(1.0, 20001.0) / 20001.0)[None]
    samples = entropy.sample_minimum_gumbel(mu, sd, np.array([[9.0]]), uniforms)
    exact = [quartile(level, mu[0], sd[0]) for level in (0.25, 0.75)]
    low, high = np.quantile(samples, [0.25, 0.75])
    assert high - low == pytest.approx(exact[1] - exact[0], rel=1e-2)


def test_gumbel_samples_are_no_higher_than_the_best_value_seen():
    rng = np.random.default_rng(3)
    mu, sd = rng.normal(size=(2, 100)), rng.uniform(0.1, 0.8, (2, 100))
    f_best = np.array([[-1.5], [-3.0]])
    samples = entropy.sample_minimum_gumbel(mu, sd, f_best, rng.random((2, 500)))
    assert (samples <= f_best).all()
    assert np.isfinite(samples).all()
