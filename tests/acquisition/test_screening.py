"""Lazy screening gives what evaluating every candidate gives."""

import numpy as np
import pytest

from surefoot.acquisition.registry import PAPER_POLICIES, policy_at
from surefoot.acquisition.screening import top_candidates
from surefoot.gp.kernels import KERNELS
from surefoot.gp.likelihood import make_data
from surefoot.gp.posterior import condition
from surefoot.numerics.designs import generator, kronecker

BOUNDED = [
    name
    for name in (*PAPER_POLICIES, "MES-R")
    if policy_at(name, 0).prepare is not None and policy_at(name, 0).rises_with_sd != "unknown"
]


def brute_force(target, x, k):
    values = target.values(x)
    order = np.argsort(-values, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(values, order, axis=1)


def candidates(post, m, seed=0):
    """A lattice, and a few points round observations."""
    R, n, d = post.X.shape
    rng = generator(seed, 0, 0)
    lattice = np.stack([kronecker(m - 40, d, generator(seed, r, 1)) for r in range(R)])
    near = post.X[:, rng.integers(n, size=40)] + 0.01 * rng.standard_normal((R, 40, d))
    return np.concatenate([lattice, np.clip(near, 0.0, 1.0)], axis=1)


@pytest.fixture(scope="module")
def posteriors():
    return {}


def noisy_posterior(posteriors, R, n):
    """With lam = 1e-6, so that values are well defined to many digits: posterior, f_best, y; made once."""
    if (R, n) not in posteriors:
        rng = np.random.default_rng((R, n))
        X = rng.random((R, n, 2))
        y = np.sin(7.0 * X[..., 0]) + np.cos(5.0 * X[..., 1]) + X.sum(axis=-1)
        y = (y - y.mean(axis=1, keepdims=True)) / y.std(axis=1, keepdims=True)
        theta = np.log(rng.uniform(0.2, 0.5, (R, 3)))
        theta[:, -1] = np.log(1e-6)
        posteriors[R, n] = (condition(make_data(X, y), theta, KERNELS["matern52"]), y.min(axis=1, keepdims=True), y)
    return posteriors[R, n]


@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize("n", [60, 150, 400])
@pytest.mark.parametrize("R", [1, 3])
@pytest.mark.parametrize("k", [1, 10])
def test_the_best_candidates_are_those_of_brute_force(name, n, R, k, make_target, posteriors):
    post, f_best, _ = noisy_posterior(posteriors, R, n)
    target = make_target(name, post, f_best)
    x = candidates(post, 1000)
    index, value = top_candidates(target, x, k)
    expected_index, expected_value = brute_force(target, x, k)
    np.testing.assert_array_equal(index, expected_index)
    np.testing.assert_allclose(value, expected_value, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", BOUNDED)
@pytest.mark.parametrize("R", [1, 3])
def test_with_failures_the_best_candidates_are_those_of_brute_force(name, R, make_posterior, make_target, posteriors):
    post, f_best, y = noisy_posterior(posteriors, R, 150)
    success, _, _ = make_posterior(R, 20, 2, seed=5)
    target = make_target(name, post, f_best, success, y.max(axis=1, keepdims=True))
    x = candidates(post, 1000)
    index, value = top_candidates(target, x, 5)
    expected_index, expected_value = brute_force(target, x, 5)
    np.testing.assert_array_equal(index, expected_index)
    np.testing.assert_allclose(value, expected_value, rtol=1e-8, atol=1e-8)


def test_a_f_best_above_many_means_does_not_rule_out_the_best(make_target, posteriors):
    post, f_best, _ = noisy_posterior(posteriors, 3, 150)
    x = candidates(post, 1000)
    for name in ("PI", "ScaledEI", "MES"):
        target = make_target(name, post, f_best + 1.5)  # a third of all candidates is better already
        np.testing.assert_array_equal(top_candidates(target, x, 5)[0], brute_force(target, x, 5)[0])


def test_candidates_in_chunks_give_what_they_give_at_once(make_target, posteriors):
    post, f_best, _ = noisy_posterior(posteriors, 3, 400)
    target = make_target("EI", post, f_best)
    x = candidates(post, 9000)  # more than 2^22 / (3 * 400)
    index, value = top_candidates(target, x, 6)
    expected_index, expected_value = brute_force(target, x, 6)
    np.testing.assert_array_equal(index, expected_index)
    np.testing.assert_allclose(value, expected_value, rtol=1e-8)


def test_more_wanted_than_there_are_gives_all_of_them(make_target, posteriors):
    post, f_best, _ = noisy_posterior(posteriors, 1, 60)
    x = candidates(post, 45)[:, :6]
    index, _ = top_candidates(make_target("EI", post, f_best), x, 10)
    assert sorted(index[0].tolist()) == list(range(6))


def test_padded_runs_are_screened_as_unpadded_ones(make_posterior, make_target):
    post, y, f_best = make_posterior(1, 70, 2)
    theta = np.log([[0.3, 0.4, 1e-5]])
    keep = np.ones(70)
    keep[10:70:7] = 0.0
    padded = condition(make_data(post.X, y, keep[None]), theta, KERNELS["se"])
    plain = condition(make_data(post.X[:, keep > 0], y[:, keep > 0]), theta, KERNELS["se"])
    x = candidates(post, 800)
    for name in ("EI", "ScaledEI", "LCB"):
        a, b = (top_candidates(make_target(name, p, f_best), x, 8)[0] for p in (padded, plain))
        np.testing.assert_array_equal(a, b)
