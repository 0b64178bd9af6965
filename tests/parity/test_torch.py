"""The same suggestions from PyTorch (CPU) as from NumPy, on the same draws."""

import numpy as np
import pytest

from surefoot.acquisition.registry import PAPER_POLICIES, policy_at
from surefoot.acquisition.step import Step
from surefoot.backend import to_host
from surefoot.engine.batch import HOST
from surefoot.engine.model import fit_model
from surefoot.engine.suggest import suggest
from surefoot.engine.warmth import Warmth
from surefoot.gp.kernels import SE, SUMS, Kernel, get_kernel, per_run
from surefoot.gp.likelihood import make_data, negative_log_likelihood
from surefoot.gp.posterior import condition
from surefoot.numerics.designs import generator
from surefoot.optimize.settings import Settings

pytestmark = pytest.mark.torch

N = 16
RUNS = [0, 7]


@pytest.fixture(scope="module", name="reference")
def _reference():
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    return torch.zeros(0, dtype=torch.float64)


@pytest.fixture(scope="module", name="X")
def _points() -> np.ndarray:
    return np.random.default_rng(1).random((len(RUNS), N, 2))


def close(torch_array, numpy_array, tolerance: float = 1e-8) -> None:
    """Equal to the tolerance, relative to the largest entry where that exceeds 1."""
    scale = max(1.0, float(np.abs(numpy_array).max()))
    np.testing.assert_allclose(to_host(torch_array), numpy_array, rtol=tolerance, atol=tolerance * scale)


def both(reference, *arrays):
    """The arrays as NumPy's and as torch's."""
    import torch

    return arrays, tuple(torch.as_tensor(a) for a in arrays)


# --- the parts, strictly


@pytest.fixture(scope="module", name="data")
def _data(family, X):
    rng = np.random.default_rng(2)
    y = family.make_runs(X, RUNS).y
    y = (y - y.mean(axis=1, keepdims=True)) / y.std(axis=1, keepdims=True)
    theta = np.log(np.concatenate([rng.uniform(0.1, 0.8, (2, 5, 2)), 10.0 ** rng.uniform(-8, -2, (2, 5, 1))], axis=-1))
    mask = np.ones((2, N))
    mask[0, [2, 5, 11]] = 0.0
    mask[1, [7]] = 0.0
    return X, y, mask, theta, rng.random((2, 50, 2))


def kernel_of(name: str) -> Kernel:
    return per_run([SE, SUMS]) if name == "per run" else get_kernel(name)


@pytest.mark.parametrize("masked", [False, True], ids=["all", "masked"])
@pytest.mark.parametrize("kernel", ["se", "matern52", "matern52-sums", "per run"])
def test_likelihoods_and_gradients_are_equal_to_1e8(kernel: str, masked: bool, data, reference) -> None:
    X, y, mask, theta, _ = data
    of_numpy, of_torch = (
        negative_log_likelihood(t, make_data(X, y, m if masked else None), kernel_of(kernel))
        for X, y, m, t in both(reference, X, y, mask, theta)
    )
    close(of_torch[0], of_numpy[0])
    close(of_torch[1], of_numpy[1])


@pytest.mark.parametrize("masked", [False, True], ids=["all", "masked"])
@pytest.mark.parametrize("kernel", ["se", "matern52", "matern52-sums", "per run"])
def test_moments_and_their_gradients_are_equal_to_1e8(kernel: str, masked: bool, data, reference) -> None:
    X, y, mask, theta, x = data
    of_numpy, of_torch = (
        condition(make_data(X, y, m if masked else None), t[:, 0], kernel_of(kernel)).moments_and_gradients(x)
        for X, y, m, t, x in both(reference, X, y, mask, theta, x)
    )
    for a, b in zip(of_torch, of_numpy, strict=True):
        close(a, b)


@pytest.mark.parametrize("kernel", ["se", "matern52", "matern52-sums", "per run"])
def test_moments_with_believed_points_are_equal_to_1e8(kernel: str, data, reference) -> None:
    X, y, _, theta, x = data
    of_numpy, of_torch = (
        condition(make_data(X, y), t[:, 0], kernel_of(kernel)).add_points(x[:, :4]).moments_and_gradients(x[:, 4:])
        for X, y, t, x in both(reference, X, y, theta, x)
    )
    for a, b in zip(of_torch, of_numpy, strict=True):
        close(a, b)


@pytest.mark.parametrize("kernel", ["se", "matern52", "matern52-sums", "per run"])
@pytest.mark.parametrize("policy", [*(p for p in PAPER_POLICIES if p != "RND"), "MES-R"])
def test_policies_and_their_partials_are_equal_to_1e8(policy: str, kernel: str, data, reference) -> None:
    X, y, _, theta, _ = data
    rng = np.random.default_rng(3)
    mu, sd = rng.standard_normal((2, 200)), 10.0 ** rng.uniform(-4, 0, (2, 200))
    f_best = y.min(axis=1, keepdims=True)
    results = []
    for X, y, t, mu, sd, f in both(reference, X, y, theta, mu, sd, f_best):  # noqa: B020
        post = condition(make_data(X, y), t[:, 0], kernel_of(kernel))
        generators = tuple(generator(3, run, N) for run in RUNS)
        results.append(policy_at(policy, 0).prepare(Step(post, f, generators))(mu, sd))
    for a, b in zip(results[1], results[0], strict=True):
        close(a, b)


@pytest.mark.parametrize("kernel", ["se", "matern52", "matern52-sums", "per run"])
@pytest.mark.parametrize("policy", ["ES", "PES"])
def test_scores_of_x_and_their_gradients_are_close(policy: str, kernel: str, data, reference) -> None:
    X, y, _, theta, x = data
    results = []
    for X, y, t, x, f in both(reference, X, y, theta, x, y.min(axis=1, keepdims=True)):  # noqa: B020
        post = condition(make_data(X, y), t[:, 0], kernel_of(kernel))
        score = policy_at(policy, 0).prepare(Step(post, f, tuple(generator(3, run, N) for run in RUNS)))
        results.append(score.values_and_gradients(x))
    for a, b in zip(results[1], results[0], strict=True):
        close(a, b, 5e-3)  # single precision inside; representers whose draws tie may swap; slopes of ES are steep


@pytest.mark.parametrize("failing", [False, True], ids=["all succeed", "some fail"])
@pytest.mark.parametrize("kernel", ["se", "matern52"])
def test_fitted_models_have_the_same_likelihood(kernel: str, failing: bool, family, X, reference) -> None:
    settings = Settings(seed=3, n_init=family.n_init, kernel=kernel)
    runs = family.make_runs(X, RUNS, failing)
    nll = []
    for where in (HOST, reference):
        model = fit_model(runs, settings.spec, Warmth(), tuple(generator(3, run, N) for run in RUNS), where)
        ok = runs.ok.astype(float)
        y = np.where(runs.ok, (np.nan_to_num(runs.y) - model.scaling.shift) / model.scaling.scale, 0.0)
        theta = to_host(model.warmth.objective.theta)[:, None]
        nll.append(negative_log_likelihood(theta, make_data(runs.X, y, ok), get_kernel(kernel))[0])
    np.testing.assert_allclose(nll[1], nll[0], atol=1e-5)  # the search ends at a predicted gain of 1e-6


# --- whole suggestions


def suggestions(family, X, reference, failing: bool, n_pending: int, settings: dict) -> tuple[np.ndarray, np.ndarray]:
    spec = Settings(seed=3, n_init=family.n_init, **settings).spec
    runs = family.make_runs(X, RUNS, failing, n_pending)
    of_numpy, of_torch = (suggest(family.space, runs, N, spec, Warmth(), where).x for where in (HOST, reference))
    return of_numpy, of_torch


@pytest.mark.parametrize("failing", [False, True], ids=["all succeed", "some fail"])
@pytest.mark.parametrize("search", ["gradient", "paper"])
@pytest.mark.parametrize("kernel", ["se", "matern52"])
@pytest.mark.parametrize("policy", [*PAPER_POLICIES, "MES-R"])
def test_suggestions_are_equal(policy: str, kernel: str, search: str, failing: bool, family, X, reference) -> None:
    settings = {"policy": policy, "kernel": kernel, "search": search, "failures": "label-regression"}
    of_numpy, of_torch = suggestions(family, X, reference, failing, 0, settings)
    np.testing.assert_allclose(of_torch, of_numpy, rtol=0.0, atol=1e-6)


def test_suggestions_beside_the_default_map_of_failures_are_close(family, X, reference) -> None:
    # its search for hyperparameters ends at a predicted gain of 1e-2: rounding moves them, and with them the points
    of_numpy, of_torch = suggestions(family, X, reference, True, 0, {"policy": "EI"})
    np.testing.assert_allclose(of_torch, of_numpy, rtol=0.0, atol=0.02)


@pytest.mark.parametrize("failing", [False, True], ids=["all succeed", "some fail"])
@pytest.mark.parametrize("policy", [*PAPER_POLICIES, "MES-R"])
def test_suggestions_with_pending_points_are_equal(policy: str, failing: bool, family, X, reference) -> None:
    of_numpy, of_torch = suggestions(family, X, reference, failing, 3, {"policy": policy})
    np.testing.assert_allclose(of_torch, of_numpy, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("noise", [0, 0.1])
def test_suggestions_with_other_noise_are_equal(noise: float, family, X, reference) -> None:
    of_numpy, of_torch = suggestions(family, X, reference, False, 0, {"policy": "EI", "noise": noise})
    np.testing.assert_allclose(of_torch, of_numpy, rtol=0.0, atol=1e-6)


def test_a_suggestion_of_torch_comes_back_as_a_host_array(family, X, reference) -> None:
    _, of_torch = suggestions(family, X, reference, False, 0, {"policy": "EI"})
    assert type(of_torch) is np.ndarray
