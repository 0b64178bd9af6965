"""What every built-in policy keeps to: partial derivatives in (mu, sd), batches, monotonicity where it is declared."""

import numpy as np
import pytest

from surefoot.acquisition.registry import PAPER_POLICIES, policy_at
from surefoot.acquisition.step import Step
from surefoot.gp.kernels import KERNELS
from surefoot.gp.likelihood import make_data
from surefoot.gp.posterior import condition
from surefoot.numerics.designs import generator

MODEL_BASED = [name for name in (*PAPER_POLICIES, "MES-R") if policy_at(name, 0).prepare is not None]
each_policy = pytest.mark.parametrize("name", MODEL_BASED)

MODERATE_U = [-5.5, -2.0, -0.5, 0.0, 0.7, 3.0]
EXTREME_U = [-1e4, -300.0, -40.0, 9.0, 40.0, 1e4]


def step(R=2):
    X = np.random.default_rng(0).random((R, 12, 2))
    y = np.sin(6.0 * X.sum(axis=-1)) + X[..., 0]
    y = (y - y.mean(axis=1, keepdims=True)) / y.std(axis=1, keepdims=True)
    theta = np.broadcast_to(np.log([0.4, 0.6, 1e-6]), (R, 3)).copy()
    post = condition(make_data(X, y), theta, KERNELS["se"])
    return Step(post, y.min(axis=1, keepdims=True), tuple(generator(0, r, 0) for r in range(R)))


def order_of_remainder(score, mu, sd, d_mu, d_sd):
    """Fitted order of the Taylor remainder of score along (d_mu, d_sd); inf where it is nothing but rounding."""
    value, by_mu, by_sd = (a[0, 0] for a in score(np.array([[mu]]), np.array([[sd]])))
    slope = by_mu * d_mu + by_sd * d_sd
    steps = np.logspace(-2.5, -1.25, 6)
    values = np.array([score(np.array([[mu + h * d_mu]]), np.array([[sd + h * d_sd]]))[0][0, 0] for h in steps])
    remainders = np.abs(values - value - steps * slope)
    floor = 100.0 * np.finfo(float).eps * (abs(value) + np.abs(values).max() + steps * abs(slope))
    kept = remainders > floor
    if kept.sum() < 3:
        return np.inf if not kept.any() else 2.0 if (remainders <= 10.0 * floor).all() else 0.0
    return float(np.polyfit(np.log(steps[kept]), np.log(remainders[kept]), 1)[0])


@each_policy
@pytest.mark.parametrize("u", [*MODERATE_U, *EXTREME_U])
@pytest.mark.parametrize("sd", [1e-6, 0.3, 20.0])
def test_partials_leave_a_remainder_of_order_two(name, u, sd):
    now = step(R=1)
    score = policy_at(name, 0).prepare(now)
    mu = now.f_best[0, 0] - u * sd
    rng = np.random.default_rng(1)
    for _ in range(3):
        along_u, along_sd = rng.uniform(0.3, 1.0, 2) * rng.choice([-1.0, 1.0], 2)
        # relative steps, as log Phi(-1e4) is -5e7; on the right log PI is like exp(-u^2/2), of length 1/u
        length = 1.0 / (1.0 + u) if name == "PI" and u > 0.0 else max(1.0, abs(u))
        d_mu, d_sd = along_u * sd * length, along_sd * sd * length / max(1.0, abs(u))
        assert order_of_remainder(score, mu, sd, d_mu, d_sd) > 1.6


@each_policy
@pytest.mark.parametrize("sd", [1e-6, 0.3, 20.0])
def test_scores_and_partials_are_finite_far_in_both_tails(name, sd):
    now = step(R=1)
    score = policy_at(name, 0).prepare(now)
    u = np.concatenate([-np.logspace(-3, 4, 40), np.logspace(-3, 4, 40)])
    mu = now.f_best - u[None] * sd
    assert all(np.isfinite(a).all() for a in score(mu, np.full_like(mu, sd)))


@each_policy
def test_a_lower_mean_is_never_worse(name):
    now = step(R=1)
    mu = np.linspace(-3.0, 3.0, 200)[None] + now.f_best
    value, by_mu, _ = policy_at(name, 0).prepare(now)(mu, np.full_like(mu, 0.4))
    assert (np.diff(value[0]) <= 0.0).all()
    assert (by_mu <= 0.0).all()


@each_policy
def test_the_score_rises_with_sd_where_the_policy_declares_it(name):
    policy = policy_at(name, 0)
    now = step(R=1)
    assert policy.rises_with_sd in ("always", "above f_best")
    above = policy.rises_with_sd == "above f_best"
    score = policy.prepare(now)
    for mu in (np.linspace(0.0, 4.0, 30) if above else np.linspace(-4.0, 4.0, 30)) + now.f_best[0, 0]:
        sd = np.logspace(-2, 1, 50)[None]
        value, _, by_sd = score(np.full_like(sd, mu), sd)
        assert (np.diff(value[0]) >= -1e-14).all()
        assert (by_sd >= -1e-14).all()


@each_policy
def test_a_run_in_a_batch_scores_as_alone(name):
    now = step(R=2)
    score = policy_at(name, 0).prepare(now)
    mu, sd = np.random.default_rng(2).normal(size=(2, 9)), np.random.default_rng(3).uniform(0.1, 1.0, (2, 9))
    together = score(mu, sd)
    for r in range(2):
        runs = np.array([r])
        for a, b in zip(score.select(runs)(mu[runs], sd[runs]), together, strict=True):
            np.testing.assert_allclose(a[0], b[r], rtol=1e-13)


@each_policy
def test_the_same_draws_prepare_the_same_score(name):
    mu, sd = np.zeros((2, 4)), np.full((2, 4), 0.5)
    first, second = (policy_at(name, 0).prepare(step())(mu, sd)[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_random_search_asks_no_model():
    assert policy_at("RND", 0).prepare is None
