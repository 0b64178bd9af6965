"""ES and PES: gradients, batches, signs; whether they find what they approximate is tests/oracles' affair."""

from dataclasses import replace

import numpy as np
import pytest

from surefoot import minimize
from surefoot.acquisition.registry import policy_at
from surefoot.acquisition.representers import draws, representers
from surefoot.acquisition.screening import top_candidates
from surefoot.acquisition.step import Step
from surefoot.errors import InvalidInputError
from surefoot.numerics.designs import generator

each_policy = pytest.mark.parametrize("name", ["ES", "PES"])


def step_of(post, f_best):
    return Step(post, f_best, tuple(generator(7, r, 0) for r in range(post.X.shape[0])))


@each_policy
@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_gradient_is_that_of_the_values(name, d, make_posterior):
    post, _, f_best = make_posterior(1, 6 * d, d, estimate_noise=True)
    score = policy_at(name, 0).prepare(step_of(post, f_best))
    x = np.random.default_rng(d).uniform(0.1, 0.9, (1, 6, d))
    _, gradient = score.values_and_gradients(x)
    for i in range(d):
        h = 2e-4 * np.eye(d)[i]
        slopes = (score.values(x + h) - score.values(x - h)) / 4e-4
        np.testing.assert_allclose(gradient[..., i], slopes, rtol=0.02, atol=0.02)  # single precision, and curvature


@each_policy
def test_values_with_gradients_are_the_values(name, make_posterior):
    post, _, f_best = make_posterior(2, 10, 2)
    score = policy_at(name, 0).prepare(step_of(post, f_best))
    x = np.random.default_rng(0).random((2, 5, 2))
    np.testing.assert_allclose(score.values_and_gradients(x)[0], score.values(x), rtol=1e-5)


@each_policy
def test_a_run_has_the_values_in_a_batch_that_it_has_alone(name, make_posterior):
    post, _, f_best = make_posterior(3, 10, 2)
    x = np.random.default_rng(0).random((3, 5, 2))
    together = policy_at(name, 0).prepare(step_of(post, f_best)).values(x)
    for r in range(3):
        one = np.array([r])
        step = Step(post.select(one), f_best[one], (generator(7, r, 0),))
        np.testing.assert_allclose(policy_at(name, 0).prepare(step).values(x[one])[0], together[r], rtol=1e-6)


@each_policy
def test_selected_runs_are_those_runs(name, make_posterior):
    post, _, f_best = make_posterior(2, 10, 2)
    score = policy_at(name, 0).prepare(step_of(post, f_best))
    x = np.random.default_rng(0).random((2, 5, 2))
    np.testing.assert_allclose(score.select(np.array([1])).values(x[1:])[0], score.values(x)[1], rtol=1e-6)


@each_policy
def test_an_observation_repeated_without_noise_tells_nothing(name, make_posterior):
    post, _, f_best = make_posterior(1, 10, 2, estimate_noise=False)
    score = policy_at(name, 0).prepare(step_of(post, f_best))
    away = score.values(np.random.default_rng(0).random((1, 50, 2)))
    assert np.exp(score.values(post.X)).max() < 0.05 * np.exp(away).max()


def test_representers_are_distinct_points_of_the_cube(make_posterior):
    post, _, f_best = make_posterior(2, 12, 1)
    joint = representers(step_of(post, f_best), 64)
    assert joint.Z.shape == (2, 64, 1)
    assert joint.Z.min() >= 0.0
    assert joint.Z.max() <= 1.0
    for Z in joint.Z:
        assert len(np.unique(Z, axis=0)) >= 0.9 * 64


def test_draws_have_the_mean_and_covariance_of_the_process(make_posterior):
    post, _, f_best = make_posterior(1, 8, 2)
    step = step_of(post, f_best)
    joint = representers(step, 64)
    values = draws(joint, step, 40_000).values[0]
    scale = np.sqrt(np.diag(joint.covariance[0]))
    np.testing.assert_allclose((values.mean(axis=0) - joint.mean[0]) / scale, 0.0, atol=1e-3)  # pairs: exact
    np.testing.assert_allclose(
        np.cov(values.T) / np.outer(scale, scale), joint.covariance[0] / np.outer(scale, scale), atol=0.05
    )


def test_the_rough_form_of_es_leaves_the_best_candidates_to_the_exact_one(make_posterior, make_target):
    post, _, f_best = make_posterior(1, 14, 2)
    target = make_target("ES", post, f_best)
    x = np.random.default_rng(0).random((1, 300, 2))
    index, value = top_candidates(target, x, 4)
    every = target.values(x)[0]
    np.testing.assert_allclose(value[0], every[index[0]], rtol=1e-5)
    assert every[index[0, 0]] == pytest.approx(every.max(), abs=0.05)


@each_policy
def test_failures_weigh_on_them(name, make_posterior, make_target):
    post, y, f_best = make_posterior(1, 14, 2)
    success, _, _ = make_posterior(1, 10, 2, seed=3)
    plain, weighted = make_target(name, post, f_best), make_target(name, post, f_best, success, y.max(keepdims=True))
    x = np.random.default_rng(0).random((1, 20, 2))
    assert (weighted.values(x) <= plain.values(x) + 1e-9).all()
    value, gradient = weighted.values_and_gradients(x)
    np.testing.assert_allclose(value, weighted.values(x), rtol=1e-5)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize(("name", "search"), [("ES", "gradient"), ("PES", "gradient"), ("PES", "paper")])
def test_they_find_the_minimum_of_a_bowl(name, search):
    result = minimize(
        lambda x: (x[0] - 0.3) ** 2 + (x[1] - 0.6) ** 2,
        [(0.0, 1.0)] * 2,
        n_evals=13,
        n_init=8,
        policy=name,
        search=search,
        kernel="se",
    )
    assert result.fun < 1e-2
    assert result.settings.policy == name


@each_policy
def test_a_surrogate_without_covariances_is_refused(name, make_posterior):
    post, _, f_best = make_posterior(1, 8, 2)

    class Blind:
        X, noise = post.X, post.noise
        moments = staticmethod(post.moments)

    with pytest.raises(InvalidInputError, match="MES"):
        policy_at(name, 0).prepare(replace(step_of(post, f_best), surrogate=Blind()))
