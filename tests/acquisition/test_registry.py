"""Policies by name, the default's turns, and policies of the user."""

import numpy as np
import pytest

from surefoot.acquisition import registry
from surefoot.acquisition.improvement import log_ei
from surefoot.acquisition.optimistic import lcb
from surefoot.acquisition.registry import (
    DEFAULT_POLICY,
    PAPER_POLICIES,
    Step,
    check_policy,
    policy_at,
    policy_names,
    register_policy,
)
from surefoot.acquisition.screening import top_candidates
from surefoot.backend import sq_distances
from surefoot.errors import InvalidInputError, UnknownNameError
from surefoot.numerics.designs import generator

MU = np.linspace(-1.0, 2.0, 12)[None]
SD = np.linspace(0.1, 1.5, 12)[None]


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(registry, "_POLICIES", dict(registry._POLICIES))


@pytest.fixture
def step(make_posterior):
    post, _, f_best = make_posterior(1, 10, 2)
    return Step(post, f_best, (generator(0, 0, 0),))


@pytest.mark.parametrize("name", [*PAPER_POLICIES, "MES-R"])
def test_names_are_found_in_any_case(name):
    assert check_policy(name.upper()) == check_policy(name.lower()) == name


def test_every_name_listed_can_be_used():
    assert {policy_at(name, 0).name for name in policy_names()} == {*PAPER_POLICIES, "MES-R", "ES", "PES"}


def test_the_default_takes_two_ei_steps_then_one_scaled_ei_step():
    turns = [policy_at(DEFAULT_POLICY, i).name for i in range(6)]
    assert turns == ["EI", "EI", "ScaledEI"] * 2


def test_any_other_policy_takes_every_turn():
    assert {policy_at("LCB", i).name for i in range(5)} == {"LCB"}


@pytest.mark.parametrize("name", ["EIx", "", 3, None])
def test_an_unknown_name_is_refused_with_the_names_there_are(name):
    with pytest.raises(UnknownNameError, match="ScaledEI"):
        check_policy(name)


def test_a_misspelled_policy_is_answered_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="try policy='ScaledEI'"):
        check_policy("scaled-EI")


@pytest.mark.parametrize("score", [1.0, None, np.zeros(3)])
def test_a_users_policy_must_score_every_point(step, score):
    register_policy("mine", lambda mu, sd, f_best: score)
    with pytest.raises(InvalidInputError, match=r"policy 'mine' to return an array of the shape \(1, 12\)"):
        policy_at("mine", 0).prepare(step)(MU, SD)


@pytest.mark.parametrize("name", [*PAPER_POLICIES, "MES-R", "alternate", "ei", "SCALEDEI", "Alternate"])
def test_built_in_names_are_refused_for_a_users_policy(name):
    with pytest.raises(InvalidInputError, match="built in"):
        register_policy(name, lambda mu, sd, f_best: -mu)


def test_a_users_policy_with_partials_is_used_as_it_is(step):
    register_policy("my EI", log_ei, is_log=True)
    policy = policy_at("my ei", 0)
    assert policy.is_log
    for a, b in zip(policy.prepare(step)(MU, SD), log_ei(MU, SD, step.f_best), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_users_policy_without_partials_gets_them_by_differences(step):
    register_policy("my EI", lambda mu, sd, f_best: log_ei(mu, sd, f_best)[0], is_log=True)
    value, by_mu, by_sd = policy_at("my EI", 0).prepare(step)(MU, SD)
    expected, expected_mu, expected_sd = log_ei(MU, SD, step.f_best)
    np.testing.assert_array_equal(value, expected)
    np.testing.assert_allclose(by_mu, expected_mu, rtol=1e-6)
    np.testing.assert_allclose(by_sd, expected_sd, rtol=1e-6, atol=1e-8)


def test_a_users_policy_can_be_registered_again_with_another_function(step):
    register_policy("mine", lambda mu, sd, f_best: -mu)
    register_policy("mine", lambda mu, sd, f_best: sd)
    np.testing.assert_array_equal(policy_at("mine", 0).prepare(step)(MU, SD)[0], SD)


def test_a_users_policy_is_listed():
    register_policy("mine", lambda mu, sd, f_best: -mu)
    assert "mine" in policy_names()


def test_a_users_policy_is_screened_without_assumptions(make_posterior, make_target):
    register_policy("shy", lambda mu, sd, f_best: -mu - 3.0 * sd)  # falls with sd: a lazy bound would be wrong
    post, _, f_best = make_posterior(2, 60, 2)
    target = make_target("shy", post, f_best)
    x = np.random.default_rng(0).random((2, 500, 2))
    np.testing.assert_array_equal(top_candidates(target, x, 4)[0], np.argsort(-target.values(x), axis=1)[:, :4])


def test_kappa_reaches_lcb(step):
    wide = Step(step.surrogate, step.f_best, step.generators, kappa=5.0)
    np.testing.assert_array_equal(policy_at("LCB", 0).prepare(wide)(MU, SD)[0], lcb(MU, SD, 5.0)[0])


@pytest.mark.parametrize("kernel", ["se", "matern52"])
@pytest.mark.parametrize("name", ["MES", "MES-R"])
def test_samples_of_the_minimum_are_finite_and_no_higher_than_the_best_value(name, kernel, make_posterior):
    post, _, f_best = make_posterior(3, 20, 2, kernel)
    generators = tuple(generator(0, r, 0) for r in range(3))
    (f_star,) = policy_at(name, 0).prepare(Step(post, f_best, generators)).parameters
    assert f_star.shape == (3, 100)
    assert np.isfinite(f_star).all()
    assert (f_star <= f_best).all()


@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_samples_of_the_minimum_by_features_are_those_of_functions_drawn_exactly(kernel, make_posterior):
    post, _, f_best = make_posterior(1, 6, 1, kernel, seed=2)
    (samples,) = policy_at("MES-R", 0).prepare(Step(post, f_best, (generator(1, 0, 0),))).parameters
    # functions drawn from the joint posterior on a grid, by a Cholesky factor
    x = np.linspace(0.0, 1.0, 200)[None, :, None]
    k = post.cross_correlations(x)[0]
    v = k @ post.factor.L_inv[0].T
    prior = post.kernel.value(sq_distances(x * post.inv_ell, x * post.inv_ell))[0]
    covariance = post.s2[0] * (prior - v @ v.T) + 1e-9 * np.eye(200)
    draws = np.linalg.cholesky(covariance) @ np.random.default_rng(0).standard_normal((200, 4000))
    exact = np.minimum((post.moments(x)[0][0][:, None] + draws).min(axis=0), f_best[0, 0])
    # 100 samples: the median has a standard error of about 0.09 of the quartiles' distance
    spread = np.subtract(*np.quantile(exact, [0.75, 0.25]))
    assert abs(np.median(samples) - np.median(exact)) < 0.5 * spread
    assert 0.5 * spread < np.subtract(*np.quantile(samples, [0.75, 0.25])) < 2.0 * spread


@pytest.mark.parametrize(("name", "function"), [(3, len), ("", len), ("mine", None), (None, None)])
def test_a_policy_needs_a_name_and_a_function(name, function) -> None:
    with pytest.raises(InvalidInputError, match="expected a name and a function"):
        register_policy(name, function)
