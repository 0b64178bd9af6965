"""The exact process at x together with its values at fixed points."""

import numpy as np
import pytest

from surefoot.gp.kernels import KERNELS
from surefoot.gp.likelihood import make_data
from surefoot.gp.posterior import condition
from tests.gp.textbook import correlations

each_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def make(kernel, d=2, R=2, n=9, mask=None):
    rng = np.random.default_rng(0)
    X, y = rng.random((R, n, d)), rng.standard_normal((R, n))
    theta = np.broadcast_to(np.log([*np.linspace(0.3, 0.6, d), 1e-3]), (R, d + 1)).copy()
    post = condition(make_data(X, y, mask), theta, kernel)
    return post, post.joint(rng.random((R, 5, d))), rng.random((R, 4, d))


def plain_covariance(post, kernel, r, a, b):
    """By the textbook, with an inverse."""
    X, rates = post.X[r], post.inv_ell[r]
    k = lambda one, other: correlations(kernel, one * rates, other * rates)  # noqa: E731
    C = k(X, X) + post.lam[r] * np.eye(len(X))
    return post.s2[r] * (k(a, b) - k(a, X) @ np.linalg.solve(C, k(X, b)))


@each_kernel
def test_covariances_are_those_of_the_textbook(kernel):
    post, joint, x = make(kernel)
    _, _, q = joint.moments(x)
    for r in range(2):
        np.testing.assert_allclose(q[r], plain_covariance(post, kernel, r, x[r], joint.Z[r]), atol=1e-9)
        np.testing.assert_allclose(
            joint.covariance[r], plain_covariance(post, kernel, r, joint.Z[r], joint.Z[r]), atol=1e-9
        )


def test_the_moments_are_those_of_the_posterior():
    post, joint, x = make(KERNELS["se"])
    mu, sd, _ = joint.moments(x)
    np.testing.assert_array_equal(mu, post.moments(x)[0])
    np.testing.assert_array_equal(sd, post.moments(x)[1])
    np.testing.assert_allclose(joint.mean, post.moments(joint.Z)[0], rtol=1e-12)


@each_kernel
@pytest.mark.parametrize("masked", [False, True], ids=["all rows", "some rows masked out"])
def test_the_pullback_is_the_gradient_of_what_its_partials_are_of(kernel, masked):
    mask = np.ones((2, 9))
    mask[1, 6:] = 0.0
    _, joint, x = make(kernel, mask=mask if masked else None)
    rng = np.random.default_rng(1)
    by_mu, by_sd, by_q = rng.standard_normal((2, 4)), rng.standard_normal((2, 4)), rng.standard_normal((2, 4, 5))

    def value(at):
        mu, sd, q = joint.moments(at)
        return by_mu * mu + by_sd * sd + (by_q * q).sum(axis=-1)

    *found, pullback = joint.moments_and_pullback(x)
    for one, other in zip(found, joint.moments(x), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    gradient = pullback(by_mu, by_sd, by_q)
    for i in range(2):
        h = 1e-5 * np.eye(2)[i]
        np.testing.assert_allclose(gradient[..., i], (value(x + h) - value(x - h)) / 2e-5, rtol=1e-5, atol=1e-6)


def test_selected_runs_are_those_runs():
    _, joint, x = make(KERNELS["matern52"])
    one = np.array([1])
    for part, whole in zip(joint.select(one).moments(x[one]), joint.moments(x), strict=True):
        np.testing.assert_allclose(part[0], whole[1], rtol=1e-12)
