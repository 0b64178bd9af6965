"""What PyTorch computes in other ways than NumPy, so that launches are few: the same numbers to rounding."""

import numpy as np
import pytest

from surefoot import backend
from surefoot.backend import to_host
from surefoot.gp import likelihood
from surefoot.gp.kernels import MATERN52, SE, per_run
from surefoot.gp.likelihood import make_data, negative_log_likelihood
from surefoot.numerics.quasi_newton import Rules, minimize_box

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module", name="torch")
def _torch():
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    return torch


def test_the_inverse_from_strips_is_that_of_lapack(torch) -> None:
    rng = np.random.default_rng(0)
    L_inv = np.tril(rng.standard_normal((2, 1100, 1100))) / 30.0  # three strips, the last one narrow
    found = backend.inverse_from_triangular(torch.as_tensor(L_inv))
    np.testing.assert_allclose(to_host(found), backend.inverse_from_triangular(L_inv), rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("most", [0, 1 << 40], ids=["made anew", "kept"])
def test_likelihoods_are_equal_whether_differences_are_kept_or_not(torch, most: int, monkeypatch) -> None:
    rng = np.random.default_rng(1)
    X, y, theta = rng.random((2, 30, 3)), rng.standard_normal((2, 30)), rng.uniform(-2.0, -0.5, (2, 4, 4))
    expected = negative_log_likelihood(theta, make_data(X, y), SE)
    monkeypatch.setattr(likelihood, "largest_temporary", lambda x: most)
    data = make_data(torch.as_tensor(X), torch.as_tensor(y))
    assert data.keeps_differences == (most > 0)
    found = negative_log_likelihood(torch.as_tensor(theta), data, SE)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(to_host(ours), theirs, rtol=1e-9, atol=1e-9)


def test_runs_of_one_kernel_are_one_call(torch) -> None:
    calls = []
    spied = type(SE)("spied", lambda r2: calls.append(r2.shape[0]) or SE.value(r2), SE.value_and_slope)
    kernel = per_run([spied, MATERN52, spied, spied])
    r2 = np.random.default_rng(2).random((4, 5, 5))
    found = kernel.value(torch.as_tensor(r2.copy()))
    assert calls == [3]
    np.testing.assert_allclose(to_host(found), per_run([SE, MATERN52, SE, SE]).value(r2.copy()), rtol=1e-14)


def test_searches_take_the_same_steps_where_the_function_works_on_a_device(torch) -> None:
    def bowl(x, runs):
        xp, scale = backend.namespace(x), backend.like([1.0, 30.0], x)
        return xp.sum(scale * (x - 0.3) ** 4, axis=-1), 4.0 * scale * (x - 0.3) ** 3

    x0 = np.random.default_rng(3).random((3, 4, 2))
    rules = Rules(first_step=0.5, max_step=1.0, f_tol=1e-9, max_calls=60, race=True)
    theirs = minimize_box(bowl, x0, np.zeros(2), np.ones(2), rules)
    ours = minimize_box(bowl, *(torch.as_tensor(a) for a in (x0, np.zeros(2), np.ones(2))), rules)
    assert type(ours.x) is torch.Tensor
    assert ours.n_calls == theirs.n_calls
    np.testing.assert_allclose(to_host(ours.x), theirs.x, rtol=0.0, atol=1e-9)
