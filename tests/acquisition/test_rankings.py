"""ScaledEI and PI rank all points alike (DESIGN.md, section 3), and with the exact search propose the same point."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.acquisition import maximize
from surefoot.acquisition.improvement import log_ei, log_pi, log_scaled_ei
from surefoot.acquisition.maximize import maximize_by_gradient
from surefoot.numerics.designs import generator, kronecker

points = st.lists(
    st.tuples(st.floats(-40.0, 40.0), st.floats(-6.0, 2.0).map(lambda e: 10.0**e)), min_size=2, max_size=30
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(points=points, f_best=st.floats(-30.0, 30.0))
def test_scaled_ei_and_pi_order_any_points_alike(points, f_best):
    mu, sd = np.array(points).T[:, None, :]
    pi, _, _ = log_pi(mu, sd, np.array([[f_best]]))
    scaled_ei, _, _ = log_scaled_ei(mu, sd, np.array([[f_best]]))
    u = (f_best - mu) / sd
    readable = np.abs(u) < 37.0  # beyond, log Phi underflows to 0 on the right
    # neighbours in the order of u that floating point can tell apart
    order = np.argsort(u[readable])
    gaps = np.diff(u[readable][order]) > 1e-6 * np.maximum(1.0, np.abs(u[readable][order][1:]))
    assert (np.diff(pi[readable][order])[gaps] > 0.0).all()
    assert (np.diff(scaled_ei[readable][order])[gaps] > 0.0).all()


@settings(max_examples=200, deadline=None, derandomize=True)
@given(points=points, f_best=st.floats(-30.0, 30.0))
def test_no_point_is_preferred_by_pi_and_rejected_by_scaled_ei(points, f_best):
    mu, sd = np.array(points).T[:, None, :]
    pi, _, _ = (a[0] for a in log_pi(mu, sd, np.array([[f_best]])))
    scaled_ei, _, _ = (a[0] for a in log_scaled_ei(mu, sd, np.array([[f_best]])))
    prefers = pi[:, None] > pi[None, :] + 1e-12 * np.abs(pi[None, :])
    rejects = scaled_ei[:, None] < scaled_ei[None, :] - 1e-12 * np.maximum(1.0, np.abs(scaled_ei[None, :]))
    assert not (prefers & rejects).any()


def test_ei_orders_some_points_otherwise():
    mu, sd, f_best = np.array([[-0.1, 0.5]]), np.array([[0.05, 3.0]]), np.array([[0.0]])
    assert log_pi(mu, sd, f_best)[0].argmax() == log_scaled_ei(mu, sd, f_best)[0].argmax() == 0
    assert log_ei(mu, sd, f_best)[0].argmax() == 1


def best_of(target, seed=0):
    """The exact search from a lattice and from clouds round the best observation."""
    R, _, d = target.surrogate.X.shape
    lattice = np.stack([kronecker(1000, d, generator(seed, r, 3)) for r in range(R)])
    rng = generator(seed, 0, 4)
    scales = 10.0 ** -rng.uniform(1.0, 6.0, (R, 200, 1))
    anchor = target.surrogate.X[np.arange(R), target.surrogate.moments(target.surrogate.X)[0].argmin(axis=1)][:, None]
    clouds = np.clip(anchor + scales * rng.standard_normal((R, 200, d)), 0.0, 1.0)
    return maximize_by_gradient(target, lattice, clouds, np.ones(d, dtype=bool))


each_posterior = pytest.mark.parametrize(
    ("kernel", "n", "d"),
    [(kernel, n, d) for kernel in ("se", "matern52") for n, d in ((6, 1), (10, 2), (15, 2), (20, 3))],
)


@each_posterior
def test_with_the_exact_search_pi_and_scaled_ei_propose_the_same_point(
    kernel, n, d, make_posterior, make_target, monkeypatch
):
    # tight enough to place a maximum to six digits; log PI is flatter than log ScaledEI
    monkeypatch.setattr(maximize, "_F_TOL", 1e-13)
    post, _, f_best = make_posterior(3, n, d, kernel)
    x_pi, x_scaled = (best_of(make_target(name, post, f_best)).x[:, 0] for name in ("PI", "ScaledEI"))
    np.testing.assert_allclose(x_pi, x_scaled, rtol=0, atol=1e-6)


@each_posterior
def test_at_the_searchs_own_tolerance_pi_and_scaled_ei_propose_nearly_the_same_point(
    kernel, n, d, make_posterior, make_target
):
    post, _, f_best = make_posterior(3, n, d, kernel)
    x_pi, x_scaled = (best_of(make_target(name, post, f_best)).x[:, 0] for name in ("PI", "ScaledEI"))
    np.testing.assert_allclose(x_pi, x_scaled, rtol=0, atol=2e-3)
